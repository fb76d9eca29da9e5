"""`python -m tools.floors`: measure the parts of a round of the native engine, and the speeds that bound them.

The parts are the encoder, a step of greedy decoding, the verification of a draft, and the draft, for one sentence, with one thread
and with one for each processor. Times are the least of many, because other programs can only make them longer. A C compiler (cc) is
needed for the speeds: those at which the threads read as many weights as a round has, and multiply bytes.
"""

import argparse
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.benchmark.geometries import GEOMETRIES
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.files import write_json
from specdec_cli.model.bundle_description import BundleDescription, describe_bundle
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.model import NativeModel, Resources
from specdec_cli.opening.models import SHIPPED
from specdec_cli.processors import usable_processors
from tools.floors.work import decoder_work, drafter_work, encoder_work
from tools.pages import ROOT

SOURCE, DRAFT = 14, 3
"""Tokens of the source, EOS included, and of a draft."""
_SENTENCES, _TOKENS = 5, 12
_FLAGS = ("-std=gnu11", "-O3", "-march=native", "-pthread", f"-I{ROOT / 'specdec_cli' / 'native'}")


@dataclass(frozen=True)
class Measured:
    """A model to measure: its name, and the description of its bundle, whose folder has the weights."""

    name: str
    bundle: BundleDescription
    folder: Path

    def load(self) -> tuple[NativeModel, DrafterConfig | None]:
        """The model of the native engine, and the configuration of its drafter, if it has one."""
        drafter = self.bundle.drafter_config if isinstance(self.bundle.drafter_config, DrafterConfig) else None
        weights = (self.folder / name / "model.safetensors" for name in ("verifier", "drafter"))
        verifier, drafts = weights
        return NativeModel(self.bundle.shape, verifier, drafter, drafts if drafter is not None else None), drafter


@contextmanager
def _models() -> Iterator[list[Measured]]:
    """The shipped models, and one of the size of Marian's with random weights."""
    from specdec_cli.benchmark.synthetic import random_bundle, store

    shipped = [Measured(name, describe_bundle(SHIPPED / name), SHIPPED / name) for name in ("en-de", "en-gec")]
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        marian = next(each for each in GEOMETRIES if each.name == "marian")
        yield [*shipped, Measured("random weights, Marian's size", store(random_bundle(marian), Path(name)), Path(name))]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements with command-line `arguments` (default: those of the process) and print their results."""
    parser = argparse.ArgumentParser(prog="python -m tools.floors", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds for each model and number of threads")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file too")
    asked = parser.parse_args(arguments)
    with _models() as models:
        found = [_measure(model, threads, asked.seconds) for model in models for threads in dict.fromkeys((1, usable_processors()))]
    for each in found:
        times = ", ".join(f"{name} {part['milliseconds']:.3f} ms" for name, part in each["parts"].items())
        print(f"{each['model']}, threads: {each['threads']}: {times}")
    if asked.json is not None:
        machine = {"device": "cpu", "precision": "int8"}
        write_json(asked.json, {"environment": describe_environment() | machine, "source": SOURCE, "draft": DRAFT, "models": found})


def _measure(measured: Measured, threads: int, seconds: float) -> dict[str, Any]:
    """The milliseconds and the work of each part, by its name, and the speeds in weights and products a second."""
    config = measured.bundle.shape
    model, drafter = measured.load()
    works = {"encoder": encoder_work(config, SOURCE), "step": decoder_work(config, 1), "verification": decoder_work(config, DRAFT + 1)}
    if drafter is not None:
        works["draft"] = drafter_work(config, drafter, DRAFT)
    milliseconds = _milliseconds(model, drafter is not None, threads, seconds)
    parts = {name: {"milliseconds": milliseconds[name], "weights": work.weights, "products": work.products} for name, work in works.items()}
    reading, multiplying = measure_speeds(threads, sum(works[name].weights for name in ("verification", "draft") if name in works))
    return {"model": measured.name, "threads": threads, "parts": parts, "reading": reading, "multiplying": multiplying}


def _milliseconds(model: NativeModel, drafts: bool, threads: int, seconds: float) -> dict[str, float]:
    """The shortest time of each part in milliseconds, of all that were measured in `seconds` seconds.

    The time of the encoder is what decoding one more sentence to a single token takes, minus the time of a step.
    """
    config = model.config
    first = min(8, config.source_size - 1)
    source = [*(first + 7 * place % (config.source_size - first) for place in range(SOURCE - 1)), config.eos]
    sources = [Sentence(number, source) for number in range(_SENTENCES)]
    alone = Resources(threads, shared_vocabulary=False)
    recorded = replace(alone, recorded={tuple(source): [[first] * DRAFT]})
    greedy = Decoding(max_length=_TOKENS)
    verified, drafting = (replace(greedy, method=method, block_size=DRAFT) for method in ("lookup", "specdec"))
    least = dict.fromkeys(("step", "verification", "draft"), float("inf"))
    sentences = {1: float("inf"), _SENTENCES: float("inf")}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = {"step": model.times(sources, greedy, alone)[1], "verification": model.times(sources, verified, recorded)[1]}
        if drafts:
            found["draft"] = model.times(sources, drafting, alone)[0]
        least = {name: min(value, found.get(name, value)) for name, value in least.items()}
        for count, value in sentences.items():
            started = time.perf_counter()
            model.times(sources[:count], replace(greedy, max_length=1), alone)
            sentences[count] = min(value, 1000 * (time.perf_counter() - started))
    each = (sentences[_SENTENCES] - sentences[1]) / (_SENTENCES - 1)
    return least | {"encoder": each - least["step"]}


def measure_speeds(threads: int, weights: int) -> tuple[float, float]:
    """Bytes of `weights` bytes that `threads` threads read a second, and products of bytes that they compute a second."""
    with tempfile.TemporaryDirectory(prefix="specdec-") as name:
        program = Path(name) / "speed"
        subprocess.run(["cc", *_FLAGS, str(Path(__file__).with_name("speed.c")), "-o", str(program)], check=True)
        output = subprocess.run([str(program), str(threads), str(weights)], check=True, capture_output=True, text=True).stdout
    reading, multiplying = map(float, output.split())
    return reading, multiplying


if __name__ == "__main__":
    main()
