"""Runs of a row: the outputs and times of decoding lines with a bundle, by the engine that the commands take for it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from specdec_cli.benchmark.rows import Row
from specdec_cli.decoding.lengths import Lengths, known
from specdec_cli.decoding.methods import DEFAULT_MODE, LONGEST_DRAFT, METHODS, OPTIONS, REWRITING, SEARCHES, DrafterKind
from specdec_cli.decoding.options import Decoding, DecodingOptions, Margin, Tolerant, own_options
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.native_drafts import WORTH_LOADING
from specdec_cli.model.bundle_info import BundleDescription, BundleInfo, read_info
from specdec_cli.opening.draft_models import Load, open_draft_model
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import Machine, MachineOptions, native_machine, prepare_torch
from specdec_cli.opening.models import ModelChoice, find_bundle, open_bundle
from specdec_cli.pipeline.corrector import Correction, LineCorrector
from specdec_cli.pipeline.edit_filter import EditFilter
from specdec_cli.pipeline.translator import LineTranslator, Translation
from specdec_cli.processors import peak_resident_mb

if TYPE_CHECKING:
    from specdec_cli.benchmark.geometries import Geometry
    from specdec_cli.decoding.sentence import Hypothesis, Sentence
    from specdec_cli.engines.reference import Engine
    from specdec_cli.model.bundle import Bundle


@dataclass(frozen=True)
class Output:
    """The output of a line: text, output ids of each sentence (EOS included), rounds and wall time in seconds (None: not measured)."""

    text: str
    sentences: tuple[tuple[int, ...], ...]
    rounds: int | None = None
    seconds: float | None = None

    @property
    def tokens(self) -> int:
        """The number of emitted tokens of all sentences of the line, EOS included."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True)
class Run:
    """One run of a row over all lines: wall time in seconds, outputs in order, peak memory so far in MB (2**20 bytes; None: not measured).

    With an adaptive block size, `drafted` is the number of rounds with a draft, and `block_size` their mean block size, else None.
    """

    seconds: float
    outputs: tuple[Output, ...]
    peak_memory_mb: float | None = None
    drafted: int | None = None
    block_size: float | None = None


@dataclass(frozen=True)
class Conditions:
    """The conditions that all rows of a bundle share: the bundle, and what it and this machine support.

    - `machine`: the machine, with device, precision and threads resolved; `gpu` is the name of its GPU (None: it is not used), and
      `torch` the version of PyTorch.
    - `languages`: those of source and target; `drafter`: the kind of the bundle's drafter (None: it has none).
    - `split`: lines are split into sentences; `raw`: corrections are the model's own output.
    - `limits`: the largest number of output tokens by padded length of the source.
    - `converted`: folders with the bundle as a CTranslate2 model, by number format; `refused`: why other formats are not supported.
    - `geometry`: the shape of a synthetic bundle, whose drafts are recorded (None: another bundle).
    """

    model: ModelChoice
    machine: MachineOptions
    gpu: str | None = None
    torch: str = ""
    languages: tuple[str, str] = ("", "")
    drafter: DrafterKind | None = None
    split: bool = True
    raw: bool = False
    limits: Mapping[int, int] = field(default_factory=dict)
    converted: Mapping[str, Path] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    geometry: "Geometry | None" = None


Decode = Callable[[Sequence[str]], list[Output]]


def timed(decode: Callable[[Sequence[str]], Sequence[Output]], lines: Sequence[str], one_by_one: bool) -> Run:
    """Call `decode` with `lines` and measure the wall time; with `one_by_one`, call it for each line, and measure each line too."""
    started = perf_counter()
    if not one_by_one:
        outputs = tuple(decode(lines))
        return Run(perf_counter() - started, outputs)
    single: list[Output] = []
    ends = [started]
    for line in lines:
        single += decode([line])
        ends.append(perf_counter())
    seconds = (end - start for start, end in pairwise(ends))
    return Run(ends[-1] - started, tuple(replace(output, seconds=taken) for output, taken in zip(single, seconds, strict=True)))


class Runner(ABC):
    """Decodes lines as one row of the benchmark asks, in this process. `conditions` has the model and the machine."""

    def __init__(self, conditions: Conditions, row: Row) -> None:
        self.conditions, self.row, self.on_gpu = conditions, row, conditions.machine.device == "cuda"

    @abstractmethod
    def prepare(self) -> dict[str, Any]:
        """Return the decoding settings of the row for the report, by name, with defaults replaced by actual values."""

    @abstractmethod
    def run(self, lines: Sequence[str]) -> Run:
        """Decode `lines`, and measure the time and the peak memory, of the GPU if there is one, else of the process."""


class BundleRunner(Runner):
    """Decodes lines with a specdec model, by the engine that `open_engine` chooses for the row. `load` loads the model for PyTorch.

    Raises UsageError for a row that the bundle does not support.
    """

    def __init__(self, conditions: Conditions, row: Row, load: Load = open_bundle) -> None:
        super().__init__(conditions, row)
        self._model, self._load = replace(conditions.model, name=str(find_bundle(conditions.model))), load
        self._info = read_info(Path(self._model.name))
        options = options_of(row, self._info)
        if conditions.raw:
            options = replace(options, with_scores=False, mode="")
        opened = open_engine(self._model, replace(conditions.machine, threads=row.threads), options, load=load)
        self.bundle, self.decoding = opened.bundle, opened.decoding
        # The native engine is loaded for each run.
        self._opened = None if isinstance(opened.engine, NativeEngine) else cast("Engine", opened.engine)
        self._draft_model = opened.engine.draft_model if isinstance(opened.engine, NativeEngine) else None
        self._known: tuple[Sequence[str], dict[tuple[int, ...], int]] = ((), {})

    def prepare(self) -> dict[str, Any]:
        described = describe_settings(self.row, self.decoding, self.engine(), self._info)
        if self.conditions.raw:
            described = {name: value for name, value in described.items() if name not in ("min_score", "mode")} | {"raw": True}
        return described | {"vocabulary": self.bundle.shape.vocabulary_size}

    def run(self, lines: Sequence[str]) -> Run:
        """Decode `lines`, and measure time and memory. The engine is new, so that acceptance statistics of earlier runs have no effect."""
        engine = self.engine(lines)
        if len(lines) >= WORTH_LOADING:
            engine.expect(len(lines))  # an optional drafter is loaded before the clock starts
        run = self._timed(engine, lines)
        skipped = self.decoding.may_skip and engine.decoding.method == "greedy"
        drafted, block_size = engine.drafted or ((0, 0.0) if skipped else (None, None))
        return replace(run, peak_memory_mb=peak_memory_mb(self.on_gpu), drafted=drafted, block_size=block_size)

    def profile(self, lines: Sequence[str]) -> dict[str, float]:
        """Decode `lines` by the reference engine; return the wall time in seconds of the PARTS of `instruments` (Ge et al. 2022, Table 15),
        and of "others".
        """
        from specdec_cli.benchmark.instruments import Meter

        def clock() -> float:
            self._wait()
            return perf_counter()

        engine = self.reference(lines)
        meter = Meter(engine, clock)
        run = self._timed(engine, lines)
        return meter.used | {"others": run.seconds - sum(meter.used.values())}

    def count(self, lines: Sequence[str]) -> dict[str, float]:
        """Decode `lines` by the reference engine in float32 on the CPU; return the floating-point operations of the encoder, the drafter
        (its own encoder included) and the verifier.
        """
        from specdec_cli.benchmark.instruments import Meter
        from specdec_cli.engines.reference import Engine
        from specdec_cli.model.flops import counting

        bundle = self._load(self._model, Machine("cpu", "float32", self.row.threads))
        engine = Engine(bundle, self.decoding, lengths=self._lengths(lines))
        with counting() as counter:
            used = Meter(engine, counter.get_total_flops).used
            self._decoder(engine)(lines)
        encoder, drafter = used["encoder"], used["drafter's encoder"] + used["drafter"]
        return {"encoder": encoder, "drafter": drafter, "verifier": counter.get_total_flops() - encoder - drafter}

    def engine(self, lines: Sequence[str] = ()) -> SentenceDecoder:
        """Make a new engine for the row. A row with `oracle_length` needs the `lines` that it will decode, to know their output lengths."""
        if self._opened is not None:
            return self.reference(lines)
        engine = NativeEngine(cast(BundleDescription, self.bundle), self.decoding, self.row.threads, draft_model=self._draft_model)
        engine.lengths = self._lengths(lines)
        return engine

    def reference(self, lines: Sequence[str] = ()) -> "Engine":
        """Make a reference engine for the row. If the row uses the native engine, the reference engine computes the model with its C code.

        With `row.oracle_length`, the engine is given the lengths of the greedy outputs of `lines`.
        """
        from specdec_cli.engines.reference import Engine

        bundle, verifier = cast("Bundle", self.bundle), None if self._opened is None else self._opened.verifier
        if self._opened is None:
            prepare_torch(self.row.threads)
            machine = self.conditions.machine
            native = native_machine(machine.device, machine.precision, self.row.threads)
            bundle = self._load(self._model, native)
            if self.decoding.draft_model:
                bundle.draft_model = open_draft_model(self._model, bundle, self.decoding.draft_model, native, self._load)
        return Engine(bundle, self.decoding, verifier=verifier, lengths=self._lengths(lines))

    def _lengths(self, lines: Sequence[str]) -> Lengths | None:
        """The lengths (tokens) of the greedy outputs of the sentences of `lines`, with `row.oracle_length`; cached for the last `lines`."""
        if not self.row.oracle_length:
            return None
        if self._known[0] != lines:
            unset: dict[str, Any] = {"block_size": None} | dict.fromkeys(OPTIONS)
            row = self.row.changed(decoding="greedy", variant=None, oracle_length=False, **unset)
            greedy = BundleRunner(self.conditions, row, self._load)
            engine, lengths = greedy.reference(), dict[tuple[int, ...], int]()
            decode = engine.decode

            def measured(sentences: "Sequence[Sentence]") -> "Iterator[Hypothesis]":
                sources = {sentence.number: tuple(sentence.source) for sentence in sentences}
                for found in decode(sentences):
                    lengths[sources[found.number]] = len(found.ids)
                    yield found

            engine.decode = measured  # type: ignore[method-assign]
            greedy._decoder(engine)(lines)
            self._known = (lines, lengths)
        return known(self._known[1])

    def _timed(self, engine: SentenceDecoder, lines: Sequence[str]) -> Run:
        return timed(self._decoder(engine), lines, self.row.options.batch_size == 1)

    def _decoder(self, engine: SentenceDecoder) -> Decode:
        """Make the function that translates or corrects lines with `engine`, sentence by sentence, and waits for the GPU.

        Nothing else that `translate` does to text before and after the model is done, as for other toolkits; spelling is corrected as by
        `correct`. With `row.min_score`, lines are corrected for any task.
        """
        bundle, split, raw = self.bundle, self.conditions.split, self.conditions.raw
        kept = _edit_filter(self.row, self._info)
        decode: Callable[[Sequence[str]], Iterator[Translation | Correction]]
        if self._info.task not in REWRITING and self.row.min_score is None:
            decode = LineTranslator(engine, bundle.tokenizer, split=split, raw=raw).translate
        else:
            words, tokenizer = (bundle.ngrams, bundle.lexicon), bundle.tokenizer
            decode = LineCorrector(engine, tokenizer, kept, split=split, ngrams=words[0], lexicon=words[1], raw=raw).correct

        def outputs(lines: Sequence[str]) -> list[Output]:
            decoded = [Output(line.text, line.sentences, line.rounds) for line in decode(lines)]
            self._wait()
            return decoded

        self._wait()
        return outputs

    def _wait(self) -> None:
        """Wait for the GPU, so that the clock is read after all its work is done."""
        if self.on_gpu:
            import torch

            torch.cuda.synchronize()


def peak_memory_mb(on_gpu: bool) -> float | None:
    """The peak memory in MB (2**20 bytes): on a GPU what PyTorch has allocated there, else that of the process since it started."""
    if not on_gpu:
        return peak_resident_mb()
    import torch

    return torch.cuda.max_memory_allocated() / 2**20


def options_of(row: Row, info: BundleInfo) -> DecodingOptions:
    """The options of an engine for decoding with the settings of `row` and the bundle with the metadata `info`."""
    options = DecodingOptions(**{name: value for name, value in vars(row.options).items() if row.has(name)})
    return replace(
        options,
        decoding=row.decoding,
        preset=row.preset,
        with_scores=_edit_filter(row, info).minimum is not None,
        whole=True,
        mode="" if row.min_score is not None else options.mode or DEFAULT_MODE,
    )


def describe_settings(row: Row, decoding: Decoding, engine: SentenceDecoder, info: BundleInfo) -> dict[str, Any]:
    """The settings that affect the decoding of `row`, and a description of the engine, by name, for the report.

    `decoding` is that of the engine; `info` is the metadata of the bundle.
    """
    described: dict[str, Any] = {}
    if decoding.method in METHODS and METHODS[decoding.method].options:
        described = {**own_options(decoding), **({"oracle_length": True} if row.oracle_length else {})}
    elif row.variant:
        described = {"preset": row.variant}
    if row.decoding == "auto":
        described["chosen"] = decoding.method
    if block_size := decoding.block_size or (LONGEST_DRAFT if decoding.method == "lookup" else 0):
        described["block_size"] = block_size
    if (min_score := _edit_filter(row, info).minimum) is not None:
        described |= {"min_score": min_score} | ({"mode": row.options.mode} if row.options.mode else {})
    if isinstance(decoding.acceptance, Tolerant | Margin):
        described |= vars(decoding.acceptance)
    if decoding.method in SEARCHES:
        described |= {"beam_size": decoding.search.beam_size, "length_penalty": decoding.search.length_penalty}
    described |= {"max_length": decoding.max_length or None, "batch_size": decoding.batch_size, "threads": row.threads}
    return described | row.options.rules | {"engine": engine.description}


def _edit_filter(row: Row, info: BundleInfo) -> EditFilter:
    """The filter of edits; searches accept edits of any score because they have no scores of tokens."""
    edit_filter = EditFilter.of(info, row.min_score, mode=row.options.mode or None)
    return replace(edit_filter, minimum=None, minimum_beside_others=None) if row.decoding in SEARCHES else edit_filter
