"""What computes a bundle on a GPU: kernels, captured operators, or eager ones. The first use on a card checks it, and keeps the answer."""

import traceback
import warnings
from array import array
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from specdec_cli.decoding.costs import made_up_sources
from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.loop import decode_by_search, decode_with
from specdec_cli.decoding.mask_predict import mask_predict
from specdec_cli.decoding.options import BeamSearch, Constraints, Decoding, Exact, FixedPoint, Margin, Rule, Sampled, Tolerant
from specdec_cli.decoding.rounds import judge_by_operators
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels.support import supported, why_not
from specdec_cli.kernels.tiles import MANY
from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.cache import steps
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.network import TorchNetwork

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.model.drafter import AnyDrafter
    from specdec_cli.model.network import Network

Means = Literal["kernels", "operators", "eager"]
"""Triton kernels and PyTorch's operators in captured rounds, and operators that the host launches one by one."""
ROWS, TOKENS, BEAM = 5, 12, 4
"""Rows of the check, tokens that it decodes of each, and hypotheses of its beam searches."""
PASSES, LENGTHS = 3, 2
"""Passes of its decodings by Mask-Predict, and the lengths that these try."""
RULES: Sequence[Rule] = (Exact(), FixedPoint(), Tolerant(3, 1.0), Margin(0.4), Sampled())
"""Rules of acceptance that the check compares."""
CLOSE = {torch.float32: 1e-3, torch.float16: 3e-2, torch.bfloat16: 2e-1}
"""Largest difference of states of kernels and operators, as a share of the largest state."""


def fastest_exact(bundle: "Bundle", device: str) -> Literal["float16", "bfloat16", "float32"]:
    """The precision `auto` of `bundle` on a GPU: that of 16 bits for the model (`TransformerConfig.half`) if kernels compute it there and
    pass the check on this card, so that drafts and batches do not change the output of greedy decoding in it; otherwise float32. The bundle
    is not changed.

    A warning says what the check found.
    """
    verifier, drafter = deepcopy((bundle.verifier, bundle.drafter))
    half = bundle.shape.half
    for module in (verifier, drafter):
        if module is not None:
            module.to(device=device, dtype=getattr(torch, half)).requires_grad_(False)
    means, problem = _means(replace(bundle, verifier=verifier, drafter=drafter))
    if problem:
        warnings.warn(f"on this GPU the precision is float32 instead of {half}: {problem}", RuntimeWarning, stacklevel=2)
    return half if means == "kernels" else "float32"


def prepare_for_gpu(bundle: "Bundle") -> "Bundle":
    """Choose what computes `bundle`, which is on a GPU, and set its fields `network`, `draft_network`, `captured` and `operators`; return
    it.

    Kernels compute it if they support the model and pass the check on this card (see `why_not_kernels`); otherwise PyTorch's operators,
    in captured rounds if these pass. A warning names what failed.
    """
    means, problem = _means(bundle)
    if problem:
        warnings.warn(f"on this GPU {_WORDS[means]} decode, which is slower: {problem}", RuntimeWarning, stacklevel=2)
    bundle.captured, drafter, weight = means != "eager", bundle.drafter, bundle.verifier.embedding.tokens.weight
    if means != "kernels":
        bundle.operators = problem or supported(bundle.shape, weight.device, weight.dtype) or ""
        return bundle
    from specdec_cli.kernels.network import TritonNetwork

    bundle.network, bundle.draft_network = TritonNetwork(bundle.verifier), kernel_drafter(drafter)
    if drafter is not None and bundle.draft_network is None:
        reason = why_not(drafter) if isinstance(drafter, BlockDrafter) else "kernels compute block drafters"
        bundle.operators = f"the drafter: {reason}"
    return bundle


_WORDS = {"operators": "PyTorch's operators", "eager": "PyTorch's operators, launched one by one,"}


def kernel_drafter(drafter: "AnyDrafter | None") -> BlockDrafter | None:
    """`drafter` computed by kernels; None if they cannot compute it."""
    if not isinstance(drafter, BlockDrafter) or why_not(drafter) is not None:
        return None
    from specdec_cli.kernels.drafter import TritonDrafter

    return TritonDrafter(drafter)


def _means(bundle: "Bundle") -> tuple[Means, str]:
    """What computes the bundle, and the problem that the check found, or ""."""
    verifier = bundle.verifier
    weight = verifier.embedding.tokens.weight
    is_supported = supported(verifier.config, weight.device, weight.dtype) is None
    measurement = CachedMeasurement("gpu", _key(bundle, weight))
    problem = measurement.read(_checked)
    if problem is None:
        problem = _check(bundle) if is_supported else _check_operators(bundle, "")
        measurement.write({"means": problem[0], "problem": problem[1]})
    return problem


def _key(bundle: "Bundle", weight: Tensor) -> tuple[object, ...]:
    """On what the result of the check depends."""
    device = weight.device
    card = (torch.cuda.get_device_name(device), torch.cuda.get_device_capability(device)) if device.type == "cuda" else device.type
    triton = __import__("triton").__version__ if find_spec("triton") else None
    return card, torch.__version__, triton, weight.dtype, bundle.shape, bundle.drafter_config


def _checked(values: dict[str, Any]) -> tuple[Means, str]:
    means, problem = values["means"], values["problem"]
    if means not in ("kernels", "operators", "eager") or not isinstance(problem, str):
        raise ValueError(f"{means}, {problem}")
    return means, problem


def _check(bundle: "Bundle") -> tuple[Means, str]:
    try:
        problem = why_not_kernels(bundle)
    except Exception as error:  # whatever a compiler or a driver raises, operators still decode
        problem = _in_words("kernels fail", error)
    return ("kernels", "") if problem is None else _check_operators(bundle, problem)


def _check_operators(bundle: "Bundle", problem: str) -> tuple[Means, str]:
    try:
        verifier = Verifier(bundle.verifier)
        sentences = _sentences(verifier)
        eager = Verifier(bundle.verifier)
        eager.graphs = None
        beams = _beams(verifier)
        if 0 in beams and _outputs(verifier, sentences, ROWS) != _outputs(eager, sentences, ROWS):
            return "eager", f"{problem}; captured rounds give other tokens".removeprefix("; ")
        if BEAM in beams and [] in _outputs(verifier, sentences, ROWS, beam=BEAM).values():
            return "eager", f"{problem}; captured searches give other tokens".removeprefix("; ")
    except Exception as error:
        return "eager", f"{problem}; {_in_words('rounds cannot be captured', error)}".removeprefix("; ")
    return "operators", problem


def _in_words(what: str, error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())[:300]
    return f"{what}: {type(error).__name__}: {message} ({place.name})"


@torch.inference_mode()
def why_not_kernels(bundle: "Bundle") -> str | None:
    """What is wrong with kernels on this card: they differ from the operators, or a row in a batch, or with a draft, has other bits than
    alone. None if nothing is.
    """
    from specdec_cli.kernels.network import TritonNetwork

    model = bundle.verifier
    kernels, operators = TritonNetwork(model), TorchNetwork(model)
    verifier = Verifier(kernels)
    sentences = _sentences(verifier)
    entries = verifier.entries(range(ROWS), [sentence.source for sentence in sentences])
    state = verifier.start(entries.to(verifier.device))
    target = state.source[:, :TOKENS].contiguous()
    expected, actual = operators.teach(operators.encode(state.source), target), kernels.teach(state.memory, target)
    share = float((expected - actual).abs().max() / expected.abs().max())
    if not share <= CLOSE[expected.dtype]:
        return f"states of kernels differ from those of operators by {share:.0e}"
    if not _same_bits(kernels, state.source, target):
        return "the bits of a row depend on the other rows of its batch, or on its draft"
    if model.config.order == "left-to-right" and (rule := _judged_otherwise(kernels, entries.to(verifier.device))) is not None:
        return f"kernels accept other tokens than operators by the rule {rule}"
    alone = {beam: {row: _outputs(verifier, [sentences[row]], 1, beam=beam)[row] for row in range(ROWS)} for beam in _beams(verifier)}
    for beam, outputs in alone.items():
        if _outputs(verifier, sentences, ROWS, beam=beam) != outputs:
            what = "beam search finds other hypotheses" if beam else "sentences have other tokens"
            return f"{what} in a batch than alone"
    if (drafter := kernel_drafter(bundle.drafter)) is not None:
        block = Block(drafter, min(4, drafter.config.max_block))
        if any(_outputs(verifier, sentences, rows, block) != alone[0] for rows in (1, ROWS)):
            return "sentences have other tokens with drafts"
    return None


def _beams(verifier: Verifier) -> tuple[int, ...]:
    """The hypotheses of the searches that are compared, 0 for a decoding without a search: what the model's order allows."""
    return {"left-to-right": (0, BEAM), "bidirectional": (BEAM,), "masked": (0,)}[verifier.config.order]


def _judged_otherwise(kernels: "Network", entries: Tensor) -> Rule | None:
    """The first of RULES by which kernels accept other tokens than operators do given the logits of the kernels, or give these tokens other
    log probabilities, with a limit of copies; None if there is none. Drafts of the sentences `entries` begin with the best token.
    """
    sizes = kernels.config.vocabulary_size, kernels.config.source_size
    target, source = (array("i", range(size)).tobytes() for size in sizes)
    verifier = Verifier(kernels, None, Constraints(most_copies=1, forms=(target, source)))
    state = verifier.start(entries)
    best = verifier.score(state, Draft(state.tokens[:, :0], state.lengths * 0)).logits[:, 0].topk(3).indices
    draft = Draft(best[:, [0, 0, 1, 2]], torch.full_like(state.lengths, 4))
    for rule in RULES:
        actual, expected = (
            judge(state, draft, rule, with_scores=True) for judge in (verifier.judge, partial(judge_by_operators, verifier))
        )
        counts = expected.accepted.counts
        inside = steps(5, counts.device) < counts[:, None]
        assert actual.log_probabilities is not None and expected.log_probabilities is not None
        same = torch.equal(actual.accepted.counts, counts) and torch.equal(actual.ended, expected.ended)
        same = same and torch.equal(actual.accepted.ids[inside], expected.accepted.ids[inside])
        if not same or not torch.allclose(actual.log_probabilities[inside], expected.log_probabilities[inside], rtol=1e-3, atol=1e-3):
            return rule
    return None


def _same_bits(network: "Network", source: Tensor, target: Tensor) -> bool:
    """Whether each row of `target` ids (B, T) with its `source` ids (B, S) has bit for bit the same states and logits in two computations:
    alone, one position after the other and without padding of the source; and in one pass over a batch that is large enough for the
    kernels to use their larger tiles.
    """
    config, length = network.config, target.shape[1]
    copies = MANY // target.numel() + 1
    many = network.teach(network.encode(source.repeat(copies, 1)), target.repeat(copies, 1))
    together, logits = many[: len(source)], network.project(many)[: len(source)]
    for row in range(len(source)):
        memory, targets = network.encode(source[row : row + 1, : int((source[row] != config.padding).sum())]), target[row : row + 1]
        if config.order == "masked":
            states = network.teach(memory, targets)
        else:
            cache, positions = network.new_cache(memory, length + 3), steps(length, target.device)[None]
            parts = zip(*(torch.split(each, config.step, dim=1) for each in (targets, positions)), strict=True)
            passes = [network.decode(ids, at, at[:, -1:].expand_as(at) + 1, memory, cache) for ids, at in parts]
            states = torch.cat(passes, dim=1)
        projected = network.project(states)
        if not (torch.equal(states[0], together[row]) and torch.equal(projected[0], logits[row])):
            return False
    return True


def _sentences(verifier: Verifier) -> list[Sentence]:
    config = verifier.config
    return [Sentence(row, source[row:]) for row, source in enumerate(made_up_sources(ROWS, config.source_size, config.eos))]


def _outputs(
    verifier: Verifier, sentences: Sequence[Sentence], rows: int, block: Block | None = None, *, beam: int = 0
) -> dict[int, list[int]]:
    """The tokens of each sentence, decoded twice, by the operators themselves and by their graphs: those of drafts by `block`, or with
    `beam` those of beam search. They are empty if both differ.
    """
    search = BeamSearch(beam_size=beam or 1)
    options = Decoding(batch_size=rows, max_length=TOKENS, search=search, iterations=PASSES, length_beam=LENGTHS)
    outputs: dict[int, list[int]] = {}
    for _ in range(2):
        if verifier.config.order == "masked":
            decoded = mask_predict(verifier, sentences, options)
        elif beam:
            decoded = decode_by_search(verifier, sentences, options)
        else:
            decoded = decode_with(verifier, block or NoDrafter(), sentences, options)
        for found in decoded:
            if outputs.setdefault(found.number, found.ids) != found.ids:
                outputs[found.number] = []  # no output is empty, so it equals none
    return outputs
