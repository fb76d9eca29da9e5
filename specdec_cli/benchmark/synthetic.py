"""The synthetic benchmark: models of random weights, whose drafts are replaced by prepared ones that set the acceptance rate.

The drafter still computes its own drafts, so that the measured time is that of real decoding.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Self

from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.measure import WORKER, Outcome, Plan, Progress, run
from specdec_cli.benchmark.results import Result
from specdec_cli.benchmark.rows import BEST, CTRANSLATE2, Row
from specdec_cli.benchmark.runs import BundleRunner, E
from specdec_cli.benchmark.tables import to_json
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.errors import UsageError
from specdec_cli.model.config import TransformerConfig, preset
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.processes import Process
from specdec_cli.text.tokenize.sentencepiece import MASK, MASK_PIECE
from specdec_cli.text.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from torch import Tensor

    from specdec_cli.decoding.drafters import Drafter
    from specdec_cli.decoding.sentence import Sentence
    from specdec_cli.decoding.state import Draft, State, Verdict
    from specdec_cli.model.bundle import Bundle

Drafts = Mapping[tuple[int, ...], Sequence[Sequence[int]]]
"""The prepared drafts of each source, one for each round, by the ids of the source."""

VOCABULARY = 32_000
MARIAN_VOCABULARY = 58_000
SHORTEST, LONGEST = 24, 40
"""The smallest and the largest number of tokens in a source of the synthetic benchmark."""
_SOURCES = 8
_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", MASK_PIECE)
_SEED = 1


@dataclass(frozen=True)
class Geometry:
    """A model shape of the synthetic benchmark, its decoding with drafts, and the CTranslate2 decodings it is compared with.

    Every output has `length` tokens and takes `rounds` rounds. The drafter has `drafter_layers` layers, which attend to
    the verifier's states or to their own states of the prefix (`drafter_prefix`). It drafts `block_size` tokens, which
    are among the first `shortlist` of the vocabulary (0: all). A block size of 0 means no drafter, and drafts of the
    rest of the output, as in input-guided decoding.
    """

    name: str
    shape: TransformerConfig
    decoding: str
    length: int
    rounds: int
    opponents: tuple[str, ...] = ("ctranslate2-greedy",)
    block_size: int = 0
    drafter_layers: int = 0
    shortlist: int = 0
    drafter_prefix: Literal["states", "own"] = "states"

    @property
    def tokens_per_round(self) -> float:
        """The tokens per round of every output, `length` / `rounds`; the verifier's own tokens are counted."""
        return self.length / self.rounds

    def with_block_size(self, block_size: int) -> Self:
        """A copy with another block size, or the geometry itself if its block size is 0.

        Raises UsageError if `rounds` blocks of this size, with a token of the verifier each, have less than `length` tokens.
        """
        if not self.block_size:
            return self
        if self.rounds * (block_size + 1) < self.length:
            raise UsageError(f"block size {block_size}: {self.tokens_per_round:g} tokens a round need larger blocks")
        return replace(self, block_size=block_size)

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, nested dataclasses as dictionaries, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; accepts lists for tuples, as JSON has them. Raises KeyError if the shape or opponents are missing."""
        lists = {"shape": TransformerConfig.from_dict(values["shape"]), "opponents": tuple(values["opponents"])}
        return cls(**{**values, **lists})


# The output projection is not tied: with tied random weights, a model repeats its last token.
_BASE, _BIG = (preset(size, VOCABULARY, tied_output=False) for size in ("base", "big"))
# The size of Marian's models of OPUS-MT, with a small drafter.
_MARIAN_SHAPE = replace(_BASE, vocabulary_size=MARIAN_VOCABULARY)
_MARIAN = Geometry("marian", _MARIAN_SHAPE, "specdec", length=28, rounds=10, block_size=3, drafter_layers=1, shortlist=8_000)

GEOMETRIES = (
    Geometry("base", _BASE, "specdec", length=33, rounds=6, block_size=8, drafter_layers=2),
    Geometry("big", _BIG, "input-guided", length=36, rounds=3, opponents=CTRANSLATE2),
    _MARIAN,
    # With a drafter of the recipe quick-drafter, and as many rounds as such a drafter needed for service dialogue.
    replace(_MARIAN, name="marian-quick", rounds=11, drafter_layers=2, drafter_prefix="own"),
)


def default_geometries(block_size: int | Literal["auto"] | None) -> tuple[Geometry, ...]:
    """The geometries GEOMETRIES, with the block size `block_size` if that is a number.

    Raises UsageError if it is too small for the rounds of a geometry (see `Geometry.with_block_size`).
    """
    return tuple(geometry.with_block_size(block_size) if isinstance(block_size, int) else geometry for geometry in GEOMETRIES)


def piece(token: int) -> str:
    """The word that stands for the token id `token` in synthetic text, such as "t17"."""
    return f"t{token}"


def make_sources(geometry: Geometry) -> list[str]:
    """Eight source lines of SHORTEST to LONGEST random words of the geometry's vocabulary, drawn with a fixed seed."""
    generator = random.Random(0)
    tokens = range(MASK + 1, geometry.shape.vocabulary_size)
    return [" ".join(piece(generator.choice(tokens)) for _ in range(generator.randint(SHORTEST, LONGEST))) for _ in range(_SOURCES)]


def accepted_tokens(geometry: Geometry, count: int) -> list[list[int]]:
    """For each of `count` sentences, the numbers of tokens that its rounds emit, the verifier's own tokens included.

    The numbers are drawn with a fixed seed; the `rounds` of a sentence sum to the geometry's `length`.
    """
    generator = random.Random(1)
    return [_split(geometry.length, geometry.rounds, geometry.block_size or geometry.length, generator) for _ in range(count)]


def _split(length: int, rounds: int, block_size: int, generator: random.Random) -> list[int]:
    """Split `length` randomly into `rounds` numbers from 1 to `block_size` + 1."""
    sizes = [1] * rounds
    while sum(sizes) < length:
        sizes[generator.choice([number for number, size in enumerate(sizes) if size <= block_size])] += 1
    return sizes


def recorded_drafts(output: Sequence[int], accepted: Sequence[int], block_size: int, vocabulary_size: int) -> list[list[int]]:
    """Make a draft for each round, of which verification accepts as many tokens as `accepted` says.

    `output` is the greedy output (ids); `accepted` has the number of tokens that each round emits, the verifier's own token
    included. A draft has `block_size` tokens (0: all but one of the rest of the output): right tokens, then wrong ones.
    """
    drafts, start = [], 0
    for tokens in accepted:
        end = start + tokens - 1
        width = block_size or len(output) - start - 1
        wrong = (output[end] + 1) % vocabulary_size
        drafts.append([*output[start:end], *[wrong] * (width - tokens + 1)])
        start = end + 1
    return drafts


def prepare_drafts(tokenizer: Tokenizer, geometry: Geometry, sources: Sequence[str], outputs: Sequence[Sequence[int]]) -> Drafts:
    """Drafts for `sources` with the greedy `outputs` (ids), such that every output takes the `rounds` of `geometry`."""
    ids = (tuple(tokenizer.add_special_tokens(tokenizer.encode(source))) for source in sources)
    accepted, size = accepted_tokens(geometry, len(sources)), geometry.shape.vocabulary_size
    return {
        source: recorded_drafts(output, tokens, geometry.block_size, size)
        for source, output, tokens in zip(ids, outputs, accepted, strict=True)
    }


def random_bundle(geometry: Geometry) -> "Bundle":
    """A bundle of the geometry's shape with random weights from a fixed seed; it never emits EOS before the length limit.

    It has a block drafter unless the geometry's block size is 0.
    """
    import torch

    from specdec_cli.model.bundle import Bundle, BundleInfo
    from specdec_cli.model.drafter import BlockDrafter
    from specdec_cli.model.drafter_config import DrafterConfig
    from specdec_cli.model.transformer import Transformer

    torch.manual_seed(_SEED)
    verifier = Transformer(geometry.shape).eval()
    with torch.no_grad():
        # The logit of EOS is 0, and some other logit is always larger.
        verifier.output.weight[geometry.shape.eos] = 0.0
    drafter = None
    if geometry.block_size:
        layers, inner = geometry.drafter_layers, geometry.shape.feed_forward
        prefix, size, shortlist = geometry.drafter_prefix, geometry.block_size, geometry.shortlist
        shape = DrafterConfig(prefix=prefix, layers=layers, feed_forward=inner, max_block=size, shortlist=shortlist)
        drafter = BlockDrafter(shape, verifier).eval()
    tokenizer = _tokenizer(geometry.shape.vocabulary_size)
    return Bundle(BundleInfo(source_language="", target_language="", decoding="greedy"), tokenizer, verifier, drafter)


def _tokenizer(size: int) -> Tokenizer:
    """A tokenizer with a token for each word "t<id>"."""
    import tokenizers

    from specdec_cli.text.tokenize.converted import ConvertedTokenizer, TokenizerConfig
    from specdec_cli.text.tokenize.segmenters import TokenizersSegmenter

    vocabulary = [*_SPECIAL, *(piece(token) for token in range(len(_SPECIAL), size))]
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    config = TokenizerConfig("tokenizers", ("tokenizer.json",), unknown="<unk>", mask=MASK_PIECE, after=("</s>",))
    return ConvertedTokenizer(config, TokenizersSegmenter(words, config.files[0]), vocabulary, None, "", "", Path(config.files[0]))


@dataclass
class RecordedState:
    """The state of a RecordedDrafter for B rows: `inner` is the state of the wrapped drafter.

    `ids` (B, R, K) are the prepared drafts of R rounds, padded to K tokens; `counts` (B, R) are their lengths.
    """

    inner: Any
    ids: "Tensor"
    counts: "Tensor"


class RecordedDrafter:
    """A Drafter that calls `drafter`, discards its draft, and returns a prepared one.

    `drafts` has the drafts of each source, one for each round, by the ids of the source; `padding` is the padding id.
    """

    def __init__(self, drafter: "Drafter", drafts: Drafts, padding: int) -> None:
        self._drafter, self._padding, self.capturable, self.reads_sentences = drafter, padding, drafter.capturable, True
        self.limit = drafter.limit
        self._drafts = {source: _stacked(rounds) for source, rounds in drafts.items()}

    def begin(self, state: "State", sentences: "Sequence[Sentence]") -> RecordedState:
        """Call the wrapped drafter's `begin`; return its state with the prepared drafts of the rows' sources.

        Raises KeyError for a source without prepared drafts.
        """
        import torch

        sources = [tuple(token for token in row if token != self._padding) for row in state.source.tolist()]
        ids, counts = zip(*(self._drafts[source] for source in sources), strict=True)
        device = state.source.device
        return RecordedState(self._drafter.begin(state, sentences), torch.stack(ids).to(device), torch.stack(counts).to(device))

    def propose(self, state: "State", memory: RecordedState, size: int) -> "Draft":
        """Let the wrapped drafter draft, for the time it takes; return the prepared draft (B, k) of each row's current round."""
        from specdec_cli.decoding.state import Draft
        from specdec_cli.model.cache import steps

        self._drafter.propose(state, memory.inner, size)
        rows, rounds = steps(len(state.rounds), state.rounds.device), state.rounds.clamp_max(memory.ids.shape[1] - 1)
        counts = memory.counts[rows, rounds]
        return Draft(memory.ids[rows, rounds], counts)

    def observe(self, state: "State", memory: RecordedState, verdict: "Verdict") -> None:
        """Pass `state` and `verdict` to the wrapped drafter's `observe`."""
        self._drafter.observe(state, memory.inner, verdict)


def _stacked(rounds: Sequence[Sequence[int]]) -> "tuple[Tensor, Tensor]":
    """Drafts as one tensor (R, K), and their lengths (R,)."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    return pad_sequence([torch.tensor(draft, dtype=torch.long) for draft in rounds], batch_first=True), torch.tensor(list(map(len, rounds)))


class RecordedRunner(BundleRunner):
    """A BundleRunner that decodes only the sources of `geometry`, and replaces drafts by prepared ones.

    They are made from the greedy outputs, such that every output takes the `rounds` of `geometry`.
    """

    def __init__(self, model: ModelChoice, machine: MachineOptions, geometry: Geometry) -> None:
        super().__init__(model, machine, split=False)
        self._geometry, self._drafts = geometry, dict[tuple[int, ...], Sequence[Sequence[int]]]()

    def engine(self, row: Row, lines: Sequence[str] = ()) -> SentenceDecoder:
        """A new engine for `row`, whose drafts are the prepared ones."""
        engine = super().engine(row, lines)
        if row.drafts and isinstance(engine, NativeEngine):
            engine.recorded = self._prepared(row)
        return engine

    def reference(self, row: Row, kind: "type[E]", lines: Sequence[str] = ()) -> "E":
        """A new reference engine for `row`, whose drafter is a RecordedDrafter."""
        engine = super().reference(row, kind, lines)
        if row.drafts:
            engine.drafter = RecordedDrafter(engine.drafter, self._prepared(row), engine.verifier.config.padding)
        return engine

    def _prepared(self, row: Row) -> Drafts:
        if not self._drafts:
            sources = make_sources(self._geometry)
            outputs = self.run(Row("greedy", threads=row.threads).changed(max_length=self._geometry.length), sources).outputs
            tokenizer = self.open(row)[0].tokenizer
            self._drafts |= prepare_drafts(tokenizer, self._geometry, sources, [output.sentences[0] for output in outputs])
        return self._drafts


@dataclass(frozen=True)
class Measurement:
    """The results of a geometry: greedy decoding and decoding with drafts by specdec, then the rows of CTranslate2 at its fastest settings.

    `profile` has the seconds of the row with drafts in "encoder", "drafter", "verifier" and "others" (None: not asked for).
    """

    geometry: Geometry
    outcome: Outcome

    @property
    def results(self) -> list[Result]:
        """The results of the rows."""
        names = {"geometry": self.geometry.name}
        precision = self.outcome.environment["precision"]
        labels = ({**names, "precision": r.settings.get("compute_type", precision), "recorded": r.row.drafts} for r in self.outcome.results)
        return [replace(result, settings=own | result.settings) for result, own in zip(self.outcome.results, labels, strict=True)]

    @property
    def profile(self) -> dict[str, float] | None:
        """The seconds of the row with drafts by part of the model; None if they were not asked for."""
        return self.outcome.profiles.get(self.geometry.decoding)

    @property
    def speedups(self) -> dict[str, float]:
        """The speedup of the row with drafts over each of the other rows, by the name of the other's decoding."""
        _, drafting, *_ = results = self.outcome.results
        speed = drafting.number("tokens_per_second")
        return {other.row.decoding: speed / other.number("tokens_per_second") for other in results if other is not drafting}


def measure_geometries(
    geometries: Sequence[Geometry], machine: MachineOptions, repetitions: int, beam_size: int, profile: bool, progress: Progress
) -> list[Measurement]:
    """Measure one geometry after the other; the rows of a geometry take turns. Raises SpecdecError if a process fails.

    The time of the modules is measured too, with `profile`; CTranslate2 has a beam of `beam_size` hypotheses.
    """
    return [_measure(geometry, machine, repetitions, beam_size, profile, progress) for geometry in geometries]


def _measure(
    geometry: Geometry, machine: MachineOptions, repetitions: int, beam_size: int, profile: bool, progress: Progress
) -> Measurement:
    greedy = Row("greedy").changed(beam_size=beam_size, max_length=geometry.length)
    drafting = greedy.changed(decoding=geometry.decoding, block_size=geometry.block_size or None)
    opponents = (replace(greedy, decoding=name, variant=BEST) for name in geometry.opponents)
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        with Process(WORKER, f"--synthetic, {geometry.name}") as process:
            process.call("make_synthetic", geometry.to_dict(), temporary)
        plan = Plan(
            ModelChoice(temporary),
            Examples("random tokens", tuple(make_sources(geometry)), None),
            (greedy, drafting, *opponents),
            machine,
            repetitions=repetitions,
            split=False,
            profile=profile,
            geometry=geometry.to_dict(),
        )
        outcome = run([plan], progress)
    environment = outcome.environment | {"model": "random weights"}
    return Measurement(geometry, replace(outcome, environment=environment))


def to_record(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """The JSON object of a synthetic bench: that of `bench --json`, and shape, acceptance and speedups of each geometry."""
    results = [result for measurement in measurements for result in measurement.results]
    last = measurements[-1].outcome
    return to_json(results, last.environment, last.examples, {}) | {
        "synthetic": {
            measurement.geometry.name: {
                **measurement.geometry.to_dict(),
                "tokens_per_round": measurement.geometry.tokens_per_round,
                "speedup_vs": {name: round(speedup, 3) for name, speedup in measurement.speedups.items()},
                "seconds_by_module": measurement.profile,
            }
            for measurement in measurements
        }
    }


def description(geometry: Geometry) -> str:
    """The shape of a geometry and its acceptance, in words."""
    shape = geometry.shape
    reads = {"states": "the verifier's states", "own": "the prefix"}[geometry.drafter_prefix]
    layers = f"{geometry.drafter_layers} layer{'' if geometry.drafter_layers == 1 else 's'} over {reads}"
    drafter = f"a drafter of {layers}, blocks of {geometry.block_size}" if geometry.block_size else "no drafter"
    return (
        f"{geometry.name}: {shape.encoder_layers}+{shape.decoder_layers} layers, width {shape.width:,}, {shape.heads} heads, feed-forward "
        f"{shape.feed_forward:,}, vocabulary {shape.vocabulary_size:,}; {drafter}; {geometry.tokens_per_round:g} tokens a round accepted "
        f"as recorded; outputs of {geometry.length} tokens, one at a time"
    )
