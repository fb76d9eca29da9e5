"""Training of drafters on the verifier's output."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import load_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.training.blocks import block_states, encode_sentences, simulate
from specdec_cli.training.data import SentencePair
from specdec_cli.training.drafter import DrafterObjective, DrafterTask
from specdec_cli.training.recipe import DrafterRecipe
from specdec_cli.training.trainer import Report
from tests.fakes import PAPERS
from tests.training.conftest import RUN, Copier, make_pairs, train

SHAPE = DrafterConfig(feed_forward=64, max_block=4, chain=16)


def greedy(copier: Copier, pairs: list[SentencePair]) -> list[SentencePair]:
    """Sources with the verifier's greedy outputs."""
    sentences = [Sentence(number, pair.source) for number, pair in enumerate(pairs)]
    found = decode_with(Verifier(copier.bundle.verifier), NoDrafter(), sentences, Decoding(batch_size=16, max_length=12))
    return [SentencePair(pairs[h.number].source, h.ids) for h in sorted(found, key=lambda h: h.number)]


@pytest.mark.parametrize(
    "config",
    [SHAPE, replace(SHAPE, prefix="own", chain=0), DrafterConfig.from_dict(PAPERS | {"feed_forward": 64, "max_block": 4})],
    ids=["states", "own", "papers"],
)
@pytest.mark.parametrize("glancing", [(0.0, 0.0), (0.5, 0.3)], ids=["plain", "glancing"])
def test_training_raises_tokens_per_round(copier: Copier, config: DrafterConfig, glancing: tuple[float, float], tmp_path: Path) -> None:
    torch.manual_seed(3)
    network = BlockDrafter(config, copier.bundle.verifier)
    dev = greedy(copier, copier.dev)
    before = simulate(network.eval(), dev, 4).tokens_per_round
    run = replace(RUN, max_updates=60, evaluate_every=30, batch_tokens=128)
    recipe = DrafterRecipe(drafter=config, cuts=2, glancing=glancing, run=run)
    reports: list[Report] = []
    task = DrafterTask(replace(copier.bundle, drafter=network), greedy(copier, make_pairs(150, seed=4)), {"dev": dev}, recipe)
    train(task, run, tmp_path, reports.append)
    assert before < 1.3
    best = max(report.figures["tokens_per_round"] for report in reports if report.figures)
    assert best > before + 0.25
    stored = load_bundle(tmp_path).drafter
    assert isinstance(stored, BlockDrafter)
    assert simulate(stored, dev, 4).tokens_per_round == best
    sentences = [Sentence(number, pair.source) for number, pair in enumerate(dev)]
    found = list(decode_with(Verifier(stored.verifier), Block(stored, 4), sentences, Decoding(batch_size=8, max_length=12)))
    assert sum(len(h.ids) for h in found) / sum(h.rounds for h in found) == pytest.approx(best)


def test_training_a_drafter_does_not_change_the_verifier(copier: Copier, tmp_path: Path) -> None:
    before = {name: value.clone() for name, value in copier.bundle.verifier.state_dict().items()}
    pairs, run = make_pairs(20, seed=4), replace(RUN, max_updates=2)
    task = DrafterTask(
        replace(copier.bundle, drafter=BlockDrafter(SHAPE, copier.bundle.verifier)), pairs, {"dev": pairs}, DrafterRecipe(run=run)
    )
    train(task, run, tmp_path, lambda _: None)
    assert all(torch.equal(before[name], value) for name, value in copier.bundle.verifier.state_dict().items())


@torch.no_grad()
def test_the_loss_covers_valid_slots_weighted_by_position(copier: Copier) -> None:
    network = BlockDrafter(replace(SHAPE, chain=0), copier.bundle.verifier).eval()
    objective = DrafterObjective(network, DrafterRecipe(cuts=2, slot_decay=0.5, run=replace(RUN, smoothing=0.0)))
    source, target = torch.tensor([[7, 8, 9, 3, 0, 0]]), torch.tensor([[7, 8, 9, 3, 0, 0]])

    def weight(cuts: list[int], visible: int) -> float:
        return float(objective(source, target, torch.tensor([cuts]), torch.tensor(visible), torch.tensor(0.0))[1])

    assert weight([0, -1], 4) == 1 + 0.5 + 0.25 + 0.125
    assert weight([0, -1], 2) == 1 + 0.5
    assert weight([0, 2], 4) == 1 + 0.5 + 0.25 + 0.125 + 1 + 0.5
    assert weight([3, -1], 4) == 1


@torch.no_grad()
def test_with_a_shortlist_the_loss_is_among_its_tokens(copier: Copier) -> None:
    source, target = torch.tensor([[7, 8, 9, 3]]), torch.tensor([[7, 8, 9, 3]])
    cuts, visible, ratio = torch.tensor([[0, -1]]), torch.tensor(3), torch.tensor(0.0)
    network = BlockDrafter(replace(SHAPE, chain=0, shortlist=9), copier.bundle.verifier).eval()
    recipe = DrafterRecipe(drafter=network.config, cuts=2, slot_decay=0.5, run=replace(RUN, smoothing=0.0))
    loss, weight = DrafterObjective(network, recipe)(source, target, cuts, visible, ratio)
    states = block_states(network, encode_sentences(network.verifier, source, target), cuts.clamp_min(0), 4, 3)[0, 0]
    logits = network.vocabulary.output(states)[:, :9]
    assert float(weight) == 1 + 0.5, "token 9 cannot be drafted"
    assert float(loss) == pytest.approx(
        float(cross_entropy(logits[0], target[0, 0]) + 0.5 * cross_entropy(logits[1], target[0, 1])), rel=1e-5
    )


@pytest.mark.parametrize("vary_block", [True, False])
def test_the_block_size_varies_only_if_set(copier: Copier, vary_block: bool) -> None:
    network, pairs = BlockDrafter(SHAPE, copier.bundle.verifier), make_pairs(40, seed=4)
    recipe = DrafterRecipe(drafter=SHAPE, vary_block=vary_block, run=replace(RUN, batch_tokens=16))
    task = DrafterTask(replace(copier.bundle, drafter=network), pairs, {"dev": pairs}, recipe)
    sizes = {int(task.batch(key)[3]) for epoch in range(5) for key in task.batches(epoch)}
    assert sizes == (set(range(1, SHAPE.max_block + 1)) if vary_block else {SHAPE.max_block})
