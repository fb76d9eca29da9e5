"""What options mean: the resolved decoding, and the options of the native engine, for many options and bundles, as stored.

`UPDATE_GOLDEN=1 pytest tests/engines/test_resolved_decodings.py` stores them anew. Of a result only what is not usual is named; options
with the same result stand in one line.
"""

import ctypes
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specdec_cli.benchmark.rows import Row, parse_row
from specdec_cli.benchmark.runs import options_of as options_of_row
from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.methods import DECODINGS, OPTIONS
from specdec_cli.decoding.options import Decoding, DecodingOptions, own_options, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines import native as native_engine
from specdec_cli.engines import native_drafts
from specdec_cli.engines.native import NativeEngine
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle_info import BundleInfo
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import AnyDrafterConfig, DrafterConfig, HeadsConfig
from specdec_cli.native.model import Resources, options_of, queue_of
from tests.tables import tables

TEXTS = tables(__file__)

STORED = Path(__file__).parent.parent / "golden" / "decodings.txt"
COSTS = Costs((2, 5), (1.0, 2.0), ((1.2, 1.5), (2.5, 4.0)), ((0.2, 0.5), (0.5, 1.0)))
SHAPE = TransformerConfig(320, width=32, feed_forward=64, heads=2, encoder_layers=1, decoder_layers=2, max_positions=64)
BLOCK = DrafterConfig(layers=1, feed_forward=64, max_block=15, chain=16, candidates=8)
CONVERTED = BundleInfo(
    task="summarise",
    decoding="beam",
    max_length=40,
    min_length=3,
    no_repeat_ngram_size=3,
    source_ngram_size=4,
    repetition_penalty=1.2,
    most_copies=2,
    forced_end=True,
    beam_size=4,
    length_penalty=0.6,
    beam_stop="fairseq",
    presets={"high-quality": (2, 0.5), "fast": (7, 4.0)},
)
RULES = {"task": "correct", "target_language": "en", "modes": {"careful": (1.0, 2.0), "thorough": (0.0, 0.0)}, "margins": {"thorough": 0.5}}


@dataclass(frozen=True)
class Described:
    """A bundle without files."""

    info: BundleInfo
    shape: TransformerConfig = SHAPE
    drafter_config: AnyDrafterConfig | None = None
    shared: bool = True
    forced: int | None = None
    path: Path = Path("/bundle/bundle.json")
    ngrams: None = None
    lexicon: None = None
    labels: None = None

    @property
    def tokenizer(self) -> Any:
        return SimpleNamespace(
            shared=self.shared,
            special_tokens=SimpleNamespace(forced=self.forced),
            word_starts=lambda: [True] * SHAPE.vocabulary_size,
            forms=lambda: (bytes(4 * SHAPE.vocabulary_size), bytes(4 * SHAPE.vocabulary_size)),
        )


BUNDLES = {
    "block drafter": Described(BundleInfo(block_size=12, most_copies=2, longest_sentence=55), drafter_config=BLOCK),
    "another drafter": Described(BundleInfo(), drafter_config=replace(BLOCK, encoder="own")),
    "heads": Described(BundleInfo(), drafter_config=HeadsConfig()),
    "corrector": Described(BundleInfo(**RULES)),  # type: ignore[arg-type]
    "masked": Described(BundleInfo(), replace(SHAPE, order="masked", positions="learned")),
    "bidirectional": Described(BundleInfo(), replace(SHAPE, order="bidirectional", positions="learned")),
    "converted": Described(CONVERTED, replace(SHAPE, source_vocabulary_size=400, shared_embeddings=False), shared=False, forced=9),
    "bare": Described(BundleInfo()),
    "unknown decoding": Described(BundleInfo(decoding="magic")),
}
CHAINS = ("lookup,gs-jacobi", "input-guided,jacobi", "lookup,specdec", "lookup,beam", "lookup,magic", "magic")
BASES = {
    "a plain base": Row("greedy"),
    "a full base": Row("greedy", None).changed(
        block_size=9, top_beta=4, tolerance=1.5, match="unique-3", jacobi_length=9, length_beam=3, beam_size=3, length_penalty=0.5
    ),
    "scores": Row("greedy", None, min_score=0.5).changed(block_size="auto", mode="thorough", max_length=30, batch_size=4),
    "a mode": Row("greedy").changed(mode="careful"),
}


def options(decoding: str, change: Mapping[str, Any]) -> DecodingOptions:
    return DecodingOptions(decoding=decoding, **change)


def in_words(value: Any) -> str:
    if is_dataclass(value):
        return type(value).__name__.lower() + "(" + ", ".join(f"{getattr(value, field.name)}" for field in fields(value)) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)


def resolved(decoding: Decoding) -> dict[str, Any]:
    """The resolved decoding by neutral names."""
    return {
        "rule": in_words(decoding.acceptance),
        "block_size": decoding.block_size,
        "adaptive": decoding.adaptive,
        "may_skip": decoding.may_skip,
        **own_options(decoding),
        "beam_size": decoding.search.beam_size,
        "length_penalty": decoding.search.length_penalty,
        "stop_of_search": decoding.search.stop,
        "n_best": decoding.search.n_best,
        "max_length": decoding.max_length,
        "order": decoding.order,
        "batch_size": decoding.batch_size,
        "memory": decoding.memory,
        "with_scores": decoding.with_scores,
        "given_block_size": decoding.given_block_size,
        "longest_sentence": decoding.longest_sentence,
        "copies_tidied": decoding.tidies_copies,
    }


def unusual(values: Mapping[str, Any], usual: Mapping[str, Any] = TEXTS.usual) -> str:
    return " ".join(
        f"{name}={in_words(value)}" for name, value in values.items() if value != usual.get(name, 0) and value is not False and value != []
    )


ADDRESSES = ("word_starts", "forms", "source_forms", "adaptive", "memory")


def flat(struct: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a C structure and of those in it, by name."""
    for name, kind in struct._fields_:
        value = getattr(struct, name)
        yield from flat(value) if hasattr(kind, "_fields_") else [(name, value)]


class Recorder:
    """A NativeModel that records the options with which it is to decode."""

    instructions = "none"

    def __init__(self, *arguments: Any) -> None:
        self.options, self.has_drafter = list[str](), len(arguments) > 2

    def capacity(self, *_: int) -> int:
        return 64

    def decode(self, sentences: Sequence[Sentence], decoding: Decoding, resources: Resources, *_: Any) -> Iterator[Any]:
        values = dict(flat(options_of(decoding, resources)))
        values |= {"batch": values.pop("batch_size")} | {name: bool(values[name]) for name in ADDRESSES}
        queue, arrays = queue_of(sentences, decoding, resources)
        assert len(arrays) >= 2
        values["drafts"] = bool(queue.texts)
        for name in ("first_drafts", "prefix_lengths"):
            address = getattr(queue, name)
            values[name] = list((ctypes.c_int32 * len(sentences)).from_address(address)) if address else []
        self.options.append(unusual({name: values.get(name, 0) for name in TEXTS.order}, TEXTS.usual_native))
        return iter(())


def native(bundle: Any, decoding: Decoding) -> str:
    """What the native engine is asked for: for plain sentences, one with a copy, and one that comes with a draft."""
    engine = NativeEngine(bundle, decoding, 2)
    source = [5, 6, SHAPE.eos]
    engine.decode([Sentence(number, source) for number in range(32)]).__iter__()
    lists = [[Sentence(number, source) for number in range(40)], [Sentence(0, source, copy=[7, SHAPE.eos])]]
    lists.append([Sentence(0, source, draft=[7, 8, SHAPE.eos], first=2, prefix=1)])
    for sentences in lists:
        assert list(engine.decode(sentences)) == []
    recorder: Any = engine._model
    return f"{engine.decoding.method} {engine.decoding.block_size} {engine.workers} " + " / ".join(recorder.options)


def compressed(text: str, known: dict[str, str]) -> str:
    """A number for a long text, which `known` collects."""
    return known.setdefault(text, f"native {len(known) + 1}")


def table() -> Iterator[str]:
    known: dict[str, str] = {}
    for name, bundle in BUNDLES.items():
        for decoding in ("auto", *DECODINGS, *CHAINS):
            found: dict[str, list[str]] = defaultdict(list)
            for change in (*TEXTS.changes, *(TEXTS.invalid if decoding in ("auto", "greedy") else ())):
                described = " ".join(f"{key}={value}" for key, value in change.items()) or "nothing"
                try:
                    resolved_decoding = resolve(options(decoding, change), bundle)
                except (UsageError, ModelError) as error:
                    result = f"{type(error).__name__}: {error}"
                else:
                    try:
                        engine = compressed(native(bundle, resolved_decoding), known)
                    except (UsageError, ModelError) as error:
                        engine = f"{type(error).__name__}: {error}"
                    result = f"{resolved_decoding.method} {unusual(resolved(resolved_decoding))}; {engine}"
                found[result].append(described)
            yield f"{name}, {decoding}:"
            yield from (f"  {' | '.join(changes)} -> {result}" for result, changes in found.items())
    yield from (f"{number}: {text}" for text, number in known.items())
    for name, base in BASES.items():
        for row in TEXTS.rows:
            try:
                asked = options_of_row(parse_row(row, base), BUNDLES["corrector"].info)
            except UsageError as error:
                yield f"row {row}, {name}: {error}"
                continue
            own = " ".join(f"{name}={getattr(asked, name)}" for name in sorted(OPTIONS) if getattr(asked, name) is not None)
            values = {name: getattr(asked, name, None) for name in TEXTS.names} | {"options": own}
            given = {key: in_words(value) for key, value in values.items() if value not in (None, 0, "")}
            yield f"row {row}, {name}: {' '.join(f'{key}={value}' for key, value in given.items())}"


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines without weights, with costs at which drafts pay."""
    monkeypatch.setattr(native_engine, "NativeModel", Recorder)
    monkeypatch.setattr(native_drafts, "round_costs", lambda *_: COSTS)
    monkeypatch.setattr(native_drafts, "stored_costs", lambda _: COSTS)
    monkeypatch.setattr(Costs, "can_pay", lambda *_: True)
    trial = SimpleNamespace(pays=None, measured=None, go_on=lambda _: None)
    monkeypatch.setattr(native_drafts.DraftSizes, "_trial", lambda *_: trial)


def test_options_mean_what_is_stored() -> None:
    lines = list(table())
    if "UPDATE_GOLDEN" in os.environ:
        STORED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert lines == STORED.read_text(encoding="utf-8").splitlines()
