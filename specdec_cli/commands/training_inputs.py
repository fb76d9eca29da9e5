"""What a training run begins with: its settings, and digests of its texts and models."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from specdec_cli.digests import files_digest, folder_digest
from specdec_cli.distillation.teachers import find_teacher, teacher_digest
from specdec_cli.distillation.texts import sources_digest
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.training.checkpoint import COMMAND, Beginning
from specdec_cli.training.data import DataSource
from specdec_cli.training.recipe import DrafterRecipe, VerifierRecipe, update_settings


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
    """A hash of the pieces of a tokenizer, in the order of their ids."""
    return sources_digest([*tokenizer.source_vocabulary(), *tokenizer.vocabulary()])
