"""The records that the compiled kernels read, as ctypes knows them; what each means stands in the headers beside this.

The kernels check neither ids nor sizes. Sizes and ids of a configuration are checked when it is made (`TransformerConfig`,
`DrafterConfig`), shapes and values of weights when they are loaded, ids of sources when a batch begins (`Verifier.begin`); ids of
drafts and outputs are chosen among the logits of a vocabulary, or copied from such.
"""

import ctypes

from torch import Tensor, nn

LANES = 16
"""Widths must be multiples of this."""
TILE = 64
"""Outputs that are computed together; weights are packed by so many."""
AT_ONCE = 48
"""Positions whose logits a verification computes together."""
MOST_CANDIDATES = 32
"""Candidates of a slot that a walk can choose from."""
ACTIVATIONS = {"none": 0, "relu": 1, "gelu": 2, "silu": 3}
_pointer, _number = ctypes.c_void_p, ctypes.c_int64


class LinearStruct(ctypes.Structure):
    """`struct linear` of the kernels."""

    _fields_ = (
        ("inputs", _number),
        ("outputs", _number),
        *((name, _pointer) for name in ("weights", "scales", "sums", "bias", "gamma", "beta")),
        ("epsilon", ctypes.c_float),
        ("activation", ctypes.c_int32),
    )


class NormStruct(ctypes.Structure):
    """`struct norm` of the kernels."""

    _fields_ = (("gamma", _pointer), ("beta", _pointer), ("epsilon", ctypes.c_float))


class LayerStruct(ctypes.Structure):
    """`struct layer` of the kernels."""

    _fields_ = (
        ("heads", _number),
        ("width", _number),
        *((name, _pointer) for name in ("query_key_value", "output", "query", "cross_output", "inner", "outer")),
        *((name, NormStruct) for name in ("after_attention", "after_cross_attention", "after_feed_forward")),
    )


class KeysStruct(ctypes.Structure):
    """`struct keys` of the kernels."""

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
    """`struct rows` of the kernels."""

    _fields_ = (("number", _number), ("starts", _pointer))


class ChainStruct(ctypes.Structure):
    """`struct chain` of the kernels."""

    _fields_ = (
        *((name, _number) for name in ("width", "rank", "candidates")),
        *((name, _pointer) for name in ("tokens", "rows", "bias", "from_token", "output")),
        ("scale", ctypes.c_float),
    )


class StackStruct(ctypes.Structure):
    """`struct stack` of the kernels."""

    _fields_ = (("layers", _pointer), ("number", _number), ("last", NormStruct))


class EmbeddingStruct(ctypes.Structure):
    """`struct embedding` of the kernels."""

    _fields_ = (
        *((name, _pointer) for name in ("tokens", "positions")),
        *((name, _number) for name in ("width", "offset")),
        ("norm", NormStruct),
        ("scale", ctypes.c_float),
    )


class DecoderStruct(ctypes.Structure):
    """`struct decoder` of the kernels."""

    _fields_ = (
        ("embedding", EmbeddingStruct),
        ("stack", StackStruct),
        ("output", _pointer),
        *((name, _number) for name in ("eos", "forced")),
    )


class BatchStruct(ctypes.Structure):
    """`struct batch` of the kernels."""

    _fields_ = (
        *((name, _number) for name in ("rows", "capacity")),
        *((name, _pointer) for name in ("tokens", "lengths", "limits", "rounds", "finished", "log_probabilities")),
        ("own", KeysStruct),
        ("memory", _pointer),
    )


class DraftStruct(ctypes.Structure):
    """`struct draft` of the kernels."""

    _fields_ = (*((name, _pointer) for name in ("ids", "counts")), ("longest", _number))


class VerdictStruct(ctypes.Structure):
    """`struct verdict` of the kernels."""

    _fields_ = tuple((name, _pointer) for name in ("states", "log_probabilities", "predictions", "bifurcations", "counts", "ended"))


class CopyStruct(ctypes.Structure):
    """`struct copy` of the kernels."""

    _fields_ = (
        *((name, _number) for name in ("rows", "width", "eos", "window")),
        *((name, _pointer) for name in ("source", "ends", "starts", "misses", "word_starts")),
    )


def describe_norm(norm: nn.Module) -> NormStruct:
    """The description of `norm`; all zero if it is not a layer norm."""
    if not isinstance(norm, nn.LayerNorm):
        return NormStruct(None, None, 0.0)
    return NormStruct(norm.weight.data_ptr(), norm.bias.data_ptr(), norm.eps)


def describe_keys(stored: Tensor | None, ends: Tensor | None) -> KeysStruct:
    """The description of keys and values `stored` (B, S, 2, H, D), of which a query sees the first `ends`, (B, Q) or (B, 1).

    With None, layers compute the keys and values themselves."""
    strides = (None, 0, 0) if ends is None else (ends.data_ptr(), 0 if ends.shape[1] == 1 else ends.stride(1), ends.stride(0))
    if stored is None:
        return KeysStruct(None, None, 0, 0, *strides, 1)
    first = stored.data_ptr()
    return KeysStruct(first, first + 4 * stored.stride(2), stored.stride(1), stored.stride(0), *strides, 0)
