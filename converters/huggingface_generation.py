"""Generation settings of Hugging Face models: those that a bundle supports, and those that it does not."""

from collections.abc import Mapping
from typing import Any

from specdec_cli.model.bundle_info import LONGEST, BeamStop

_BEAM_STOPS: Mapping[Any, BeamStop] = {False: "heuristic", True: "first", "never": "never"}
# Unsupported options that affect greedy decoding or beam search, each with the values that have no effect.
_UNSUPPORTED: Mapping[str, tuple[Any, ...]] = {
    "begin_suppress_tokens": ([],),
    "constraints": (),
    "decoder_start_sequence": (),
    "diversity_penalty": (0.0,),
    "do_sample": (False,),
    "encoder_repetition_penalty": (1.0,),
    "exponential_decay_length_penalty": (),
    "force_words_ids": (),
    "forced_decoder_ids": ([],),
    "guidance_scale": (1.0,),
    "max_time": (),
    "num_beam_groups": (1,),
    "penalty_alpha": (0.0,),
    "renormalize_logits": (False,),
    "sequence_bias": ({}, []),
    "stop_strings": ([],),
    "token_healing": (False,),
    "watermarking_config": (),
}


def decoding_settings(generation: Mapping[str, Any]) -> dict[str, Any]:
    """The generation settings of a Hugging Face model as fields of BundleInfo, by name.

    Lengths in a bundle count emitted tokens; `min_length` and `max_length` of transformers count the decoder start too, so they are
    reduced by 1. A `max_length` of 0 means that the only limit is the model's, a `beam_size` of 0 that none is given.
    """
    shortest = generation.get("min_new_tokens") or max(int(generation.get("min_length") or 0) - 1, 0)
    longest = generation.get("max_new_tokens") or max(int(generation.get("max_length") or 0) - 1, 0)
    beams, penalty = int(generation.get("num_beams") or 1), generation.get("length_penalty")
    return {
        "min_length": int(shortest),
        "max_length": int(longest) if longest <= LONGEST else 0,
        "no_repeat_ngram_size": int(generation.get("no_repeat_ngram_size") or 0),
        "source_ngram_size": int(generation.get("encoder_no_repeat_ngram_size") or 0),
        "repetition_penalty": float(generation.get("repetition_penalty") or 1.0),
        "forced_end": generation.get("forced_eos_token_id") is not None,
        "beam_size": beams if beams > 1 else 0,
        "length_penalty": 1.0 if penalty is None else float(penalty),
        "beam_stop": _BEAM_STOPS.get(generation.get("early_stopping") or False, "heuristic"),
    }


def suppressed_tokens(generation: Mapping[str, Any]) -> list[int]:
    """The ids that must never be emitted: `suppress_tokens`, and those of `bad_words_ids` that are a single token other than EOS."""
    end = _ids(generation.get("eos_token_id"))
    words = [ids[0] for ids in generation.get("bad_words_ids") or [] if len(ids) == 1 and ids[0] not in end]
    return [*words, *(generation.get("suppress_tokens") or [])]


def dropped_settings(generation: Mapping[str, Any]) -> tuple[str, ...]:
    """The generation settings that change the output of transformers but are not supported by specdec, as `name=value`."""
    found = [name for name, neutral in _UNSUPPORTED.items() if generation.get(name) is not None and generation[name] not in neutral]
    dropped = [f"{name}={generation[name]}" for name in found]
    dropped += [f"bad_words_ids={words}" for words in generation.get("bad_words_ids") or [] if len(words) > 1]
    if (generation.get("early_stopping") or False) not in _BEAM_STOPS:
        dropped.append(f"early_stopping={generation['early_stopping']}")
    ends = _ids(generation.get("eos_token_id"))
    forced = _ids(generation.get("forced_eos_token_id"))
    if len(ends) > 1:
        dropped.append(f"eos_token_id={ends}")
    if forced and forced != ends[:1]:
        dropped.append(f"forced_eos_token_id={generation['forced_eos_token_id']}")
    return tuple(dropped)


def _ids(value: Any) -> list[int]:
    if value is None:
        return []
    return [int(each) for each in value] if isinstance(value, list) else [int(value)]
