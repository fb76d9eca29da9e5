"""The registry of decodings: each drafter can be made from a bundle."""

from dataclasses import replace

import pytest

from specdec_cli.decoding.drafters import DrafterInputs
from specdec_cli.decoding.drafters.fallback import Fallback, make_drafter
from specdec_cli.decoding.methods import DRAFTS_OF, METHODS, OPTIONS
from specdec_cli.decoding.options import Decoding, ranges, words
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle
from tests.fakes import tiny_drafter, tiny_heads


@pytest.mark.parametrize("name", METHODS)
def test_a_decoding_has_its_registered_drafter(bundle: Bundle, name: str) -> None:
    method = METHODS[name]
    drafter = tiny_heads(bundle.verifier) if method.trained == "heads" else tiny_drafter(bundle.verifier)
    with_drafts = replace(bundle, drafter=drafter, draft_model=bundle)
    made = make_drafter(DrafterInputs(with_drafts, Decoding(method=name, block_size=3)))
    assert (made is not None) == bool(method.drafter)
    assert made is None or made.limit == 3


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.trained])
def test_a_missing_trained_drafter_is_refused(bundle: Bundle, name: str) -> None:
    with pytest.raises(UsageError, match="this bundle has no"):
        make_drafter(DrafterInputs(bundle, Decoding(method=name, block_size=3)))


def test_a_missing_draft_model_is_refused_with_the_name_of_its_option(bundle: Bundle) -> None:
    with pytest.raises(UsageError, match="--draft-model names one"):
        make_drafter(DrafterInputs(bundle, Decoding(method="draft-model", block_size=3)))


def test_a_chain_has_the_drafters_of_its_parts(bundle: Bundle) -> None:
    made = make_drafter(DrafterInputs(bundle, Decoding(method="lookup,input-guided", block_size=7)))
    assert isinstance(made, Fallback) and made.limit == 7


def test_a_kind_of_drafter_has_one_exact_decoding() -> None:
    assert DRAFTS_OF == {"block": "specdec", "heads": "blockwise"}


def test_an_option_of_some_decodings_is_a_number_or_a_word() -> None:
    for option in OPTIONS:
        assert words(option) or option in ranges()
