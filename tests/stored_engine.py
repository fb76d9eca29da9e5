"""The shipped bundles with an engine that stores its hypotheses in pytest's cache, so that a second run decodes nothing."""

from collections.abc import Sequence
from typing import Any, Unpack

import pytest

from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import Described
from specdec_cli.pipeline.corrector import CorrectorOptions, LineCorrector
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.glossary import Term
from tools import stored_engine


def opened(bundle: str, cache: pytest.Cache, **changes: Any) -> tuple[Described, SentenceDecoder]:
    """A shipped bundle, and an engine that stores its hypotheses."""
    return stored_engine.opened(bundle, cache.mkdir("decoded"), stored_engine.native_library(), **changes)


def translator(bundle: str, cache: pytest.Cache, terms: Sequence[Term] = ()) -> LineTranslator:
    """The translator of a shipped bundle, with a glossary of `terms`."""
    described, engine = opened(bundle, cache)
    return LineTranslator.of_bundle(engine, described, terms=terms)


def corrector(cache: pytest.Cache, mode: str = "balanced", **options: Unpack[CorrectorOptions]) -> LineCorrector:
    """The corrector of the shipped bundle."""
    described, engine = opened("en-gec", cache, with_scores=True, mode=mode)
    return LineCorrector.of_bundle(engine, described, mode=mode, **options)
