"""Decodes with the native engine in many ways, without torch, and checks that all agree: what the sanitizers watch.

Usage: python -m tests.native.exercise [INSTRUCTION_SET ..]
"""

import gc
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import replace

from specdec_cli.commands.loading import SHIPPED
from specdec_cli.model.bundle_description import BundleDescription, describe_bundle
from specdec_cli.model.bundle_info import BeamStop
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.library import NativeError, load_library
from specdec_cli.native.model import NativeModel
from specdec_cli.native.records import Request
from specdec_cli.tuning.native_block_size import NativeBlockSize
from specdec_cli.tuning.round_costs import Costs

SENTENCES, LONGEST = 10, 24


Expected = dict[tuple[str, str, int], object]
"""What was decoded, by decoding, task and number of the request."""
WAYS = ((1, 1), (1, 5), (1, 3), (3, 1), (4, 3))
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


def searching(bundle: BundleDescription) -> Iterator[list[Request]]:  # noqa: ARG001
    """Requests of beam search, by beam size and stopping rule."""
    rules: tuple[tuple[int, BeamStop, int | None], ...] = ((1, "never", None), (5, "heuristic", None), (9, "fairseq", 9))
    for size, stop, forced in rules:
        common = Request("beam", max_length=6, forced=forced, beam_size=size, n_best=size, stop=stop, length_penalty=0.6)
        yield [replace(common, batch=batch, threads=threads) for batch, threads in WAYS]


def drafting(bundle: BundleDescription) -> Iterator[list[Request]]:
    """Requests with a drafter, by block size and rule."""
    assert isinstance(bundle.drafter_config, DrafterConfig)
    for size, beta in ((1, 0), (3, 2), (bundle.drafter_config.max_block, bundle.shape.vocabulary_size)):
        tolerance = 1e9 if beta else 0.0
        yield [Request("specdec", "nearest", size, *way, 20, with_scores=True, top_beta=beta, tolerance=tolerance) for way in WAYS]


def check_adaptive_sizes(model: NativeModel, sources: list[list[int]]) -> None:
    """Decode with adaptive sizes, and with drafts left out now and then; the output is that of greedy decoding."""
    expected = {each.number: each.ids for each in model.decode(sources, Request(max_length=20))}
    for batch, threads in WAYS:
        sizes = NativeBlockSize(COSTS, 5, batch, threads, may_skip=True)
        request = Request("specdec", "nearest", 5, batch, threads, 20, adaptive=sizes.address)
        for _ in range(5):
            assert {each.number: each.ids for each in model.decode(sources, request)} == expected


def in_a_child(model: NativeModel, sources: list[list[int]], request: Request) -> bool:
    """Whether a child process, forked after its parent decoded with threads, decodes too."""
    child = os.fork()
    if child == 0:
        os._exit(0 if len(list(model.decode(sources, request))) == len(sources) else 1)
    return os.waitpid(child, 0)[1] == 0


def exercise(
    bundle: BundleDescription, model: NativeModel, ways: Iterator[list[Request]], expected: dict[tuple[str, str, int], object]
) -> None:
    """Decode in many ways. Raises AssertionError where two differ."""
    generator = random.Random(1)
    sources = [[*generator.choices(range(8, bundle.shape.vocabulary_size), k=generator.randint(0, LONGEST)), 3] for _ in range(SENTENCES)]
    sources[1] = [*sources[0][:-1], *sources[0]]
    for number, same in enumerate(ways):
        for request in same:
            found = sorted(model.decode(sources, request), key=lambda each: each.number)
            assert expected.setdefault((request.decoding, bundle.info.task, number), found) == found, request
            running = model.decode(sources, request)
            next(running)
            running.close()  # while its threads are at work
    if bundle.drafter_config is not None:
        check_adaptive_sizes(model, sources)
    try:
        list(model.decode([[-1]], Request()))
        raise AssertionError("an id of -1 was taken")
    except NativeError:
        pass
    if "tsan" not in os.environ.get("LD_PRELOAD", ""):  # it does not support threads after fork()
        assert in_a_child(model, sources, Request(threads=3))


def main() -> None:
    """Exit with an AssertionError where two ways differ."""
    expected: Expected = {}
    for isa in sys.argv[1:] or load_library().specdec_instruction_sets().decode().split(","):
        os.environ["SPECDEC_ISA"] = isa
        for name, ways in (("en-gec", copying), ("en-de", drafting)):
            bundle, weights = describe_bundle(SHIPPED / name), SHIPPED / name / "verifier" / "model.safetensors"
            drafter = bundle.drafter_config
            if isinstance(drafter, DrafterConfig):
                model = NativeModel(bundle.shape, weights, drafter, SHIPPED / name / "drafter" / "model.safetensors")
            else:
                model = NativeModel(bundle.shape, weights)
            exercise(bundle, model, ways(bundle), expected)
            if name == "en-de":
                exercise(bundle, model, searching(bundle), expected)
            del model
            gc.collect()
        print(f"{isa}: every way agrees", file=sys.stderr)


if __name__ == "__main__":
    main()
