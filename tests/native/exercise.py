"""Decodes with the native engine in many ways, without torch, and checks that all agree: what the sanitizers watch.

Usage: python -m tests.native.exercise [INSTRUCTION_SET ..]
"""

import gc
import os
import random
import sys
from collections.abc import Iterator

from specdec_cli.commands.loading import SHIPPED
from specdec_cli.model.bundle_description import describe_bundle
from specdec_cli.native.library import NativeError, load_library
from specdec_cli.native.model import NativeModel, Request

SENTENCES, LONGEST = 10, 24


def requests(word_starts: bytes) -> Iterator[list[Request]]:
    """Requests by decoding; those of one list have the same output and the same rounds."""
    for decoding, size, match in (
        ("greedy", 0, "nearest"),
        ("lookup", 5, "nearest"),
        *(("input-guided", 0, m) for m in ("unique", "nearest")),
    ):
        common = (decoding, match, size)
        ways = ((1, 1), (1, 3), (3, 1), (4, 3))
        yield [Request(*common, batch, threads, 20, with_scores=True, word_starts=word_starts) for batch, threads in ways]


def in_a_child(model: NativeModel, sources: list[list[int]], request: Request) -> bool:
    """Whether a child process, forked after its parent decoded with threads, decodes too."""
    child = os.fork()
    if child == 0:
        os._exit(0 if len(list(model.decode(sources, request))) == len(sources) else 1)
    return os.waitpid(child, 0)[1] == 0


def main() -> None:
    """Exit with an AssertionError where two ways differ."""
    bundle = describe_bundle(SHIPPED / "en-gec")
    generator = random.Random(1)
    sources = [[*generator.choices(range(8, bundle.shape.vocabulary_size), k=generator.randint(0, LONGEST)), 3] for _ in range(SENTENCES)]
    sources[1] = [*sources[0][:-1], *sources[0]]
    expected: dict[int, object] = {}
    for isa in sys.argv[1:] or load_library().specdec_instruction_sets().decode().split(","):
        os.environ["SPECDEC_ISA"] = isa
        model = NativeModel(bundle.shape, SHIPPED / "en-gec" / "verifier" / "model.safetensors")
        for number, ways in enumerate(requests(bytes(bundle.tokenizer.word_starts()))):
            for request in ways:
                found = sorted((each.number, each.ids, each.log_probabilities, each.rounds) for each in model.decode(sources, request))
                assert expected.setdefault(number, found) == found, (isa, request)
                running = model.decode(sources, request)
                next(running)
                running.close()  # while its threads are at work
        try:
            list(model.decode([[-1]], Request()))
            raise AssertionError("an id of -1 was taken")
        except NativeError:
            pass
        if "tsan" not in os.environ.get("LD_PRELOAD", ""):  # it does not support threads after fork()
            assert in_a_child(model, sources, Request(threads=3))
        del model
        gc.collect()
        print(f"{isa}: every way agrees", file=sys.stderr)


if __name__ == "__main__":
    main()
