"""The registry of decodings: their names and properties, which are needed before torch is imported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from specdec_cli.model.order import Order

DrafterKind = Literal["block", "heads"]
LONGEST_DRAFT = 15
"""The longest draft if no block size is given, for drafters that have no limit of their own."""


@dataclass(frozen=True)
class Method:
    """A decoding and its properties.

    `drafter` is the function that makes its drafter, as "module:function" in decoding/drafters; "" for a decoding without
    drafts. `trained` is the kind of trained drafter that the bundle must have. The other fields are properties:

    - `exact`: the output is greedy's, unless a tolerant acceptance rule is requested.
    - `tolerant`: a tolerant rule, which accepts more than the verifier's first choice, can be requested.
    - `chainable`: the decoding can be a part of a chain, which is several decodings joined by commas.
    - `unverified`: tokens are predicted in parallel, and not verified one after the other.
    - `search`: the decoding has a beam size.
    - `order`: the generation order of the models that it decodes.
    - `unbounded`: the drafter chooses the length of its drafts if no block size is given.
    - `options`: the options that the decoding has beyond the common ones: names of fields of DecodingOptions.
    - `longest`: the largest block size that an adaptive block size chooses.
    """

    name: str
    drafter: str = ""
    trained: DrafterKind | None = None
    exact: bool = False
    tolerant: bool = False
    chainable: bool = False
    unverified: bool = False
    search: bool = False
    order: Order = "left-to-right"
    unbounded: bool = False
    options: tuple[str, ...] = ()
    longest: int = LONGEST_DRAFT

    @property
    def rounds(self) -> bool:
        """Whether it decodes in rounds, which can be traced: greedy decoding and all decodings with drafts."""
        return bool(self.drafter) or self.exact


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("greedy", exact=True),
        Method("beam", search=True),
        Method("bidirectional", search=True, order="bidirectional"),
        Method("mask-predict", unverified=True, order="masked", options=("iterations", "length_beam")),
        Method("specdec", "networks:make_block", trained="block", exact=True, chainable=True),
        Method("specdec++", "networks:make_block", trained="block", tolerant=True),
        Method("drafter", "networks:make_block", trained="block", unverified=True),
        Method("blockwise", "networks:make_heads", trained="heads", exact=True, tolerant=True, chainable=True),
        Method(
            "input-guided",
            "copying:make_source_copy",
            exact=True,
            tolerant=True,
            chainable=True,
            unbounded=True,
            options=("match",),
            longest=48,
        ),
        Method("jacobi", "jacobi:make_jacobi", exact=True, chainable=True, unbounded=True, options=("stop", "jacobi_length")),
        Method("gs-jacobi", "jacobi:make_gauss_seidel", exact=True, chainable=True, unbounded=True, options=("stop",)),
        Method("hybrid-jacobi", "jacobi:make_hybrid", exact=True, chainable=True, unbounded=True, options=("stop", "jacobi_length")),
        Method("lookup", "suffix:make_lookup", exact=True, chainable=True),
        Method("ngram-memory", "suffix:make_ngram_memory", exact=True, chainable=True),
        Method("draft-model", "draft_model:make_draft_model", exact=True, chainable=True),
    )
}
"""All decodings by name, in the order in which the help lists them."""
DECODINGS = tuple(METHODS)
OPTIONS: tuple[str, ...] = tuple(dict.fromkeys(option for method in METHODS.values() for option in method.options))
"""The options that only some decodings have."""
SEARCHES = tuple(method.name for method in METHODS.values() if method.search)
"""Decodings with a beam size."""
DRAFTING = tuple(method.name for method in METHODS.values() if method.drafter)
"""Decodings that propose tokens."""
TOLERANT = tuple(method.name for method in METHODS.values() if method.tolerant)
"""Decodings for which a tolerant acceptance rule can be requested."""
CHAINABLE = tuple(method.name for method in METHODS.values() if method.chainable)
"""Decodings that can be a part of a chain."""
DRAFTS_OF: Mapping[DrafterKind, str] = {
    method.trained: method.name for method in METHODS.values() if method.trained is not None and method.exact
}
"""The exact decoding that uses each kind of trained drafter."""

REWRITING = ("correct", "simplify")
"""Tasks of bundles whose output repeats most of its source, in one language."""
MODES = ("careful", "balanced", "thorough")
"""How many edits a rewriting bundle accepts, from few to many."""
DEFAULT_MODE = "balanced"
SHORT_DRAFT = 3
"""Tokens of a draft of the n-gram memory, if no block size is given."""
UNTRAINED = "lookup,ngram-memory,gs-jacobi"
"""The chain of decodings that `auto` chooses for a bundle without a trained drafter."""
GLOSSARY = "glossary"
"""The name of the decoding of sentences that were decoded again to bring in terms."""
COPIED = "copy"
"""The name of the decoding of lines that are copies of earlier translations, or labels."""
GIVEN = "given-drafts"
"""The name of decoding with drafts that come with the sentences. It is not one of DECODINGS: a sentence that has a draft
is decoded this way, whatever exact decoding was requested.
"""
DRAFT_MODEL = "draft-model"
"""The decoding whose drafts come from another model."""
NO_DRAFT_MODEL = "none"
"""The value of the option `draft_model` that leaves out drafts by another model."""
BEAM_SIZE = 5
"""The beam size if neither the user nor the bundle gives one."""


def parts(decoding: str) -> list[str]:
    """Split a chain such as "lookup,gs-jacobi" into its decodings, in order. For a decoding that is not a chain, the
    list has its name only.
    """
    return decoding.split(",")


def methods_of(decoding: str) -> list[Method]:
    """The properties of a decoding, or of each decoding of a chain, in order; names that are not in METHODS are left
    out.
    """
    return [METHODS[part] for part in parts(decoding) if part in METHODS]


def having(option: str) -> Sequence[str]:
    """The names of the decodings that have `option`, one of OPTIONS."""
    return [method.name for method in METHODS.values() if option in method.options]


def search_of(order: Order) -> str | None:
    """The only decoding for models of the generation order `order`: its own search, or "beam" if it has none of its
    own.

    None for "left-to-right", which several decodings can decode.
    """
    if order == "left-to-right":
        return None
    return next((method.name for method in METHODS.values() if method.order == order), "beam")


def order_problem(decoding: str, order: Order) -> str | None:
    """A message that says why `decoding` cannot decode a model of the generation order `order`; None if it can."""
    own = search_of(order)
    if own is not None and decoding != own:
        return f"this bundle's order is {order}, which only decoding {own} writes in"
    if own is None and any(method.order != order for method in methods_of(decoding)):
        return "this bundle's order is left-to-right; specdec train-verifier can train other orders"
    return None
