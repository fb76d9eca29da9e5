"""The work of `specdec visualize`: it decodes a sentence or a corpus, and writes or prints the picture."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from rich.console import Console
from rich.progress import track

from specdec_cli.console.options import DecodingName
from specdec_cli.console.reports import say, tell_of_keyboard
from specdec_cli.decoding.methods import REWRITING, SEARCHES
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Hypothesis, make_sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import UsageError
from specdec_cli.files import write_json, write_text
from specdec_cli.model.bundle import Bundle
from specdec_cli.opening.engines import open_for_loop
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.text.corpus.parallel import read_sources
from specdec_cli.text.io.lines import STDIO
from specdec_cli.visualization.corpus import Corpus, decode_corpus, in_words
from specdec_cli.visualization.corpus_views import print_corpus, to_corpus_html, to_corpus_svg
from specdec_cli.visualization.picture import Picture
from specdec_cli.visualization.recording import Recorder, jacobi_graph, mask_predict_passes, search_steps
from specdec_cli.visualization.render import print_picture, to_html, to_svg

LONGEST = 60
"""The largest number of tokens of a source or an output in a picture of a sentence."""


class _Shown(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


Shown = TypeVar("Shown", bound=_Shown)


def show_corpus(choice: ModelChoice, machine: MachineOptions, file: Path, limit: int | None, output: Path | None) -> None:
    """Decode the corpus in `file` with Jacobi iteration, and write or print what the iterations predict."""
    bundle = open_for_loop(choice, machine, say)
    _show(_corpus(bundle, file, limit, machine.rows), output, to_corpus_html, to_corpus_svg, print_corpus)


def show_sentence(
    choice: ModelChoice,
    machine: MachineOptions,
    sentence: str,
    decoding: DecodingName | None,
    block_size: int | Literal["auto"] | None,
    output: Path | None,
) -> None:
    """Decode `sentence`, and write or print its rounds, or the graph of its dependencies. Raises UsageError."""
    picture = _picture(open_for_loop(choice, machine, say), sentence, decoding, block_size)
    _show(picture, output, to_html, to_svg, print_picture)


def _show(
    shown: Shown,
    output: Path | None,
    to_html: Callable[[Shown], str],
    to_svg: Callable[[Shown], str],
    print_it: Callable[[Shown, Console], None],
) -> None:
    """Write in the format of the file name `output`; without one, print."""
    if output is None:
        print_it(shown, Console())
    elif output.suffix.lower() == ".json":
        write_json(output, shown.to_dict())
    else:
        text = to_html(shown) if output.suffix.lower() == ".html" else to_svg(shown)
        write_text(output, text)


def _corpus(bundle: Bundle, file: Path, limit: int | None, rows: int) -> Corpus:
    """Decode the corpus in `file`, up to `rows` sentences at a time; progress and skipped lines go to stderr."""
    console = Console(stderr=True)

    def watch(found: Iterator[Hypothesis], total: int) -> Iterable[Hypothesis]:
        return track(found, "Decoding", total, console=console, transient=True, disable=not console.is_terminal)

    name = "stdin" if file == STDIO else file.name
    tell_of_keyboard([file], quiet=False)
    corpus = decode_corpus(bundle, name, islice(read_sources([file]), limit), rows, watch)
    if corpus.skipped:
        print(f"specdec: skipped lines: {in_words(corpus.skipped)}", file=sys.stderr)
    return corpus


def _picture(bundle: Bundle, sentence: str, decoding: DecodingName | None, block_size: int | Literal["auto"] | None) -> Picture:
    """Decode `sentence`, and make its picture. Raises UsageError for a sentence that is too long, and for options that do not fit."""
    tokenizer, left_to_right = bundle.tokenizer, bundle.verifier.config.order == "left-to-right"
    if decoding in SEARCHES and left_to_right:
        raise UsageError(f"--decoding {decoding}: a search from left to right has no rounds to show")
    encoded = make_sentence(tokenizer, bundle.shape.eos, 0, sentence)
    source = list(encoded.source)
    drafts = bundle.drafter is not None or bundle.info.task in REWRITING
    graph = left_to_right and (decoding == "jacobi" or (decoding is None and not drafts))
    if graph and block_size is not None:
        raise UsageError("--block-size is not for jacobi, which predicts the whole sentence; the bundle has no drafter to show")
    options = DecodingOptions(
        decoding="greedy" if graph else decoding or "auto",
        block_size=block_size,
        max_length=LONGEST,
        with_scores=True,
        always_draft=True,
    )
    recorder = Recorder()
    engine = Engine(bundle, resolve(options, bundle), recorder)
    if len(source) > min(engine.verifier.longest_source, LONGEST):
        raise UsageError(f"SENTENCE: {len(source)} tokens; a picture holds {LONGEST}")
    (found,) = engine.decode([encoded])
    name = engine.decoding.method
    if name == "mask-predict":
        return mask_predict_passes(engine.verifier, tokenizer, source, len(found.ids) - 1, found.rounds)
    if name in SEARCHES:
        return search_steps(engine.verifier, tokenizer, name, source, found.ids)
    return jacobi_graph(engine.verifier, tokenizer, source, found.ids) if graph else recorder.picture(name, tokenizer, source, found)
