"""The registry of decodings: their names and properties, which are needed before torch is imported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from specdec_cli.text.folding import Order

DrafterKind = Literal["block", "heads"]
OptionValue = int | str
LONGEST_DRAFT = 15
"""The longest draft if no block size is given, for drafters that have no limit of their own."""


@dataclass(frozen=True)
class DecodingOption:
    """An option that only some decodings have: its value is one of `choices`, or an integer of at least 1 if
    `numeric`.

    `default` is the value if none is given; None leaves the value to the drafter. `help`, `shown_default` and
    `metavar` (the placeholder of the value) are texts for a command line.
    """

    name: str
    help: str
    choices: tuple[str, ...] = ()
    numeric: bool = False
    default: OptionValue | None = None
    shown_default: str = ""
    metavar: str = ""


MATCH = DecodingOption(
    "match",
    "Where input-guided continues to copy after a change: after the only occurrence of the output's end in the source, of any length "
    "(unique: Algorithm 1 of Ge et al. 2022) or of up to 3 tokens (unique-3: its code); or at the nearest occurrence of the new "
    "token (nearest).",
    choices=("unique", "unique-3", "nearest"),
    default="nearest",
    shown_default="nearest",
    metavar="RULE",
)
STOP = DecodingOption(
    "stop",
    "Which tokens Jacobi decodings accept: in each round, all that are correct so far (prefix), or a block when it no longer "
    "changes, as published (fixed-point).",
    choices=("prefix", "fixed-point"),
    default="prefix",
    shown_default="prefix",
    metavar="RULE",
)
JACOBI_LENGTH = DecodingOption(
    "jacobi_length",
    "Length of the output, in tokens, up to which jacobi and hybrid-jacobi draft; after it, hybrid-jacobi decodes token by token "
    "(the h of HGJ, Santilli et al. 2023, which is max there).",
    choices=("max",),
    numeric=True,
    shown_default="the expected length and a tenth",
    metavar="N|max",
)
ITERATIONS = DecodingOption(
    "iterations",
    "Decoder passes of mask-predict; the papers take 4 or 10.",
    numeric=True,
    default=10,
    shown_default="10",
    metavar="N",
)
LENGTH_BEAM = DecodingOption(
    "length_beam",
    "Output lengths that mask-predict tries for a sentence.",
    numeric=True,
    default=5,
    shown_default="5",
    metavar="N",
)


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
    - `options`: the options that the decoding has beyond the common ones.
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
    options: tuple[DecodingOption, ...] = ()
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
        Method("mask-predict", unverified=True, order="masked", options=(ITERATIONS, LENGTH_BEAM)),
        Method("specdec", "block:make", trained="block", exact=True, chainable=True),
        Method("specdec++", "block:make", trained="block", tolerant=True),
        Method("drafter", "block:make", trained="block", unverified=True),
        Method("blockwise", "blockwise:make", trained="heads", exact=True, tolerant=True, chainable=True),
        Method("input-guided", "source_copy:make", exact=True, tolerant=True, chainable=True, unbounded=True, options=(MATCH,), longest=48),
        Method("jacobi", "jacobi:make_jacobi", exact=True, chainable=True, unbounded=True, options=(STOP, JACOBI_LENGTH)),
        Method("gs-jacobi", "jacobi:make_gauss_seidel", exact=True, chainable=True, unbounded=True, options=(STOP,)),
        Method("hybrid-jacobi", "jacobi:make_hybrid", exact=True, chainable=True, unbounded=True, options=(STOP, JACOBI_LENGTH)),
        Method("lookup", "lookup:make", exact=True, chainable=True),
        Method("ngram-memory", "ngram_memory:make", exact=True, chainable=True),
    )
}
"""All decodings by name, in the order in which the help lists them."""
DECODINGS = tuple(METHODS)
OPTIONS: tuple[DecodingOption, ...] = tuple(dict.fromkeys(option for method in METHODS.values() for option in method.options))
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
"""The name of the decoding of lines that are copies of earlier translations."""
GIVEN = "given-drafts"
"""The name of decoding with drafts that come with the sentences. It is not one of DECODINGS: a sentence that has a draft
is decoded this way, whatever exact decoding was requested.
"""
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


def having(option: DecodingOption) -> Sequence[str]:
    """The names of the decodings that have `option`."""
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
