"""What the work of the training commands shares: the output folder, what a run begins with, and a run that can be resumed."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import typer
from lightning_fabric import Fabric
from rich.console import Console

from specdec_cli.console.reports import teller
from specdec_cli.digests import files_digest, folder_digest
from specdec_cli.distillation.teachers import find_teacher, teacher_digest
from specdec_cli.distillation.texts import sources_digest
from specdec_cli.errors import UsageError, counted
from specdec_cli.files import locked, rank
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.training.checkpoint import COMMAND, FILE, Beginning
from specdec_cli.training.data import DataSource
from specdec_cli.training.recipe import DrafterRecipe, VerifierRecipe, update_settings
from specdec_cli.training.trainer import Trainer, TrainingTask
from specdec_cli.work.training_view import TrainingView


def writing_alone(output: Path) -> AbstractContextManager[None]:
    """Context manager that locks the folder `output` against other runs.

    Of several processes that train together, only the first one locks it. Raises UsageError if another run has locked it.
    """
    return nullcontext() if rank() else locked(output)


def check_output(output: Path) -> None:
    """Raise UsageError if the folder `output` has a bundle without a checkpoint, which a new training run would overwrite."""
    if (output / "bundle.json").exists() and not (output / FILE).exists():
        raise UsageError(f"{output}: already has a bundle, and no {FILE} from which training resumes; name another folder")


def train(
    task: TrainingTask,
    plan: VerifierRecipe | DrafterRecipe,
    beginning: Beginning,
    output: Path,
    fabric: Fabric,
    quiet: bool,
) -> None:
    """Train `task` in the folder `output`, from its checkpoint if there is one, and show progress.

    If `output` has no bundle yet, the initial model is saved there, until an evaluation chooses a better one. If the run resumes, what it
    began with and `beginning` does not have is printed. The floating-point operations of a run that is not stopped are printed at its end.

    A run that is stopped by SIGINT or SIGTERM prints how to resume it and ends with exit code 130 or 143.
    """
    tell = teller(quiet or not fabric.is_global_zero)
    output.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(task, plan.run, plan.optimizer, output, fabric, beginning)
    start = replace(trainer.progress)
    if done := start.update:
        tell(f"{trainer.checkpoint}: resuming after update {done:,} of {plan.run.max_updates:,}")
    if trainer.changes:
        tell(f"warning: {output}: its run began with {', '.join(trainer.changes)}; to train from the start, name another folder")
    arithmetic, captured = fabric.strategy.precision.precision, ", captured" if trainer.captured is not None else ""
    tell(f"training on {fabric.device.type} in {arithmetic}, in batches of up to {counted(plan.run.batch_tokens, 'token')}{captured}")
    trainer.begin()
    try:
        if fabric.is_global_zero:
            with TrainingView(output, plan.run, Console(stderr=True), start=start, quiet=quiet) as view:
                trainer.train(view)
        else:
            trainer.train(lambda _: None)
    except KeyboardInterrupt:
        tell("interrupted; the same command resumes from the last checkpoint")
        raise
    if not trainer.stopped:
        tell(f"training up to update {trainer.progress.update:,} took {trainer.operations():.2e} floating-point operations")
    else:
        early = "" if trainer.progress.best is not None else ", before the first evaluation"
        tell(f"stopped after update {trainer.progress.update:,}{early}; the same command resumes there")
        raise typer.Exit(128 + trainer.stopped)


def beginning_of(
    command: str,
    plan: VerifierRecipe | DrafterRecipe,
    data: Sequence[DataSource],
    dev: Sequence[Path],
    digests: Mapping[str, str | None],
    options: Mapping[str, str],
) -> Beginning:
    """What a run of `command` begins with: its plan, hashes of its texts, `digests` of its models, and the values of `options`, by name.

    Raises ModelError for an unreadable file.
    """
    parts = [f"{files_digest([source.path])}*{source.times}" for source in data]
    texts = {"--data": " ".join(parts), "--dev": files_digest(dev)}
    return Beginning({COMMAND: command, **options, **update_settings(plan)}, {**texts, **digests})


def verifier_digest(bundle: Path) -> str:
    """A hash of the verifier and the tokenizer in the folder of a bundle. Raises ModelError for an unreadable file."""
    return teacher_digest(find_teacher(bundle))


def drafter_digest(bundle: Path) -> str:
    """A hash of the drafter in the folder of a bundle. Raises ModelError for an unreadable file."""
    return folder_digest(bundle / "drafter")


def vocabulary_digest(tokenizer: Tokenizer) -> str:
    """A hash of the vocabularies of a tokenizer: of the subwords in the order of their ids."""
    return sources_digest([*tokenizer.source_vocabulary(), *tokenizer.vocabulary()])
