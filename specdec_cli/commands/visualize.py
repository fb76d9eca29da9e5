"""`specdec visualize`: the decoding dependency graph of a sentence or of a corpus, or the rounds of a decoding."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

import typer

from specdec_cli.commands.options import (
    DecodingName,
    DeviceOption,
    InstructionOption,
    OfflineOption,
    SourceLanguageOption,
    TargetLanguageOption,
    ThreadsOption,
    TranslatorOption,
    decoding_option,
    option,
    output_option,
)
from specdec_cli.commands.reports import say, tell_of_keyboard
from specdec_cli.decoding.methods import REWRITING, SEARCHES
from specdec_cli.errors import UsageError
from specdec_cli.files import check_target, write_json, write_text

if TYPE_CHECKING:
    from rich.console import Console

    from specdec_cli.decoding.sentence import Hypothesis
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.visualization.corpus import Corpus
    from specdec_cli.visualization.picture import Picture

LONGEST = 60
SUFFIXES = (".html", ".svg", ".json")
_NO_BLOCKS = "--block-size is not for jacobi, which predicts the whole sentence; gs-jacobi has blocks"
SentenceArgument = Annotated[str | None, typer.Argument(metavar="SENTENCE", help="The sentence to decode.", show_default=False)]
FileOption = Annotated[
    Path | None,
    output_option(
        "--file",
        metavar="FILE",
        help="A corpus in place of SENTENCE: a sentence a line, or TSV with the source before the target; - is stdin.",
    ),
]
LimitOption = Annotated[int | None, output_option("--limit", metavar="N", min=1, help="Only the first N lines of --file.")]
ShownOption = Annotated[
    DecodingName | None,
    decoding_option(
        "--decoding",
        metavar="NAME",
        help="A decoding with drafts, whose rounds are shown, or jacobi, for the dependencies of tokens.",
        show_default="how the bundle drafts; jacobi if it has no drafter, and with --file",
    ),
]
OutputOption = Annotated[
    Path | None, output_option("--output", "-o", metavar="FILE", help=f"Write {', '.join(SUFFIXES)} instead of coloured text.")
]


class _Shown(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


Shown = TypeVar("Shown", bound=_Shown)


def visualize(
    sentence: SentenceArgument = None,
    model: TranslatorOption = None,
    source_language: SourceLanguageOption = "",
    target_language: TargetLanguageOption = "",
    instruction: InstructionOption = None,
    decoding: ShownOption = None,
    block_size: Annotated[Any, option("block_size")] = None,
    file: FileOption = None,
    limit: LimitOption = None,
    output: OutputOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    offline: OfflineOption = False,
) -> None:
    """Show how a sentence is decoded: the draft of each round, and its accepted and rejected tokens.

    For a model that writes from right to left or from both ends, show the output of each step of its search; for a masked
    model, that of each iteration of mask-predict.

    With jacobi, all positions of the sentence are predicted in each iteration until nothing changes, which shows on which
    earlier tokens each token depends (the decoding dependency graph).

    With --file, show for a corpus how many tokens become correct in each iteration of jacobi, by position, and by word start
    or inside a word.
    """
    from specdec_cli.opening.engines import open_for_loop
    from specdec_cli.opening.machine import MachineOptions
    from specdec_cli.opening.models import chosen_translator

    _check(sentence, file, limit, decoding, block_size, output)
    choice = chosen_translator(model, source_language, target_language, offline=offline, instruction=instruction)
    machine = MachineOptions(device=device, threads=threads)
    bundle = open_for_loop(choice, machine, say)
    if file is not None:
        from specdec_cli.visualization.corpus_views import print_corpus, to_corpus_html, to_corpus_svg

        _show(_corpus(bundle, file, limit, machine.rows), output, to_corpus_html, to_corpus_svg, print_corpus)
    elif sentence is not None:
        from specdec_cli.visualization.render import print_picture, to_html, to_svg

        picture = _picture(bundle, sentence.strip(), decoding, block_size)
        _show(picture, output, to_html, to_svg, print_picture)


def _check(
    sentence: str | None,
    file: Path | None,
    limit: int | None,
    decoding: DecodingName | None,
    block_size: int | Literal["auto"] | None,
    output: Path | None,
) -> None:
    """Raise UsageError for options that contradict each other, before anything is loaded."""
    if output is not None and output.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--output {output}: the name must end with one of {', '.join(SUFFIXES)}")
    if output is not None:
        check_target(output)
    if (sentence is None) == (file is None):
        raise UsageError("give either a SENTENCE or --file FILE")
    if sentence is not None and not sentence.strip():
        raise UsageError("SENTENCE is empty")
    if limit is not None and file is None:
        raise UsageError("--limit is for --file")
    if file is not None and decoding not in (None, "jacobi"):
        raise UsageError(f"--file is for --decoding jacobi, not for {decoding}")
    if (decoding == "jacobi" or file is not None) and block_size is not None:
        raise UsageError(_NO_BLOCKS)


def _show(
    shown: Shown,
    output: Path | None,
    to_html: Callable[[Shown], str],
    to_svg: Callable[[Shown], str],
    print_it: "Callable[[Shown, Console], None]",
) -> None:
    """Write in the format of the file name `output`; without one, print."""
    from rich.console import Console

    if output is None:
        print_it(shown, Console())
    elif output.suffix.lower() == ".json":
        write_json(output, shown.to_dict())
    else:
        text = to_html(shown) if output.suffix.lower() == ".html" else to_svg(shown)
        write_text(output, text)


def _corpus(bundle: "Bundle", file: Path, limit: int | None, rows: int) -> "Corpus":
    """Decode the corpus in `file`, up to `rows` sentences at a time; progress and skipped lines go to stderr."""
    from rich.console import Console
    from rich.progress import track

    from specdec_cli.text.corpus.parallel import read_sources
    from specdec_cli.text.io.lines import STDIO
    from specdec_cli.visualization.corpus import decode_corpus, in_words

    console = Console(stderr=True)

    def watch(found: "Iterator[Hypothesis]", total: int) -> "Iterable[Hypothesis]":
        return track(found, "Decoding", total, console=console, transient=True, disable=not console.is_terminal)

    name = "stdin" if file == STDIO else file.name
    tell_of_keyboard([file], quiet=False)
    corpus = decode_corpus(bundle, name, islice(read_sources([file]), limit), rows, watch)
    if corpus.skipped:
        print(f"specdec: skipped lines: {in_words(corpus.skipped)}", file=sys.stderr)
    return corpus


def _picture(bundle: "Bundle", sentence: str, decoding: DecodingName | None, block_size: int | Literal["auto"] | None) -> "Picture":
    """Decode `sentence`, and make its picture. Raises UsageError for a sentence that is too long, and for options that do not fit."""
    from specdec_cli.decoding.options import DecodingOptions, resolve
    from specdec_cli.decoding.sentence import make_sentence
    from specdec_cli.engines.reference import Engine
    from specdec_cli.visualization.recording import Recorder, jacobi_graph, mask_predict_passes, search_steps

    tokenizer, left_to_right = bundle.tokenizer, bundle.verifier.config.order == "left-to-right"
    if decoding in SEARCHES and left_to_right:
        raise UsageError(f"--decoding {decoding}: a search from left to right has no rounds to show")
    encoded = make_sentence(tokenizer, bundle.shape.eos, 0, sentence)
    source = list(encoded.source)
    drafts = bundle.drafter is not None or bundle.info.task in REWRITING
    graph = left_to_right and (decoding == "jacobi" or (decoding is None and not drafts))
    if graph and block_size is not None:
        raise UsageError(_NO_BLOCKS)
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
