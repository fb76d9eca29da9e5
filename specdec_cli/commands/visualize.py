"""`specdec visualize`: the decoding dependency graph of a sentence, or the rounds of a decoding."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specdec_cli.commands import options
from specdec_cli.decoding.names import Decoding
from specdec_cli.errors import UsageError

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.visualization.picture import Picture

LONGEST = 60
SUFFIXES = (".html", ".svg", ".json")
SentenceArgument = Annotated[str, typer.Argument(metavar="SENTENCE", help="The sentence to decode.", show_default=False)]
ShownOption = Annotated[
    Decoding,
    typer.Option(
        "--decoding",
        metavar="NAME",
        help="jacobi shows what could be known when; another decoding that drafts shows its rounds.",
        rich_help_panel=options.DECODING_PANEL,
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help=f"Write {', '.join(SUFFIXES)} instead of coloured text.",
        rich_help_panel=options.OUTPUT_PANEL,
    ),
]


def visualize(
    sentence: SentenceArgument,
    model: options.ModelOption = "en-de",
    decoding: ShownOption = "jacobi",
    block_size: options.BlockSizeOption = None,
    output: OutputOption = None,
    device: options.DeviceOption = "auto",
    threads: options.ThreadsOption = None,
    offline: options.OfflineOption = False,  # noqa: ARG001  nothing here ever uses the network
) -> None:
    """Show how a sentence is decoded: which tokens could be known when, and which waited for which.

    With jacobi, the whole sentence is predicted again and again until nothing changes (the decoding dependency graph).
    With specdec, input-guided and others that draft: what each round drafted, and what was accepted of it.
    """
    from rich.console import Console

    from specdec_cli.commands.loading import open_bundle, settle_machine
    from specdec_cli.files import write_atomically
    from specdec_cli.visualization.html import to_html
    from specdec_cli.visualization.svg import to_svg
    from specdec_cli.visualization.terminal import print_picture

    if output is not None and output.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--output {output}: the name must end with one of {', '.join(SUFFIXES)}")
    if not sentence.strip():
        raise UsageError("SENTENCE: there is no text in it")
    bundle = open_bundle(model, settle_machine(device, "float32", threads))
    picture = _picture(bundle, sentence.strip(), decoding, options.number_or_auto(block_size))
    if output is None:
        print_picture(picture, Console())
        return
    kind = output.suffix.lower()
    if kind == ".json":
        text = json.dumps(picture.to_dict(), ensure_ascii=False, indent=2) + "\n"
    else:
        text = to_html(picture) if kind == ".html" else to_svg(picture)
    write_atomically(output, lambda partial: partial.write_text(text, encoding="utf-8") and None)


def _picture(bundle: "Bundle", sentence: str, decoding: Decoding, block_size: "int | str | None") -> "Picture":
    """Raises UsageError for a sentence that is too long, and for a decoding that has no rounds to show."""
    from specdec_cli.decoding.engine import Engine
    from specdec_cli.decoding.loop import Sentence
    from specdec_cli.decoding.settings import Wishes, settle
    from specdec_cli.visualization.jacobi_graph import jacobi_graph
    from specdec_cli.visualization.rounds import Recorder

    if decoding == "beam":
        raise UsageError("--decoding beam: beam search has no rounds to show")
    if decoding == "jacobi" and block_size is not None:
        raise UsageError("--block-size is not for jacobi, which predicts the whole sentence; gs-jacobi has blocks")
    source = [*bundle.tokenizer.encode(sentence), bundle.verifier.config.eos]
    graph = decoding == "jacobi"
    size = block_size if isinstance(block_size, int) else None
    wishes = Wishes(decoding="greedy" if graph else decoding, block_size=size, max_length=LONGEST, with_scores=True)
    recorder = Recorder()
    engine = Engine(bundle, settle(wishes, bundle), recorder)
    if len(source) > min(engine.verifier.longest_source, LONGEST):
        raise UsageError(f"SENTENCE: {len(source)} tokens; a picture holds {LONGEST}")
    (found,) = engine.decode([Sentence(0, source)])
    if graph:
        return jacobi_graph(engine.verifier, bundle.tokenizer, source, found.ids)
    return recorder.picture(decoding, bundle.tokenizer, source, found)
