"""`specdec convert`: models from and to other toolkits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from specdec_cli.commands import options
from specdec_cli.errors import UsageError

# What each language's proof says hardly matters: it shows that the folder is complete and in order.
_PROOFS = {"de": "Das ist ein kurzer Satz.", "fr": "Ceci est une phrase courte."}
_PROOF = "This is a short sentence."
_PROOF_LENGTH = 64


def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Model to convert.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the result.", show_default=False)],
    source_format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of SOURCE: bundle.", show_default="what it looks like")
    ] = None,
    target_format: Annotated[Literal["bundle", "ctranslate2"], typer.Option("--to", help="Format of OUTPUT.")] = "bundle",
    quantization: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="Number format of CTranslate2's weights: float32, float16, bfloat16, int8, int8_float16, int8_bfloat16, int16.",
            show_default="float32",
        ),
    ] = None,
    storage: Annotated[
        Literal["float32", "float16", "int8"], typer.Option("--storage", help="Number format of a bundle's weights on disk.")
    ] = "float32",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change what bundle.json says, as in block_size=8. Repeatable."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUTPUT.")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Convert a model from or to another toolkit's format, and translate a sentence with the result as a proof."""
    if source_format not in (None, "bundle") or not (source / "bundle.json").exists():
        what = f"--from {source_format}" if source_format not in (None, "bundle") else f"{source}: not a bundle (no bundle.json)"
        raise UsageError(f"{what}; only bundles can be converted")
    if target_format == "bundle":
        _store_anew(source, output, storage, changes or [], force)
        return
    from converters.to_ctranslate2 import to_ctranslate2
    from specdec_cli.model.bundle import load_bundle

    bundle = load_bundle(source)
    to_ctranslate2(bundle, output, quantization, force)
    sentence = _PROOFS.get(bundle.info.source_language, _PROOF)
    translation = _translate(output, sentence, min(_PROOF_LENGTH, bundle.verifier.config.max_positions))
    if not quiet:
        typer.echo(f"{output}: {sentence} -> {translation}", err=True)


def _store_anew(source: Path, output: Path, storage: Literal["float32", "float16", "int8"], changes: Sequence[str], force: bool) -> None:
    """A bundle in another number format, or with another description."""
    from dataclasses import asdict

    from specdec_cli.model.bundle import BundleInfo, load_bundle, save_bundle
    from specdec_cli.recipe import apply_changes, build

    if output.exists() and not force:
        raise UsageError(f"{output} exists; --force replaces it")
    bundle = load_bundle(source)
    bundle.info = build(BundleInfo, apply_changes(asdict(bundle.info), changes))
    save_bundle(bundle, output, storage)


def _translate(folder: Path, sentence: str, longest: int) -> str:
    from specdec_cli.distillation.process import TeacherProcess
    from specdec_cli.distillation.teacher import Resources, Search

    search = Search(beam_size=1, max_length=longest, max_source_length=longest, compute_type="default")
    with TeacherProcess(folder, search, Resources()) as process:
        ((_, translation),) = process.translate([sentence])
    return translation.text
