"""`specdec visualize`: the decoding dependency graph of a sentence or of a corpus, or the rounds of a decoding."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from specdec_cli.console.options import (
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
from specdec_cli.errors import UsageError
from specdec_cli.files import check_target
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import chosen_translator
from specdec_cli.text.io.writing import check_not_input

SUFFIXES = (".html", ".svg", ".json")
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
    _check(sentence, file, limit, decoding, block_size, output)
    choice = chosen_translator(model, source_language, target_language, offline=offline, instruction=instruction)
    machine = MachineOptions(device=device, threads=threads)
    from specdec_cli.work.visualizing import show_corpus, show_sentence

    if file is not None:
        show_corpus(choice, machine, file, limit, output)
    elif sentence is not None:
        show_sentence(choice, machine, sentence.strip(), decoding, block_size, output)


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
        if file is not None:
            check_not_input(output, [file])
    if (sentence is None) == (file is None):
        raise UsageError("give either a SENTENCE or --file FILE")
    if sentence is not None and not sentence.strip():
        raise UsageError("SENTENCE is empty")
    if limit is not None and file is None:
        raise UsageError("--limit is for --file")
    if file is not None and decoding not in (None, "jacobi"):
        raise UsageError(f"--file is for --decoding jacobi, not for {decoding}")
    if (decoding == "jacobi" or file is not None) and block_size is not None:
        raise UsageError("--block-size is not for jacobi, which predicts the whole sentence; gs-jacobi has blocks")
