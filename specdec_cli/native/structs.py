"""The C structures of the native engine's library in ctypes."""

import ctypes

_pointer, _int32, _int64, _double = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_double


class Shape(ctypes.Structure):
    """ctypes definition of the C structure `specdec_shape`: the sizes and variants of a model. `specdec.h` explains
    its fields.
    """

    _fields_ = tuple(
        (name, _int32)
        for name in (
            *("source_vocabulary", "vocabulary", "width", "feed_forward", "heads", "encoder_layers", "decoder_layers"),
            *("pre_norm", "activation", "learned_positions", "position_offset", "max_positions"),
            *("embedding_scale", "embedding_norm", "shared_embeddings", "tied_output", "output_bias"),
            *("padding", "eos", "start"),
            *("drafter_layers", "drafter_feed_forward", "max_block", "link_width", "candidates", "shortlist", "mask"),
            *("own_prefix", "recurrent_link"),
        )
    )


class Tensor(ctypes.Structure):
    """ctypes definition of the C structure `specdec_tensor`: a tensor of a model in memory. `specdec.h` explains its
    fields.
    """

    _fields_ = (("data", _pointer), ("scales", _pointer), ("rows", _int64), ("columns", _int64), ("type", _int32), ("mapped", _int32))


class Options(ctypes.Structure):
    """ctypes definition of the C structure `specdec_options`: how to decode. `specdec.h` explains its fields."""

    _fields_ = (
        *((name, _int32) for name in ("decoding", "match", "block_size", "batch", "threads", "max_length", "forced")),
        *((name, _int32) for name in ("with_scores", "shared_vocabulary", "top_beta")),
        *((name, ctypes.c_float) for name in ("tolerance", "margin")),
        *((name, _int32) for name in ("with_rounds", "beam_size", "n_best", "stop")),
        *((name, _int32) for name in ("min_length", "no_repeat_ngram_size", "source_ngram_size", "forced_end", "most_copies")),
        ("repetition_penalty", ctypes.c_float),
        ("recorded", _int32),
        ("length_penalty", _double),
        *((name, _pointer) for name in ("word_starts", "forms", "source_forms")),
        *((name, _pointer) for name in ("adaptive", "drafts", "draft_starts", "first_drafts", "prefix_lengths", "memory")),
    )


class CostsStruct(ctypes.Structure):
    """ctypes definition of the C structure `specdec_costs`: milliseconds of the parts of a round. `specdec.h`
    explains its fields.
    """

    _fields_ = (
        *((name, _int32) for name in ("shorter", "longer")),
        ("plain", _double * 2),
        *((name, (_double * 2) * 2) for name in ("verifying", "drafting")),
    )


class HypothesisStruct(ctypes.Structure):
    """ctypes definition of the C structure `specdec_hypothesis`: an output of beam search. `specdec.h` explains its
    fields.
    """

    _fields_ = (
        ("score", _double),
        ("length", _int64),
        ("ids", ctypes.POINTER(_int32)),
        ("log_probability", ctypes.c_float),
        ("reserved", _int32),
    )


class Output(ctypes.Structure):
    """ctypes definition of the C structure `specdec_output`: a decoded sentence. `specdec.h` explains its fields."""

    _fields_ = (
        *((name, _int64) for name in ("number", "length", "rounds", "drafted")),
        ("ids", ctypes.POINTER(_int32)),
        ("log_probabilities", ctypes.POINTER(ctypes.c_float)),
        ("count", _int64),
        ("hypotheses", ctypes.POINTER(HypothesisStruct)),
    )
