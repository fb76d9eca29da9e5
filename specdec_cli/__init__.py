"""Speculative decoding for sequence-to-sequence models: the same output as greedy decoding, in fewer steps."""

import os

__version__ = "0.1.0"

# On Intel processors, MKL sums a float32 product in another order when the number of rows changes, so that the logits of a
# block differ from those of single steps. This setting keeps one order; MKL reads it when it is first used.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
