"""The table of settings and the decodings with which they are valid."""

from typing import Any

import pytest

from specdec_cli.decoding.methods import DECODINGS, OPTIONS
from specdec_cli.decoding.options import DecodingOptions, check_known, check_options
from specdec_cli.errors import UsageError

GIVEN: tuple[tuple[dict[str, Any], set[str]], ...] = (
    ({"top_beta": 2}, {"specdec++", "blockwise", "input-guided"}),
    ({"tolerance": 1.0}, {"specdec++", "blockwise", "input-guided"}),
    ({"preset": "high-quality"}, {"specdec++", "blockwise", "input-guided"}),
    ({"preset": "exact"}, {*DECODINGS, "lookup,specdec"}),
    ({"block_size": "auto"}, {*DECODINGS, "lookup,specdec"}),
    ({"block_size": 3}, {*DECODINGS, "lookup,specdec"} - {"greedy", "beam", "bidirectional", "mask-predict"}),
    ({"n_best": 2}, {"beam", "bidirectional"}),
    ({"match": "unique"}, {"input-guided"}),
    ({"stop": "fixed-point"}, {"jacobi", "gs-jacobi", "hybrid-jacobi"}),
    ({"jacobi_length": 9}, {"jacobi", "hybrid-jacobi"}),
    ({"iterations": 4}, {"mask-predict"}),
    ({"length_beam": 3}, {"mask-predict"}),
)
"""Settings of a request, and the decodings with which they are valid."""


@pytest.mark.parametrize("decoding", [*DECODINGS, "lookup,specdec"])
@pytest.mark.parametrize(("given", "allowed"), GIVEN)
def test_a_setting_is_valid_only_with_its_decodings(given: dict[str, Any], allowed: set[str], decoding: str) -> None:
    request = DecodingOptions(decoding=decoding, **given)
    if decoding in allowed:
        check_options(request, decoding)
    else:
        with pytest.raises(UsageError, match=f"not for {decoding.replace('+', '.')}"):
            check_options(request, decoding)


def test_every_option_of_some_decodings_is_covered() -> None:
    assert set(OPTIONS) <= {name for given, _ in GIVEN for name in given}


@pytest.mark.parametrize("given", [{"top_beta": 2}, {"tolerance": 0.5}])
def test_an_exact_preset_contradicts_a_tolerance(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="contradict"):
        check_options(DecodingOptions(preset="exact", **given), "specdec++")


@pytest.mark.parametrize(("decoding", "words"), [("magic", "'magic' is not known"), ("lookup,beam", "a chain is of .*, not of beam")])
def test_unknown_decodings_are_refused(decoding: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"decoding {decoding}: {words}"):
        check_known(decoding)


def test_every_decoding_is_known() -> None:
    for decoding in (*DECODINGS, "lookup,input-guided,jacobi"):
        check_known(decoding)
