"""Decodes with the native engine in many ways, without torch, and checks that all agree: what the sanitizers watch.

Usage: python -m tests.native.exercise [--short] [INSTRUCTION_SET ..]

--short decodes fewer and shorter sentences, in fewer ways, and runs the best instruction set alone.
"""

import ctypes
import gc
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from specdec_cli.decoding.bridge import Bridge
from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.lengths import fixed
from specdec_cli.decoding.methods import GIVEN
from specdec_cli.decoding.options import Constraints, Sampled
from specdec_cli.engines.native_costs import NativeBlockSize
from specdec_cli.model.bundle_info import BeamStop, BundleDescription, describe_bundle
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.draft_model import NativeDraftModel
from specdec_cli.native.library import HEADER, NativeError, load_library
from specdec_cli.native.model import NativeModel, NgramMemory
from specdec_cli.native.tensors import drafter_tensors
from specdec_cli.opening.models import SHIPPED
from tests.native.decoding_requests import Request, decode

SHORT = "--short" in sys.argv[1:]
AMOUNTS = {"scalar": (5, 8)}
"""Sentences, and their largest number of tokens without EOS, for instruction sets that are slow."""
AMOUNT = (6, 10) if SHORT else (10, 24)
"""Those for the others."""

Expected = dict[tuple[int, str, str, int], object]
"""What was decoded, by the number of sentences, the name of the list of requests, the decoding and the number of the request."""
WAYS = ((1, 3), (3, 2)) if SHORT else ((1, 1), (1, 5), (1, 3), (3, 1), (4, 3))
"""Sentences in a batch, and threads."""
COSTS = Costs((2, 5), (1.0, 2.0), ((1.2, 1.5), (2.5, 4.0)), ((0.2, 0.5), (0.5, 1.0)))


def copying(bundle: BundleDescription) -> Iterator[list[Request]]:
    """Requests without a drafter, by decoding; those of one list have the same output and the same rounds."""
    word_starts = bytes(bundle.tokenizer.word_starts())
    for decoding, size, match in (
        ("greedy", 0, "nearest"),
        ("lookup", 5, "nearest"),
        *(("input-guided", 0, m) for m in ("unique", "nearest")),
    ):
        common = (decoding, match, size)
        yield [Request(*common, batch, threads, 20, with_scores=True, word_starts=word_starts) for batch, threads in WAYS]
    yield [Request("input-guided", batch=batch, threads=threads, word_starts=word_starts, margin=1.0) for batch, threads in WAYS]
    for decoding, size, tokens, whole in (("jacobi", 0, 9, False), ("jacobi", 0, 2**40, True), ("gs-jacobi", 7, 3, True)):
        common = (decoding, "nearest", size)
        yield [Request(*common, batch, threads, 20, with_scores=True, whole=whole, lengths=fixed(tokens)) for batch, threads in WAYS]
    for decoding, size in (("greedy", 0), ("lookup", 5), ("input-guided", 0)):
        drawn = Request(decoding, block_size=size, max_length=20, word_starts=word_starts, sampled=Sampled(0.7, 9, 3))
        yield [replace(drawn, batch=batch, threads=threads) for batch, threads in WAYS]


def searching(bundle: BundleDescription) -> Iterator[list[Request]]:  # noqa: ARG001
    """Requests of beam search, by beam size and stopping rule."""
    rules: tuple[tuple[int, BeamStop, int | None], ...] = ((1, "never", None), (5, "heuristic", None), (9, "fairseq", 9))
    for size, stop, forced in rules:
        common = Request("beam", max_length=6, forced=forced, beam_size=size, n_best=size, stop=stop, length_penalty=0.6)
        yield [replace(common, batch=batch, threads=threads) for batch, threads in WAYS]


CONSTRAINTS: dict[str, Any] = {
    "min_length": 9,
    "no_repeat_ngram_size": 2,
    "source_ngram_size": 3,
    "repetition_penalty": 1.2,
    "forced_end": True,
    "most_copies": 1,
}


def constrained(bundle: BundleDescription) -> Iterator[list[Request]]:
    """Requests with constraints, by decoding."""
    word_starts = bytes(bundle.tokenizer.word_starts())
    for decoding, size in (("greedy", 0), ("lookup", 5), ("input-guided", 0), ("beam", 0)):
        common = Request(decoding, block_size=size, max_length=12, beam_size=5, n_best=5, **CONSTRAINTS)
        common = replace(common, word_starts=word_starts, forms=bundle.tokenizer.forms())
        yield [replace(common, batch=batch, threads=threads, with_scores=decoding != "beam") for batch, threads in WAYS]
    yield [Request(max_length=30, min_length=1000, forced_end=True)]  # a capacity above that of the source


def check_drafted_texts(bundle: BundleDescription, model: NativeModel, sources: list[list[int]]) -> None:
    """Decode with given drafts and with a memory; the output is that of greedy decoding."""
    generator = random.Random(2)
    greedy = Request(max_length=20, forms=bundle.tokenizer.forms())
    expected = {each.number: each.ids for each in decode(model, sources, greedy)}
    eos, word_starts = bundle.shape.eos, bytes(bundle.tokenizer.word_starts())
    drafts = [[*(token for token in expected[n] if token != eos and generator.random() < 0.8), eos] for n in range(len(sources))]
    drafts[3] = [*drafts[3][:-1] * 40, eos]  # longer than any output
    bounds = [generator.choice((0, 1, 3)) for _ in sources]
    memory = NgramMemory(bundle.shape.vocabulary_size, max(threads for _, threads in WAYS))
    for batch, threads in WAYS:
        common = replace(greedy, batch=batch, threads=threads, with_scores=True)
        given = replace(common, decoding=GIVEN, word_starts=word_starts, drafts=drafts, first_drafts=bounds)
        copied = replace(common, decoding="input-guided", word_starts=word_starts, first_drafts=bounds)
        other = replace(copied, drafts=drafts)
        remembered = replace(common, decoding="ngram-memory", block_size=4, memory=memory.address)
        for request in (given, replace(given, **CONSTRAINTS), copied, other, remembered):
            same = (
                {each.number: each.ids for each in decode(model, sources, replace(greedy, **CONSTRAINTS))}
                if request.min_length
                else expected
            )
            assert {each.number: each.ids for each in decode(model, sources, request)} == same, request.decoding


def check_replaced_drafts(bundle: BundleDescription, model: NativeModel, sources: list[list[int]]) -> None:
    """Decode after given prefixes, and with recorded drafts; the output is that of greedy decoding."""
    generator = random.Random(3)
    expected = {each.number: each.ids for each in decode(model, sources, Request(max_length=20))}
    eos, vocabulary = bundle.shape.eos, range(bundle.shape.vocabulary_size)
    texts = [[*(token for token in expected[n] if token != eos), eos] for n in range(len(sources))]
    prefixed = Request(
        GIVEN,
        max_length=20,
        word_starts=bytes(bundle.tokenizer.word_starts()),
        drafts=texts,
        first_drafts=[0] * len(sources),
        prefix_lengths=[generator.randrange(len(text)) for text in texts],
    )
    recorded = [[[*expected[n][:2], *generator.choices(vocabulary, k=size)][:3] for size in (3, 0)] for n in range(len(sources))]
    drafting = "lookup" if bundle.drafter_config is None else "specdec"
    for batch, threads in WAYS:
        for request in (prefixed, Request(drafting, block_size=3, max_length=20, recorded=recorded)):
            found = decode(model, sources, replace(request, batch=batch, threads=threads, with_scores=True))
            assert {each.number: each.ids for each in found} == expected, request.decoding


def drafting(bundle: BundleDescription) -> Iterator[list[Request]]:
    """Requests with a drafter, by block size and rule."""
    assert isinstance(bundle.drafter_config, DrafterConfig)
    for size, beta in ((1, 0), (3, 2), (bundle.drafter_config.max_block, bundle.shape.vocabulary_size)):
        tolerance = 1e9 if beta else 0.0
        yield [Request("specdec", "nearest", size, *way, 20, with_scores=True, top_beta=beta, tolerance=tolerance) for way in WAYS]


def drafting_by_own_prefix(bundle: BundleDescription) -> Iterator[list[Request]]:
    """Requests with the drafter of `with_own_prefix`."""
    return drafting(bundle)


def with_own_prefix(bundle: BundleDescription, verifier: Path, folder: Path) -> tuple[BundleDescription, NativeModel]:
    """The bundle and its model with a drafter that reads the prefix itself; its weights are random."""
    config = DrafterConfig(prefix="own", layers=2, max_block=5).fitted(bundle.shape)
    file, generator = folder / "drafter.safetensors", np.random.default_rng(0)
    save_file({name: generator.normal(0, 0.1, shape).astype(np.float32) for name, shape in drafter_tensors(config, bundle.shape)}, file)
    return replace(bundle, drafter_config=config), NativeModel(bundle.shape, verifier, config, file)


def check_adaptive_sizes(model: NativeModel, sources: list[list[int]]) -> None:
    """Decode with adaptive sizes, and with drafts left out now and then; the output is that of greedy decoding."""
    expected = {each.number: each.ids for each in decode(model, sources, Request(max_length=20))}
    for batch, threads in WAYS:
        trial = HEADER.structs["trial"]() if threads != 3 else None
        sizes = NativeBlockSize(COSTS, 5, batch, threads, may_skip=True, trial=trial)
        request = Request("specdec", "nearest", 5, batch, threads, 20, adaptive=sizes.address)
        for _ in range(5):
            assert {each.number: each.ids for each in decode(model, sources, request)} == expected


def check_passes(bundle: BundleDescription, model: NativeModel, sources: list[list[int]]) -> None:
    """Decode greedily by passes over rows that the caller keeps: sentences enter and leave at random, drafts have random widths and
    are mostly wrong, and nothing behind a row's tokens is a number. The output is that of greedy decoding.
    """
    generator, shape = random.Random(5), bundle.shape
    expected = {each.number: each.ids for each in decode(model, sources, Request(max_length=12))}
    for threads in (1, 3):
        waiting, rows = list(range(len(sources))), list[dict[str, Any]]()
        while waiting or rows:
            entering = [waiting.pop(0) for _ in range(min(len(waiting), generator.randint(0 if rows else 1, 3)))]
            rows += [encoded(model, shape.width, threads, number, sources[number]) for number in entering]
            count = generator.randint(1, 5)
            drafts = [[*row["ids"][-1:], *generator.choices(range(shape.vocabulary_size), k=count - 1)] for row in rows]
            for row, predicted, draft in zip(rows, predictions(model, shape.width, threads, rows, drafts), drafts, strict=True):
                for token, following in zip(predicted, [*draft[1:], -1], strict=True):
                    row["ids"].append(token)
                    if token == shape.eos or token != following:
                        break
            for row in [row for row in rows if len(row["ids"]) > 12 or shape.eos in row["ids"][1:]]:
                ids = row["ids"][1:13]
                assert ids[: ids.index(shape.eos) + 1 if shape.eos in ids else None] == expected[row["number"]], row["number"]
                rows.remove(row)
            generator.shuffle(rows)


PASS_POSITIONS = 24
"""Positions of an output that `check_passes` keeps."""


def encoded(model: NativeModel, width: int, threads: int, number: int, source: list[int]) -> dict[str, Any]:
    """A row for `check_passes`: its tokens, its source's keys and values, and a cache of numbers that are none."""
    floats, length, ids = model.keys_size(1), len(source), np.array([source])
    memory, states = np.full(length * floats, np.nan, np.float32), np.empty((length, width), np.float32)
    rows = HEADER.structs["rows"](threads, 1, length, ids.ctypes.data)
    lengths = np.array([length])
    rows.lengths, rows.states, rows.memories, rows.memory_size = (
        lengths.ctypes.data,
        states.ctypes.data,
        memory.ctypes.data,
        memory.size,
    )
    model.encode(rows)
    cache = np.full(PASS_POSITIONS * floats, np.nan, np.float32)
    return {"number": number, "ids": [model.config.decoder_start], "source": source, "memory": memory, "length": length, "cache": cache}


def predictions(model: NativeModel, width: int, threads: int, rows: list[dict[str, Any]], drafts: list[list[int]]) -> list[list[int]]:
    """The best tokens after each of the `drafts`, which begin with the last token of their rows; all rows move to one array and back."""
    longest = max(row["memory"].size for row in rows)
    arrays = {
        "ids": np.array(drafts),
        "lengths": np.full(len(rows), len(drafts[0])),
        "memories": np.stack([np.pad(row["memory"], (0, longest - row["memory"].size), constant_values=np.nan) for row in rows]),
        "source_lengths": np.array([row["length"] for row in rows]),
        "indices": np.array([range(len(row["ids"]) - 1, len(row["ids"]) - 1 + len(drafts[0])) for row in rows]),
        "caches": np.stack([row["cache"] for row in rows]),
        "states": np.empty((len(rows), len(drafts[0]), width), np.float32),
    }
    arrays["ends"] = arrays["indices"] + 1
    structure = HEADER.structs["rows"](threads=threads, count=len(rows), width=len(drafts[0]), capacity=PASS_POSITIONS)
    for name, array in arrays.items():
        setattr(structure, name, array.ctypes.data)
    structure.memory_size, structure.cache_size = longest, arrays["caches"].shape[1]
    model.run_decoder(structure)
    for row, cache in zip(rows, arrays["caches"], strict=True):
        row["cache"] = cache.copy()
    count = len(rows) * len(drafts[0])
    logits = np.empty((count, model.config.vocabulary_size), np.float32)
    model.project(threads, count, arrays["states"].ctypes.data, logits.ctypes.data)
    best = logits.argmax(1).reshape(len(rows), -1)
    assert (verified(model, threads, rows, drafts, arrays) == best).all()
    return [list(map(int, row)) for row in best]


def verified(model: NativeModel, threads: int, rows: list[dict[str, Any]], drafts: list[list[int]], arrays: dict[str, Any]) -> Any:
    """What the verification of `drafts` chooses, whose states are those of `arrays`."""
    sources = np.full((len(rows), max(row["length"] for row in rows)), -1)
    tokens = np.full((len(rows), PASS_POSITIONS), -1)
    for number, row in enumerate(rows):
        sources[number, : row["length"]] = row["source"]
        tokens[number, : len(row["ids"])] = row["ids"]
    rules = HEADER.structs["constraints"](forced=-1, repetition_penalty=1.0)
    chosen, states = np.empty(arrays["ids"].shape, np.int64), np.empty_like(arrays["states"])
    given = {
        "drafts": np.array([draft[1:] for draft in drafts], np.int64),
        "drafted": np.full(len(rows), len(drafts[0]) - 1),
        "tokens": tokens,
        "lengths": np.array([len(row["ids"]) for row in rows]),
        "limits": np.full(len(rows), PASS_POSITIONS),
        "sources": sources,
        "states": states,
        "chosen": chosen,
        **{name: arrays[name] for name in ("source_lengths", "memories", "caches")},
    }
    structure = HEADER.structs["verification"](threads=threads, count=len(rows), width=len(drafts[0]) - 1, capacity=PASS_POSITIONS)
    for name, array in given.items():
        setattr(structure, name, array.ctypes.data)
    structure.source_width, structure.constraints = sources.shape[1], ctypes.addressof(rules)
    structure.memory_size, structure.cache_size = arrays["memories"].shape[1], arrays["caches"].shape[1]
    model.verify(structure)
    assert (states == arrays["states"]).all()
    return chosen


class _Shifted(Bridge):
    """A bridge to the same vocabulary that leaves out tokens now and then, so that drafts begin anew at other tokens."""

    def __init__(self, sources: list[list[int]]) -> None:
        self._sources = sources

    def source(self, text: str) -> list[int]:
        return self._sources[len(text) % len(self._sources)]

    def read(self, output: Sequence[int]) -> list[int]:
        return [token for number, token in enumerate(output) if number % 5 or len(output) % 3]

    def continued(self, output: Sequence[int], read: Sequence[int], written: Sequence[int]) -> list[int]:  # noqa: ARG002
        return list(written) * 2


def check_draft_models(bundle: BundleDescription, model: NativeModel, sources: list[list[int]]) -> None:
    """Decode with drafts of the model itself, by ids and by a bridge; the output is that of greedy decoding."""
    expected = {each.number: each.ids for each in decode(model, sources, Request(max_length=20))}
    for bridge in (None, _Shifted(sources)):
        own = NativeDraftModel(model, Constraints(min_length=3), bridge, bundle.shape.max_positions)
        for batch, threads in WAYS:
            request = Request("draft-model", "nearest", 4, batch, threads, 20, draft_model=own)
            assert {each.number: each.ids for each in decode(model, sources, request)} == expected


def in_a_child(model: NativeModel, sources: list[list[int]], request: Request) -> bool:
    """Whether a child process, forked after its parent decoded with threads, decodes too."""
    child = os.fork()
    if child == 0:
        os._exit(0 if len(list(decode(model, sources, request))) == len(sources) else 1)
    return os.waitpid(child, 0)[1] == 0


def exercise(
    bundle: BundleDescription, model: NativeModel, ways: Callable[[BundleDescription], Iterator[list[Request]]], expected: Expected
) -> None:
    """Decode in many ways. Raises AssertionError where two differ."""
    generator = random.Random(1)
    count, longest = AMOUNTS.get(model.instructions, AMOUNT)
    sources = [[*generator.choices(range(8, bundle.shape.vocabulary_size), k=generator.randint(0, longest)), 3] for _ in range(count)]
    sources[1] = [*sources[0][:-1], *sources[0]]
    for number, same in enumerate(ways(bundle)):
        for request in same:
            found = sorted(decode(model, sources, request), key=lambda each: each.number)
            assert expected.setdefault((count, ways.__name__, request.decoding, number), found) == found, request
            running = decode(model, sources, request)
            next(running)
            running.close()  # while its threads are at work
    if bundle.drafter_config is not None:
        check_adaptive_sizes(model, sources)
    check_drafted_texts(bundle, model, sources)
    check_replaced_drafts(bundle, model, sources)
    check_passes(bundle, model, sources)
    check_draft_models(bundle, model, sources)
    try:
        list(decode(model, [[-1]], Request()))
        raise AssertionError("an id of -1 was taken")
    except NativeError:
        pass
    if "tsan" not in os.environ.get("LD_PRELOAD", ""):  # it does not support threads after fork()
        assert in_a_child(model, sources, Request(threads=3))


def main() -> None:
    """Exit with an AssertionError where two ways differ."""
    expected: Expected = {}
    known = load_library().specdec_instruction_sets().decode().split(",")
    for isa in [name for name in sys.argv[1:] if name != "--short"] or known[: 1 if SHORT else None]:
        os.environ["SPECDEC_ISA"] = isa
        for name, ways in (("en-gec", copying), ("en-gec", constrained), ("en-de", drafting)):
            bundle, weights = describe_bundle(SHIPPED / name), SHIPPED / name / "verifier" / "model.safetensors"
            drafter = bundle.drafter_config
            if isinstance(drafter, DrafterConfig):
                model = NativeModel(bundle.shape, weights, drafter, SHIPPED / name / "drafter" / "model.safetensors")
            else:
                model = NativeModel(bundle.shape, weights)
            exercise(bundle, model, ways, expected)
            if name == "en-de":
                exercise(bundle, model, searching, expected)
                with TemporaryDirectory() as folder:
                    exercise(*with_own_prefix(bundle, weights, Path(folder)), drafting_by_own_prefix, expected)
            del model
            gc.collect()
        print(f"{isa}: every way agrees", file=sys.stderr)


if __name__ == "__main__":
    main()
