"""`specdec bench --synthetic`: what a round costs on this machine, with models of common shapes, random weights and recorded acceptance.

The drafts of a model are replaced by prepared ones, which set the acceptance rate. The drafter still computes its own drafts, so that the
measured time is that of real decoding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tokenizers
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from specdec_cli.benchmark.geometries import Geometry, accepted_tokens, choose_geometries, make_sources, piece
from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.measure import WORKER, Plan, Progress, run
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.results import Outcome
from specdec_cli.benchmark.rows import BEST, Row, parse_row
from specdec_cli.benchmark.runs import BundleRunner
from specdec_cli.benchmark.tables import View, batches_table, beside, environment_lines, profile_table, synthetic_table
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.cache import steps
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.transformer import Transformer
from specdec_cli.opening.models import ModelChoice
from specdec_cli.processes import Process
from specdec_cli.text.tokenize.converted import ConvertedTokenizer, TokenizerConfig
from specdec_cli.text.tokenize.segmenters import TokenizersSegmenter
from specdec_cli.text.tokenize.sentencepiece import MASK_PIECE
from specdec_cli.text.tokenize.tokenizer import Tokenizer

Drafts = Mapping[tuple[int, ...], Sequence[Sequence[int]]]
"""The prepared drafts of each source, one for each round, by the ids of the source."""
_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", MASK_PIECE)
_SEED = 1


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


def random_bundle(geometry: Geometry) -> Bundle:
    """A bundle of the geometry's shape with random weights from a fixed seed; it never emits EOS before the length limit.

    The bundle has a block drafter, unless the geometry's block size is 0.
    """
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
    vocabulary = [*_SPECIAL, *(piece(token) for token in range(len(_SPECIAL), size))]
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "<unk>"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    config = TokenizerConfig("tokenizers", ("tokenizer.json",), unknown="<unk>", mask=MASK_PIECE, after=("</s>",))
    return ConvertedTokenizer(config, TokenizersSegmenter(words, config.files[0]), vocabulary, None, "", "", Path(config.files[0]))


RecordedState = tuple[Any, "Tensor", "Tensor"]
"""The state of a RecordedDrafter for B rows: that of the wrapped drafter, and the prepared drafts of R rounds, padded to K tokens
(B, R, K), with their lengths (B, R).
"""


class RecordedDrafter:
    """A Drafter for timing: it runs `drafter`, so that its time is measured, but returns a draft that was recorded before.

    `drafts` has the drafts of each source, one for each round, by the ids of the source; `padding` is the padding id.
    """

    reads_sentences = True

    def __init__(self, drafter: Drafter, drafts: Drafts, padding: int) -> None:
        self._drafter, self._padding, self.capturable, self.limit = drafter, padding, drafter.capturable, drafter.limit
        self._drafts = {source: _stacked(rounds) for source, rounds in drafts.items()}

    def begin(self, state: State, sentences: Sequence[Sentence]) -> RecordedState:
        """Call the wrapped drafter's `begin`; return its state with the prepared drafts of the rows' sources.

        Raises KeyError for a source without prepared drafts.
        """
        sources = [tuple(token for token in row if token != self._padding) for row in state.source.tolist()]
        ids, counts = zip(*(self._drafts[source] for source in sources), strict=True)
        device = state.source.device
        return self._drafter.begin(state, sentences), torch.stack(ids).to(device), torch.stack(counts).to(device)

    def propose(self, state: State, memory: RecordedState, size: int) -> Draft:
        """Let the wrapped drafter draft, for the time it takes; return the prepared draft (B, k) of each row's current round."""
        inner, ids, counts = memory
        self._drafter.propose(state, inner, size)
        rows, rounds = steps(len(state.rounds), state.rounds.device), state.rounds.clamp_max(ids.shape[1] - 1)
        return Draft(ids[rows, rounds], counts[rows, rounds])

    def observe(self, state: State, memory: RecordedState, verdict: Verdict) -> None:
        """Pass `state` and `verdict` to the wrapped drafter's `observe`."""
        self._drafter.observe(state, memory[0], verdict)


def _stacked(rounds: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Drafts as one tensor (R, K), and their lengths (R,)."""
    return pad_sequence([torch.tensor(draft, dtype=torch.long) for draft in rounds], batch_first=True), torch.tensor(list(map(len, rounds)))


class RecordedRunner(BundleRunner):
    """A BundleRunner that decodes only the sources of the geometry of its conditions, and replaces drafts by prepared ones.

    They are made from the greedy outputs, such that every output takes the `rounds` of the geometry.
    """

    @cached_property
    def _drafts(self) -> Drafts:
        geometry = self.conditions.geometry
        assert geometry is not None
        sources, greedy = make_sources(geometry), Row("greedy", threads=self.row.threads).changed(max_length=geometry.length)
        outputs = BundleRunner(self.conditions, greedy, self._load).run(sources).outputs
        return prepare_drafts(self.bundle.tokenizer, geometry, sources, [output.sentences[0] for output in outputs])

    def engine(self, lines: Sequence[str] = ()) -> SentenceDecoder:
        engine = super().engine(lines)
        if self.row.drafts and isinstance(engine, NativeEngine):
            engine.recorded = self._drafts
        return engine

    def reference(self, lines: Sequence[str] = ()) -> Engine:
        engine = super().reference(lines)
        if self.row.drafts:
            engine.drafter = RecordedDrafter(engine.drafter, self._drafts, engine.verifier.config.padding)
        return engine


_EXPLANATION = "Random weights, and drafts accepted as recorded: this measures what a round costs on this machine, and no model."
Outcomes = Mapping[Geometry, Outcome]
"""The outcome of each geometry: greedy decoding and decoding with drafts by specdec, then CTranslate2 at its fastest settings."""


def measure_geometries(options: BenchOptions, progress: Progress) -> Outcomes:
    """Measure one chosen geometry after the other (see `choose_geometries`), with the block size of `options` if that is a number.

    The rows of a geometry take turns; CTranslate2 has a beam of `beam_size` hypotheses. With `profile`, the time of the modules is measured
    too. Raises UsageError for a block size that is too small for the rounds of a geometry, and SpecdecError if a process fails.
    """
    size = options.block_size
    chosen = choose_geometries(options.geometries or ())
    geometries = [each.with_block_size(size) if isinstance(size, int) else each for each in chosen]
    return {each: _measure(each, options, progress) for each in geometries}


def _measure(geometry: Geometry, options: BenchOptions, progress: Progress) -> Outcome:
    greedy = Row("greedy").changed(beam_size=options.beam_size or BEAM_SIZE, max_length=geometry.length)
    drafting = greedy.changed(decoding=geometry.decoding, block_size=geometry.block_size or None)
    if geometry.batches:
        rows: tuple[Row, ...] = (greedy, *(parse_row(name, greedy) for name in geometry.opponents))
    else:
        rows = (greedy, drafting, *(replace(greedy, decoding=name, variant=BEST) for name in geometry.opponents))
    sweep = {"batch-size": geometry.batches} if geometry.batches else {}
    examples = Examples("random tokens", tuple(make_sources(geometry)), None)
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        with Process(WORKER, f"--synthetic, {geometry.name}") as process:
            process.call("make_synthetic", geometry, Path(temporary))
        models = {"": ModelChoice(temporary)}
        outcome = run(Plan(options, models, rows, "translate", examples, sweep, geometry), progress)
    own, precision = {"geometry": geometry.name}, outcome.environment["precision"]
    results = [
        replace(one, settings=own | {"precision": one.settings.get("compute_type", precision), "recorded": one.row.drafts} | one.settings)
        for one in outcome.results
    ]
    return replace(outcome, results=results, environment=outcome.environment | {"model": "random weights"})


def to_record(outcomes: Outcomes) -> dict[str, Any]:
    """The JSON object of a synthetic bench: that of `bench --json`, and shape, acceptance and speedups of each geometry."""
    *_, last = outcomes.values()
    shapes = {
        geometry.name: {
            **asdict(geometry),
            "tokens_per_round": geometry.tokens_per_round,
            "speedup_vs": _speedups(outcome),
            "seconds_by_module": outcome.profiles.get(geometry.decoding),
        }
        for geometry, outcome in outcomes.items()
    }
    results = [result for outcome in outcomes.values() for result in outcome.results]
    return Outcome(results, last.environment, last.examples, views={"synthetic": shapes}).to_json()


def _speedups(outcome: Outcome) -> dict[str, float]:
    """The speedup of the row with drafts, the second one, over each of the other rows, by the name of the other's decoding; or that of
    greedy decoding over CTranslate2, by the size of batches.
    """
    if not any(result.row.drafts for result in outcome.results):
        return {
            str(one.row.options.batch_size): round(one.number("tokens_per_second") / other.number("tokens_per_second"), 3)
            for one, other in beside(outcome.results)
        }
    greedy, drafting, *others = ((result.row.decoding, result.number("tokens_per_second")) for result in outcome.results)
    return {name: round(drafting[1] / speed, 3) for name, speed in (greedy, *others)}


def print_synthetic(outcomes: Outcomes, markdown: bool) -> None:
    """Print the machine, and the shape and the table of each geometry, for a terminal or in Markdown."""
    view = View(markdown)
    *_, last = outcomes.values()
    view.paragraph(_EXPLANATION, *environment_lines(last.environment, last.examples))
    for geometry, outcome in outcomes.items():
        view.paragraph(description(geometry))
        view.table((batches_table if geometry.batches else synthetic_table)(outcome.results))
        if outcome.profiles:
            view.table(profile_table(outcome.profiles, last.examples["sentences"], outcome.iterations))


def description(geometry: Geometry) -> str:
    """The shape of a geometry and its acceptance, in words."""
    shape = geometry.shape
    reads = {"states": "the verifier's states", "own": "the prefix"}[geometry.drafter_prefix]
    layers = f"{geometry.drafter_layers} layer{'' if geometry.drafter_layers == 1 else 's'} over {reads}"
    drafter = f"a drafter of {layers}, blocks of {geometry.block_size}" if geometry.block_size else "no drafter"
    sizes = (
        f"{geometry.name}: {shape.encoder_layers}+{shape.decoder_layers} layers, width {shape.width:,}, {shape.heads} heads, feed-forward "
        f"{shape.feed_forward:,}, vocabulary {shape.vocabulary_size:,}"
    )
    if geometry.batches:
        return f"{sizes}; outputs of {geometry.length} tokens; start: processor time until the model is loaded"
    accepted = f"{geometry.tokens_per_round:g} tokens a round accepted as recorded"
    return f"{sizes}; {drafter}; {accepted}; outputs of {geometry.length} tokens, one at a time"
