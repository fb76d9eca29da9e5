"""What the training commands share: checks of the input, what a run begins with, and a run that can be stopped and resumed."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from specdec_cli.commands.messages import teller
from specdec_cli.digests import files_digest, folder_digest
from specdec_cli.errors import MissingLibraryError, UsageError
from specdec_cli.files import locked, rank

if TYPE_CHECKING:
    from lightning_fabric import Fabric

    from specdec_cli.text.tokenize.tokenizer import Tokenizer
    from specdec_cli.training.checkpoint import Beginning
    from specdec_cli.training.data import DataSource
    from specdec_cli.training.recipe import DrafterRecipe, VerifierRecipe
    from specdec_cli.training.trainer import Progress, TrainingTask


def require_training() -> None:
    """Raise UsageError if lightning-fabric, which only training needs, is not installed."""
    try:
        import lightning_fabric  # noqa: F401
    except ImportError as error:
        raise MissingLibraryError("training needs lightning-fabric", "training") from error


def writing_alone(output: Path) -> AbstractContextManager[None]:
    """Context manager that locks the folder `output` against other runs.

    Of several processes that train together, only the first one locks it. Raises UsageError if another run has locked it.
    """
    return nullcontext() if rank() else locked(output)


def check_output(output: Path) -> None:
    """Raise UsageError if the folder `output` has a bundle without a checkpoint, which a new training run would overwrite."""
    from specdec_cli.training.checkpoint import FILE

    if (output / "bundle.json").exists() and not (output / FILE).exists():
        raise UsageError(f"{output}: already has a bundle, and no {FILE} from which training resumes; name another folder")


def train(
    task: "TrainingTask",
    plan: "VerifierRecipe | DrafterRecipe",
    beginning: "Beginning",
    output: Path,
    fabric: "Fabric",
    quiet: bool,
    operations: "Callable[[Progress], float] | None" = None,
) -> None:
    """Train `task` in the folder `output`, from its checkpoint if there is one, and show progress.

    If `output` has no bundle yet, the initial model is saved there, until an evaluation chooses a better one. If the run resumes, what it
    began with and `beginning` does not have is printed. `operations` counts the floating-point operations of the whole run up to a
    progress; if it is given, they are printed at the end.

    A run that is stopped by SIGINT or SIGTERM prints how to resume it and ends with exit code 130 or 143.
    """
    from rich.console import Console

    from specdec_cli.commands.training_view import TrainingView
    from specdec_cli.training.trainer import Trainer

    tell = teller(quiet or not fabric.is_global_zero)
    output.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(task, plan.run, plan.optimizer, output, fabric, beginning)
    done = trainer.progress.update
    if done:
        tell(f"{trainer.checkpoint}: resuming after update {done:,} of {plan.run.max_updates:,}")
    if trainer.changes:
        tell(f"warning: {output}: its run began with {', '.join(trainer.changes)}; to train from the start, name another folder")
    arithmetic, captured = fabric.strategy.precision.precision, ", captured" if trainer.captured is not None else ""
    tell(f"training on {fabric.device.type} in {arithmetic}, in batches of up to {plan.run.batch_tokens:,} tokens{captured}")
    trainer.begin()
    try:
        if fabric.is_global_zero:
            with TrainingView(output, plan.run, Console(stderr=True), done=done, quiet=quiet) as view:
                trainer.train(view)
        else:
            trainer.train(lambda _: None)
    except KeyboardInterrupt:
        tell("interrupted; the same command resumes from the last checkpoint")
        raise
    if operations is not None:
        tell(f"update {trainer.progress.update:,}: {operations(trainer.progress):.2e} floating-point operations")
    if trainer.stopped:
        early = "" if trainer.progress.best is not None else ", before the first evaluation"
        tell(f"stopped after update {trainer.progress.update:,}{early}; the same command resumes there")
        raise typer.Exit(128 + trainer.stopped)


def check_text(paths: Sequence[Path], parallel: bool) -> None:
    """Check the first lines of each file, which has TSV pairs if `parallel`, else sources.

    Raises InputError for a file that is missing, blank, malformed or not readable, and for a pipe, which cannot be read again.
    """
    from itertools import islice

    from specdec_cli.distillation.texts import read_sources
    from specdec_cli.errors import InputError
    from specdec_cli.files import check_regular
    from specdec_cli.text.corpus.parallel import read_tsv

    for path in paths:
        check_regular(path, InputError)
        texts = (pair.source for pair in read_tsv(path)) if parallel else read_sources([path])
        if not any(list(map(str.strip, islice(texts, 100)))) and not any(map(str.strip, texts)):
            raise InputError(f"{path}: empty")


def beginning_of(
    command: str,
    plan: "VerifierRecipe | DrafterRecipe",
    data: "Sequence[DataSource]",
    dev: Sequence[Path],
    digests: Mapping[str, str | None],
    options: Mapping[str, str],
) -> "Beginning":
    """What a run of `command` begins with: its plan, hashes of its texts, `digests` of its models, and the values of `options`, by name.

    Raises ModelError for an unreadable file.
    """
    from specdec_cli.training.checkpoint import COMMAND, Beginning
    from specdec_cli.training.recipe import update_settings

    parts = [f"{files_digest([source.path])}*{source.times}" for source in data]
    texts = {"--data": " ".join(parts), "--dev": files_digest(dev)}
    return Beginning({COMMAND: command, **options, **update_settings(plan)}, {**texts, **digests})


def verifier_digest(bundle: Path) -> str:
    """A hash of the verifier and the tokenizer in the folder of a bundle. Raises ModelError for an unreadable file."""
    from specdec_cli.distillation.teachers import find_teacher, teacher_digest

    return teacher_digest(find_teacher(bundle))


def drafter_digest(bundle: Path) -> str:
    """A hash of the drafter in the folder of a bundle. Raises ModelError for an unreadable file."""
    return folder_digest(bundle / "drafter")


def vocabulary_digest(tokenizer: "Tokenizer") -> str:
    """A hash of the pieces of a tokenizer, in the order of their ids."""
    from specdec_cli.distillation.texts import sources_digest

    return sources_digest([*tokenizer.source_vocabulary(), *tokenizer.vocabulary()])
