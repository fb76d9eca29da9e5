"""What the kernels cannot do. Without Triton, so that it can be asked everywhere."""

import os
from dataclasses import replace
from importlib.util import find_spec

import torch

from specdec_cli.decoding.options import Constraints, Margin, Rule, Tolerant
from specdec_cli.kernels.tiles import COLUMNS, MOST_MERGED, WIDEST_ROW
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter import BlockDrafter

DESCRIPTION = "Triton kernels"
"""What texts for users call the kernels."""
WIDEST_HEAD = 128
LARGEST_VOCABULARY = 2**18
WIDEST_LINK = 2**12
"""The most units of a link: the walk reads the weights of all candidates of a slot at once, and larger tiles take minutes to compile."""
MOST_BEST, MOST_CONTINUATIONS = 16, 32
"""The largest number of best tokens that `judge` finds at each position, and `continuations` after each hypothesis. Each token more is one
more search in every tile of logits.
"""
TYPES = (torch.float32, torch.float16, torch.bfloat16)


def supported(config: TransformerConfig, device: torch.device, dtype: torch.dtype = torch.float16) -> str | None:
    """Why the kernels cannot compute a model of `config` with weights of `dtype` on `device`; None if they can.

    They run on GPUs. On a CPU they run under Triton's interpreter (TRITON_INTERPRET=1), far too slowly for anything but tests of tiny
    models.
    """
    interpreted = device.type == "cpu" and os.environ.get("TRITON_INTERPRET") == "1"
    if device.type != "cuda" and not interpreted:
        return f"kernels run on a GPU, not on {device.type}"
    if find_spec("triton") is None:
        return "triton is not installed"
    if dtype not in TYPES:
        return f"kernels do not compute in {dtype}"
    if interpreted and dtype is torch.bfloat16:
        return "Triton's interpreter does not multiply numbers in bfloat16"
    if config.head_width > WIDEST_HEAD:
        return f"heads are {config.head_width} wide, and kernels have at most {WIDEST_HEAD}"
    if config.width > WIDEST_ROW:
        return f"states are {config.width} wide, and kernels have at most {WIDEST_ROW}"
    if config.vocabulary_size > LARGEST_VOCABULARY:
        return f"the vocabulary has {config.vocabulary_size} tokens, and kernels have at most {LARGEST_VOCABULARY}"
    return None


def fits(vocabulary: int, best: int) -> bool:
    """Whether the `best` best tokens of all tiles of a vocabulary are few enough to be merged at once."""
    return -(-vocabulary // COLUMNS) * best <= MOST_MERGED


def judges(config: TransformerConfig, rule: Rule, constraints: Constraints) -> bool:
    """Whether kernels choose and accept the tokens of a model by the rule under the constraints: rules that need few of the best tokens,
    `most_copies`, and forced first and last tokens.
    """
    others = replace(constraints, most_copies=0, forms=Constraints().forms, forced=None, forced_end=False)
    count = best_of(rule, config.vocabulary_size)
    return count <= MOST_BEST and fits(config.vocabulary_size, count) and config.step == 1 and others == Constraints()


def best_of(rule: Rule, vocabulary: int) -> int:
    """How many of the best tokens `judge` needs for the rule."""
    if isinstance(rule, Tolerant):
        return min(rule.top_beta, vocabulary)
    return 2 if isinstance(rule, Margin) else 1


def why_not(network: BlockDrafter) -> str | None:
    """Why kernels cannot compute `network` where its weights are; None if they can."""
    weight = network.like
    return unfit(network) or supported(network.verifier.config, weight.device, weight.dtype)


def unfit(network: BlockDrafter) -> str | None:
    """Why kernels cannot compute `network` on any device; None if they can compute its verifier and so it."""
    config = network.config
    if config.encoder != "shared" or config.embeddings != "shared" or config.source_copy:
        return "kernels compute drafters with the verifier's encoder and embeddings"
    if config.positions == "layers" or config.attention == "bidirectional":
        return "kernels compute drafters whose positions are in their input"
    if config.chain > WIDEST_LINK:
        return f"the slot link has {config.chain} units, and kernels have at most {WIDEST_LINK}"
    if config.chain and not fits(config.shortlist or len(network.vocabulary.output.weight), config.candidates):
        return f"kernels cannot merge {config.candidates} candidates of each tile of the vocabulary"
    return None
