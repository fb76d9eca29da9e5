"""The decoding loop: sentences enter a batch of rows, rounds are played, and finished rows leave it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import torch

from specdec_cli.decoding.beam import beam_search
from specdec_cli.decoding.beam_round import BeamRound
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.pace import FixedPace, Pace
from specdec_cli.decoding.player import Player, open_player
from specdec_cli.decoding.rounds import DraftAlone, DraftAndVerify, Onlooker, Round
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.drafter_config import Reads

OWN_SIZE = FixedPace()
"""Bursts of one round, with drafts of the drafter's own size."""


@torch.inference_mode()
def decode(player: Player, sentences: Iterable[Sentence], rows: int, pace: Pace) -> Iterator[Hypothesis]:
    """Decode `sentences`, which must share their source width, up to `rows` at a time in bursts that `pace` chooses.

    Yields a hypothesis for each, in the order in which they finish.
    """
    waiting, free = iter(sentences), rows
    while True:
        if entering := list(islice(waiting, free)):
            player.admit(entering)
            pace.admitted()
        if not player.running:
            break
        player.launch(*pace.next(player.running))
        report = player.collect()
        if report.tallies is not None:
            pace.count(report.tallies)
        yield from report.hypotheses
        free = report.free


def decode_with(
    verifier: Verifier,
    drafter: Drafter,
    sentences: Iterable[Sentence],
    decoding: Decoding,
    onlooker: Onlooker | None = None,
    pace: Pace = OWN_SIZE,
) -> Iterator[Hypothesis]:
    """Decode `sentences`, which must share their source width: the drafts of `drafter` are verified (see DraftAndVerify).

    `onlooker` is called in each round, after the verification.
    """
    return _play(DraftAndVerify(verifier, drafter, decoding), verifier, sentences, decoding.batch_size, onlooker, pace)


def decode_alone(
    verifier: Verifier,
    drafter: Drafter,
    sentences: Iterable[Sentence],
    decoding: Decoding,
    reads: Reads,
    onlooker: Onlooker | None = None,
) -> Iterator[Hypothesis]:
    """Decode `sentences`, which must share their source width, by `drafter` without verification (see DraftAlone)."""
    return _play(DraftAlone(verifier, drafter, decoding, reads), verifier, sentences, decoding.batch_size, onlooker, OWN_SIZE)


def decode_by_search(verifier: Verifier, sentences: Sequence[Sentence], decoding: Decoding) -> Iterator[Hypothesis]:
    """Decode `sentences`, which must share their source width, by beam search (see `beam_search`): in captured rounds where there are
    CUDA graphs.
    """
    if verifier.graphs is None:
        return beam_search([verifier], sentences, decoding)
    return _play(BeamRound(verifier, decoding), verifier, sentences, decoding.batch_size, None, OWN_SIZE)


def _play(
    round_: Round, verifier: Verifier, sentences: Iterable[Sentence], rows: int, onlooker: Onlooker | None, pace: Pace
) -> Iterator[Hypothesis]:
    with open_player(round_, verifier.graphs, rows, counts=pace.counts, onlooker=onlooker) as player:
        yield from decode(player, sentences, rows, pace)
