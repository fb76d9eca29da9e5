"""Teachers of `distill`, in this process or in a worker of a cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from specdec_cli.decoding.options import DecodingOptions, Sampled
from specdec_cli.distillation.run import Filters
from specdec_cli.distillation.teachers import Resources, Search, Teacher, TeacherModel, TeacherProcess, as_ctranslate2
from specdec_cli.errors import UsageError
from specdec_cli.opening.machine import Device, Precision

ENSEMBLE_FORMATS = ("float32", "int8")
"""The number formats in which an ensemble computes; in int8 on a CPU by the kernels of the native engine."""


@dataclass(frozen=True)
class DistillationPlan:
    """The teachers of a distillation, the settings of their search, their resources, and the conditions on their output.

    `nearest` is the least chrF of an output to a target of its source (0 to 100), of which the output is the nearest hypothesis; None
    for the best hypothesis. With `sampling`, there is no search: tokens are drawn at random.
    """

    models: tuple[TeacherModel, ...]
    search: Search
    resources: Resources
    filters: Filters
    nearest: float | None = None
    sampling: Sampled | None = None


def check_ensemble(models: Sequence[TeacherModel]) -> None:
    """Raise UsageError if one of several teachers is not a bundle."""
    for model in models if len(models) > 1 else ():
        if not model.is_bundle:
            raise UsageError(f"{model.folder}: an ensemble needs bundles; a CTranslate2 folder gives no probabilities")


@contextmanager
def open_teacher(
    models: Sequence[TeacherModel], converted: Path, search: Search, resources: Resources, sampling: Sampled | None = None
) -> Iterator[Teacher]:
    """Load a teacher, or an ensemble of several. A single bundle is converted to CTranslate2 in the folder `converted`, if it is missing;
    with `sampling`, an engine of specdec decodes it.

    Raises UsageError for an ensemble with a CTranslate2 folder, and ModelError for a model that cannot be loaded.
    """
    if sampling is not None:
        yield _drawing(models[0], search, resources, sampling)
        return
    if len(models) == 1:
        with TeacherProcess(as_ctranslate2(models[0], converted), search, resources) as teacher:
            yield teacher
        return
    check_ensemble(models)
    from specdec_cli.distillation.bundle_teachers import Ensemble
    from specdec_cli.opening.engines import open_for_loop
    from specdec_cli.opening.machine import MachineOptions
    from specdec_cli.opening.models import ModelChoice

    machine = MachineOptions(
        device=cast(Device, resources.device), precision=cast(Precision, search.compute_type), threads=resources.threads
    )
    bundles = [open_for_loop(ModelChoice(str(model.folder)), machine) for model in models]
    yield Ensemble(bundles, search, resources.tokens)


def drawing_options(search: Search, sampling: Sampled) -> DecodingOptions:
    """The options of a decoding that draws tokens."""
    return DecodingOptions(
        sample=True, temperature=sampling.temperature, top_k=sampling.top_k or None, seed=sampling.seed, max_length=search.max_length
    )


def _drawing(model: TeacherModel, search: Search, resources: Resources, sampling: Sampled) -> Teacher:
    """The teacher that draws tokens with a bundle. Raises what `open_engine` raises."""
    from specdec_cli.distillation.bundle_teachers import DrawingTeacher
    from specdec_cli.opening.engines import open_engine
    from specdec_cli.opening.machine import MachineOptions
    from specdec_cli.opening.models import ModelChoice

    device, precision = cast(Device, resources.device), cast(Precision, search.compute_type)
    machine = MachineOptions(device=device, precision=precision, threads=resources.threads)
    request = replace(drawing_options(search, sampling), batch_size=machine.rows, memory=machine.batch_memory)
    opened = open_engine(ModelChoice(str(model.folder)), machine, request)
    return DrawingTeacher(opened.engine, opened.bundle.tokenizer, search.max_source_length)
