"""Which number format is the fastest on this machine among those that are exact on it."""

import copy
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels.build import Kernels, kernels_digest, load_kernels
from specdec_cli.measurements import CachedMeasurement, is_writable
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.int8 import quantize
from specdec_cli.model.transformer import Transformer

CANDIDATES = ("float32", "bfloat16", "int8")
_STEPS = 12
_REPETITIONS = 3


def fastest_precision(threads: int) -> str:
    """The precision that is fastest on this machine's CPU with so many threads, among those that pass `is_exact`.

    It is measured with a small model, once: the answer is kept. Where it cannot be kept, nothing is measured, so that the
    answer is always the same one: int8 with compiled kernels, else float32. Without kernels int8 is no candidate.
    """
    kernels = load_kernels()
    candidates = CANDIDATES if kernels is not None else tuple(name for name in CANDIDATES if name != "int8")
    parts = (torch.__version__, threads, candidates, kernels and kernels_digest())
    measurement = CachedMeasurement("precision", parts)
    if (kept := measurement.read(partial(_check, candidates))) is not None:
        return kept
    measured = _measure(candidates, kernels) if is_writable(measurement.path.parent) else {}
    if measured and measurement.write(measured):
        return str(measured["precision"])
    return "float32" if kernels is None else "int8"


def _check(candidates: Sequence[str], kept: dict[str, Any]) -> str:
    if kept["precision"] not in candidates:
        raise ValueError(f"no precision of {', '.join(candidates)}")
    return str(kept["precision"])


@torch.inference_mode()
def _measure(candidates: Sequence[str], kernels: Kernels | None) -> dict[str, Any]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        plain = Transformer(TransformerConfig(4000, width=384, feed_forward=1536, heads=6, encoder_layers=2, decoder_layers=2)).eval()
    verifiers = {name: Verifier(_in_precision(plain, name, kernels)) for name in candidates}
    exact = [name for name, verifier in verifiers.items() if is_exact(verifier)]
    times = {name: [_time(verifiers[name]) for _ in range(_REPETITIONS)] for name in exact}
    milliseconds = {name: round(1000 * min(each), 3) for name, each in times.items()}
    # Where nothing is exact, float32 differs least.
    return {"precision": min(exact, key=lambda name: milliseconds[name], default="float32"), "milliseconds": milliseconds}


def _in_precision(plain: Transformer, name: str, kernels: Kernels | None) -> Transformer:
    model = copy.deepcopy(plain)
    if name == "int8":
        quantize(model, kernels)
        return model
    return model.to(getattr(torch, name))


@torch.inference_mode()
def is_exact(verifier: Verifier) -> bool:
    """Whether logits are the same bit for bit: one by one and as a block, alone and in a batch."""
    sources = _sources()
    alone, together = verifier.begin([0], sources[:1]), verifier.begin(range(len(sources)), sources)
    ids = torch.arange(9, 16).expand(len(sources), -1)
    in_batch = verifier.score(together, Draft(ids, together.lengths * 0 + 7)).logits[0]
    for step in range(ids.shape[1]):
        if not torch.equal(verifier.score(alone, Draft(ids[:1, :0], alone.lengths * 0)).logits[0, 0], in_batch[step]):
            return False
        alone.tokens[0, step + 1] = ids[0, step]
        alone.lengths += 1
    return True


def _time(verifier: Verifier) -> float:
    """Seconds for a sentence, token by token."""
    started = time.perf_counter()
    state = verifier.begin([0], _sources()[:1])
    nothing = Draft(state.tokens[:, :0], state.lengths * 0)
    for _ in range(_STEPS):
        verifier.score(state, nothing)
        state.lengths += 1
    return time.perf_counter() - started


def _sources() -> Sequence[Sequence[int]]:
    return [[8 + (7 * place + row) % 900 for place in range(23 + row)] + [3] for row in range(5)]
