"""The C structures of the compiled kernels in ctypes; the C headers in this folder say what their fields mean.

The kernels check neither ids nor sizes. Sizes and ids of a configuration are checked when it is made
(`TransformerConfig`, `DrafterConfig`), shapes and values of weights when they are loaded, ids of sources when a
batch begins (`Verifier.begin`); ids of drafts and outputs are chosen among the logits of a vocabulary, or copied
from sources and outputs.
"""

import ctypes

from torch import Tensor, nn

LANES = 16
"""The kernels support only widths that are multiples of this."""
TILE = 64
"""Number of outputs of a linear layer that are computed together; its weights are stored in groups of so many
outputs.
"""
AT_ONCE = 48
"""Number of positions whose logits a verification computes together."""
MOST_CANDIDATES = 32
"""Largest number of candidates per slot that the kernel of the slot link supports."""
ACTIVATIONS = {"none": 0, "relu": 1, "gelu": 2, "silu": 3}
_pointer, _number = ctypes.c_void_p, ctypes.c_int64


class LinearStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `linear`: a linear layer, with a layer norm before it and an
    activation after it.
    """

    _fields_ = (
        ("inputs", _number),
        ("outputs", _number),
        *((name, _pointer) for name in ("weights", "scales", "sums", "bias", "gamma", "beta")),
        ("epsilon", ctypes.c_float),
        ("activation", ctypes.c_int32),
    )


class NormStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `norm`: a layer norm."""

    _fields_ = (("gamma", _pointer), ("beta", _pointer), ("epsilon", ctypes.c_float))


class LayerStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `layer`: an encoder or decoder layer."""

    _fields_ = (
        ("heads", _number),
        ("width", _number),
        *((name, _pointer) for name in ("query_key_value", "output", "query", "cross_output", "inner", "outer")),
        *((name, NormStruct) for name in ("after_attention", "after_cross_attention", "after_feed_forward")),
    )


class KeysStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `keys`: keys and values, and the number of them that each query
    sees.
    """

    _fields_ = (
        ("keys", _pointer),
        ("values", _pointer),
        ("stride", _number),
        ("row_stride", _number),
        ("ends", _pointer),
        ("end_stride", _number),
        ("end_row_stride", _number),
        ("packed", _number),
    )


class RowsStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `rows`: the number of rows of a batch and where each begins."""

    _fields_ = (("number", _number), ("starts", _pointer))


class ChainStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `chain`: a slot link."""

    _fields_ = (
        *((name, _number) for name in ("width", "rank", "candidates")),
        *((name, _pointer) for name in ("tokens", "rows", "bias", "from_token", "output")),
        ("scale", ctypes.c_float),
    )


class StackStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `stack`: the layers of an encoder or decoder, and the final
    norm.
    """

    _fields_ = (("layers", _pointer), ("number", _number), ("last", NormStruct))


class EmbeddingStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `embedding`: token and position embeddings."""

    _fields_ = (
        *((name, _pointer) for name in ("tokens", "positions")),
        *((name, _number) for name in ("width", "offset")),
        ("norm", NormStruct),
        ("scale", ctypes.c_float),
    )


class DecoderStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `decoder`: the parts of a verifier that decode."""

    _fields_ = (
        ("embedding", EmbeddingStruct),
        ("stack", StackStruct),
        ("output", _pointer),
        *((name, _number) for name in ("eos", "forced")),
    )


class BatchStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `batch`: the state of a batch."""

    _fields_ = (
        *((name, _number) for name in ("rows", "capacity")),
        *((name, _pointer) for name in ("tokens", "lengths", "limits", "rounds", "finished", "log_probabilities")),
        ("own", KeysStruct),
        ("memory", _pointer),
    )


class DraftStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `draft`: the drafts of a round."""

    _fields_ = (*((name, _pointer) for name in ("ids", "counts")), ("longest", _number))


class VerdictStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `verdict`: the results of a verification."""

    _fields_ = tuple((name, _pointer) for name in ("states", "log_probabilities", "predictions", "bifurcations", "counts", "ended"))


class CopyStruct(ctypes.Structure):
    """ctypes definition of the kernels' C structure `copy`: the data of the drafter that copies the source."""

    _fields_ = (
        *((name, _number) for name in ("rows", "width", "eos", "window")),
        *((name, _pointer) for name in ("source", "ends", "starts", "misses", "word_starts")),
    )


def describe_norm(norm: nn.Module) -> NormStruct:
    """The C structure for `norm`; all zero if it is not a layer norm."""
    if not isinstance(norm, nn.LayerNorm):
        return NormStruct(None, None, 0.0)
    return NormStruct(norm.weight.data_ptr(), norm.bias.data_ptr(), norm.eps)


def describe_keys(stored: Tensor | None, ends: Tensor | None) -> KeysStruct:
    """The C structure for the keys and values `stored` (B, S, 2, H, D), of which a query sees the first `ends`, (B,
    Q) or (B, 1).

    With `stored` None, the kernels compute the keys and values from a layer's input. With `ends` None, the structure
    has none.
    """
    strides = (None, 0, 0) if ends is None else (ends.data_ptr(), 0 if ends.shape[1] == 1 else ends.stride(1), ends.stride(0))
    if stored is None:
        return KeysStruct(None, None, 0, 0, *strides, 1)
    first = stored.data_ptr()
    return KeysStruct(first, first + 4 * stored.stride(2), stored.stride(1), stored.stride(0), *strides, 0)
