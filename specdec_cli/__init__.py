"""Speculative decoding for sequence-to-sequence models: the same output as greedy decoding, in fewer steps."""

import os

__version__ = "0.1.0"

# On Intel processors, sums of a float32 product depend on its number of rows, so that a block would not give the logits
# of single steps. Intel's library offers one order for all shapes; it reads this variable when it is first used.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
