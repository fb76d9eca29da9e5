"""The work of `specdec train-verifier`: a Transformer of the recipe's shape, or that of a bundle, and its training on pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specdec_cli.console.reports import teller
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.order import Order
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.machine import Device, resolve_machine
from specdec_cli.opening.models import find_bundle
from specdec_cli.text.corpus.parallel import check_text
from specdec_cli.text.tokenize.sentencepiece import Subwords
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.training.data import DataSource, load_pairs
from specdec_cli.training.data_parallel import launch_fabric
from specdec_cli.training.initial import initial_verifier
from specdec_cli.training.recipe import VerifierRecipe, order_fields
from specdec_cli.training.verifier import MaskedTask, VerifierTask
from specdec_cli.work.training import beginning_of, check_output, train, verifier_digest, vocabulary_digest, writing_alone


@dataclass(frozen=True, kw_only=True)
class VerifierTraining:
    """A training run of a verifier, as the options of `train-verifier` say: in the folder `output`, on the pairs `data`, in `devices`
    processes.

    None stands for what the bundle `init` has, if there is one, and else for the default; `threads` None is all cores.
    """

    output: Path
    plan: VerifierRecipe
    data: Sequence[str]
    dev: Sequence[Path]
    tokenizer: Path | None
    init: str | None
    source_language: str | None
    target_language: str | None
    task: Task | None
    order: Order | None
    devices: int
    device: Device
    threads: int | None
    quiet: bool

    def run(self) -> None:
        """Train the verifier."""
        tell, output, dev = teller(self.quiet), self.output, self.dev
        plan = replace(self.plan, model={**self.plan.model, **order_fields(self.order or self.plan.model.get("order"))})
        machine = resolve_machine(self.device, "float32", self.threads)
        sources = [DataSource.parse(text) for text in self.data]
        check_text([*dev, *(source.path for source in sources)], parallel=True)
        with writing_alone(output):
            check_output(output)
            fabric = launch_fabric(plan.run, machine.device, self.devices)
            first_folder = None if self.init is None else find_bundle(self.init, tell)
            first = None if first_folder is None else load_checkpoint(first_folder)
            subwords = self._find_tokenizer(first, sources[0].path)
            model = initial_verifier(plan, first, subwords)
            info = BundleInfo() if first is None else first.info
            task = self.task or info.task
            source = self.source_language or info.source_language
            languages = (source, self.target_language or (info.target_language if task == "translate" else source))
            held_out = load_pairs([DataSource(path) for path in dev], subwords, model.config, tell)
            pairs = load_pairs(sources, subwords, model.config, tell)
            ratio = sum(len(pair.target) for pair in pairs) / sum(len(pair.source) for pair in pairs)
            bundle = Bundle(info.retrained(task, *languages, length_ratio=round(ratio, 3)), subwords, model)
            kind = MaskedTask if model.config.order == "masked" else VerifierTask
            options = {"--task": task, "--source-language": languages[0], "--target-language": languages[1]}
            initial = None if first_folder is None else verifier_digest(first_folder)
            digests = {"--tokenizer": vocabulary_digest(subwords), "--init": initial}
            beginning = beginning_of("train-verifier", plan, sources, dev, digests, options)
            train(kind(bundle, pairs, held_out, plan.run), plan, beginning, output, fabric, self.quiet)

    def _find_tokenizer(self, first: Bundle | None, data: Path) -> Tokenizer:
        """The tokenizer that is given, else that of the first bundle, else the one beside the data. Raises UsageError if there is none."""
        if self.tokenizer is None and first is not None:
            return first.tokenizer
        beside = data.parent / "tokenizer.model"
        if self.tokenizer is None and not beside.exists():
            raise UsageError(f"no tokenizer.model beside {data}; name one with --tokenizer")
        return Subwords(self.tokenizer or beside)
