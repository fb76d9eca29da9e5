"""The work of `specdec train-drafter`: the greedy output of the verifier, a new drafter, and its training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specdec_cli.console.options import ClusterOptions
from specdec_cli.console.reports import say, teller
from specdec_cli.decoding.methods import DRAFTS_OF, methods_of
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.distillation.run import DISTILLED, DistillationPlan, Filters
from specdec_cli.distillation.teachers import Resources, Search
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import AnyDrafter, BlockDrafter, Heads, make_drafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.machine import Device, resolve_machine
from specdec_cli.opening.models import find_bundle
from specdec_cli.processors import usable_processors
from specdec_cli.text.corpus.parallel import check_text
from specdec_cli.training.checkpoint import FILE
from specdec_cli.training.data import DataSource, load_pairs
from specdec_cli.training.data_parallel import launch_fabric
from specdec_cli.training.drafter import DrafterTask
from specdec_cli.training.recipe import DrafterRecipe
from specdec_cli.work.distilling import distill_files, plan_distillation
from specdec_cli.work.held_out import held_out_sets, tell_left_out
from specdec_cli.work.training import beginning_of, check_output, drafter_digest, train, verifier_digest, writing_alone

_SHARD_LINES = 1_000
"""Sources in a shard. A killed run loses at most the outputs of one shard, which take a large model minutes on a CPU."""


@dataclass(frozen=True, kw_only=True)
class DrafterTraining:
    """A training run of a drafter, as the options of `train-drafter` say: in the folder `output`, for the verifier `model`, on the files of
    its outputs `data`, or on its outputs for the files `source`, in `devices` processes.

    `init` names a bundle with a drafter to begin with (None: a new one); `threads` None is all cores.
    """

    output: Path
    plan: DrafterRecipe
    model: str
    data: Sequence[str]
    source: Sequence[Path]
    dev: Sequence[Path]
    init: str | None
    devices: int
    device: Device
    threads: int | None
    quiet: bool

    def run(self) -> None:
        """Train the drafter. Raises UsageError for a verifier of another order than left-to-right, and what `_digest` raises."""
        texts, dev, tell = [DataSource.parse(text) for text in self.data], self.dev, teller(self.quiet)
        check_text([*dev, *self.source], parallel=False)
        check_text([text.path for text in texts], parallel=True)
        machine = resolve_machine(self.device, "float32", self.threads)
        with writing_alone(self.output):
            folder = find_bundle(self.model, tell)
            digests = self._digest(folder)
            bundle = load_checkpoint(folder)
            if (order := bundle.verifier.config.order) != "left-to-right":
                raise UsageError(f"--model {self.model}: drafters are for models of order left-to-right, not {order}")
            held_out = held_out_sets(bundle, dev, tell)
            tell_left_out(held_out, self.plan.drafter.shortlist, tell)
            if self.source:
                texts = [DataSource(self._decode(folder))]
            fabric = launch_fabric(self.plan.run, machine.device, self.devices, unused=True)
            bundle.verifier.to(fabric.device)
            first, digests["--init"] = (None, None) if self.init is None else _initial_drafter(self.init)
            bundle = with_new_drafter(bundle, self.plan, first)
            outputs = load_pairs(texts, bundle.tokenizer, bundle.verifier.config, tell)
            task = DrafterTask(bundle, outputs, held_out, self.plan, fabric.world_size)
            beginning = beginning_of("train-drafter", self.plan, texts, dev, digests, {})
            train(task, self.plan, beginning, self.output, fabric, self.quiet)

    def _digest(self, folder: Path) -> dict[str, str | None]:
        """A hash of the verifier in `folder`, by the name of its option. A run that resumes must have the same hash.

        Empty if `folder` is the output and the run resumes: the run may have written the verifier in another number format. Raises
        UsageError if training would overwrite a bundle in the output, or change the verifier in it.
        """
        if folder.resolve() != self.output.resolve():
            check_output(self.output)
        elif self.plan.verifier == "fine-tuned":
            raise UsageError(f"{self.output}: is the verifier itself, which verifier=fine-tuned would change; name another folder")
        elif (self.output / FILE).exists():
            return {}
        return {"--model": verifier_digest(folder)}

    def _decode(self, folder: Path) -> Path:
        """Make the greedy output of the verifier in `folder` for the source text; return the TSV file with it."""
        plan = DistillationPlan(
            search=Search(compute_type="auto"),
            resources=Resources(self.device, self.threads or usable_processors()),
            filters=Filters(keep_copies=True),
            shard_lines=_SHARD_LINES,
            own_greedy=True,
        )
        plan = plan_distillation([str(folder)], DecodingOptions(beam_size=1), plan)
        outputs = self.output / "outputs"
        distill_files(plan, outputs, self.source, ClusterOptions(), quiet=self.quiet)
        return outputs / DISTILLED


def _initial_drafter(init: str) -> tuple[AnyDrafter, str]:
    """The drafter of the bundle that --init names, and its digest. Raises UsageError for a bundle without a drafter."""
    folder = find_bundle(init, say)
    drafter = load_checkpoint(folder).drafter
    if drafter is None:
        raise UsageError(f"--init {init}: the bundle has no drafter")
    return drafter, drafter_digest(folder)


def with_new_drafter(bundle: Bundle, plan: DrafterRecipe, first: AnyDrafter | None) -> Bundle:
    """A copy of `bundle` with a new drafter of the shape in `plan`, initialised from the drafter `first` if given.

    Raises UsageError if `first` is of another kind (block drafter or heads) or width, and for a shape that does not fit the verifier.
    """
    config = plan.drafter
    if isinstance(config, DrafterConfig):
        config = replace(config, mask=bundle.tokenizer.mask)
    try:
        drafter = make_drafter(config, bundle.verifier, plan.run.dropout)
    except ModelError as error:
        raise UsageError(f"drafter of the recipe: {error}") from error
    if isinstance(config, DrafterConfig) and isinstance(drafter, BlockDrafter) and config.initial == "verifier":
        drafter.initialize_from_verifier()
    try:
        if isinstance(drafter, BlockDrafter) and isinstance(first, BlockDrafter):
            drafter.initialize_from_drafter(first)
        elif isinstance(drafter, Heads) and isinstance(first, Heads):
            drafter.initialize_from(first)
        elif first is not None:
            raise ModelError(f"a drafter of kind {first.config.kind} cannot initialise one of kind {config.kind}")
    except ModelError as error:
        raise UsageError(f"--init: {error}") from error
    # The bundle's block size was chosen for its earlier drafter.
    info = replace(bundle.info, block_size=min(bundle.info.block_size, config.max_block))
    if any(method.trained not in (None, config.kind) for method in methods_of(info.decoding)):
        info = replace(info, decoding=DRAFTS_OF[config.kind])
    return replace(bundle, info=info, drafter=drafter)
