"""The registry of decodings: each drafter can be made from a bundle."""

from dataclasses import replace

import pytest

from specdec_cli.decoding.accept import Exact
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.drafters.registry import make_drafter
from specdec_cli.decoding.names import DRAFTS_OF, METHODS, OPTIONS
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle
from tests.fakes import tiny_drafter, tiny_heads


@pytest.mark.parametrize("name", METHODS)
def test_a_decoding_has_its_registered_drafter(bundle: Bundle, name: str) -> None:
    method = METHODS[name]
    drafter = tiny_heads(bundle.verifier) if method.trained == "heads" else tiny_drafter(bundle.verifier)
    made = make_drafter(name, DrafterInputs(replace(bundle, drafter=drafter), Exact(), block_size=3))
    assert (made is not None) == bool(method.drafter)
    assert made is None or made.block_size == 3


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.trained])
def test_a_missing_trained_drafter_is_refused(bundle: Bundle, name: str) -> None:
    with pytest.raises(UsageError, match="this bundle has no"):
        make_drafter(name, DrafterInputs(bundle, Exact(), block_size=3))


def test_a_chain_has_the_drafters_of_its_parts(bundle: Bundle) -> None:
    made = make_drafter("lookup,input-guided", DrafterInputs(bundle, Exact(), block_size=7))
    assert isinstance(made, Fallback) and made.block_size == 7


def test_a_kind_of_drafter_has_one_exact_decoding() -> None:
    assert DRAFTS_OF == {"block": "specdec", "heads": "blockwise"}


def test_the_default_of_an_option_is_a_value_of_it() -> None:
    for option in OPTIONS:
        assert option.default is None or option.default in option.choices or (option.numeric and isinstance(option.default, int))
        assert option.choices or option.numeric
