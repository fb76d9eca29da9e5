"""All decodings: one line each, with what code must know of a decoding before torch is imported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from specdec_cli.text.folding import Order

DrafterKind = Literal["block", "heads"]
Task = Literal["translate", "summarise", "correct", "simplify"]
OptionValue = int | str
LONGEST_DRAFT = 15
"""Tokens of a draft at most, for drafters without a bound of their own where no block size is given."""


@dataclass(frozen=True)
class DecodingOption:
    """An option that only some decodings have: one of the words `choices`, or a whole number from 1 if `numeric`.

    `default` is the value if none is given; None leaves the choice to the drafter. `help`, `shown_default` and `metavar` (the
    name of the value) are texts for a command line.
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
    "(unique, Algorithm 1 of the report) or of up to 3 tokens (unique-3, its code); or at the nearest occurrence of the new "
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
    "(h of HGJ in the paper, where it is max).",
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
    drafts. `trained` is the kind of trained drafter that the bundle must have. The output of an `exact` decoding is greedy's
    unless a tolerant rule is asked for; a `tolerant` one can accept more than the verifier's first choice. A `chainable`
    one can be a part of a chain. An `unverified` one writes tokens that do not depend on each other. A `search` has a beam
    size. `order` is that of the models which it is for. The drafts of an `unbounded` one have a length of their own if
    no block size is given; `longest` is the most tokens of a draft where the number adapts to what pays.
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
"""Decodings by name, in the order of the help."""
DECODINGS = tuple(METHODS)
OPTIONS: tuple[DecodingOption, ...] = tuple(dict.fromkeys(option for method in METHODS.values() for option in method.options))
"""The options that only some decodings have."""
SEARCHES = tuple(method.name for method in METHODS.values() if method.search)
"""Decodings that keep several hypotheses."""
DRAFTING = tuple(method.name for method in METHODS.values() if method.drafter)
"""Decodings that propose tokens."""
TOLERANT = tuple(method.name for method in METHODS.values() if method.tolerant)
"""Decodings that can accept more than the verifier's first choice."""
CHAINABLE = tuple(method.name for method in METHODS.values() if method.chainable)
"""Decodings that can be a part of a chain."""
DRAFTS_OF: Mapping[DrafterKind, str] = {
    method.trained: method.name for method in METHODS.values() if method.trained is not None and method.exact
}
"""The exact decoding that a kind of trained drafter is for."""

REWRITING = ("correct", "simplify")
"""Tasks of bundles whose output repeats most of its source, in one language."""
UNTRAINED = "lookup,ngram-memory,gs-jacobi"
"""What `auto` is for a bundle without a drafter: a chain of drafters."""
BEAM_SIZE = 5
"""Hypotheses of beam search where neither the user nor the bundle says how many."""


def parts(decoding: str) -> list[str]:
    """The decodings of a chain such as "lookup,gs-jacobi", in order; a decoding that is no chain is its only part."""
    return decoding.split(",")


def methods_of(decoding: str) -> list[Method]:
    """The methods of a decoding's parts, in order, without those that are not known."""
    return [METHODS[part] for part in parts(decoding) if part in METHODS]


def having(option: DecodingOption) -> Sequence[str]:
    """The decodings that have `option`."""
    return [method.name for method in METHODS.values() if option in method.options]


def search_of(order: Order) -> str | None:
    """The only decoding for models of an order: beam search if no other is; None for left to right, which has many."""
    if order == "left-to-right":
        return None
    return next((method.name for method in METHODS.values() if method.order == order), "beam")


def order_problem(decoding: str, order: Order) -> str | None:
    """Why `decoding` is not for a bundle whose model writes in `order`; None if it is."""
    own = search_of(order)
    if own is not None and decoding != own:
        return f"this bundle's order is {order}, which only decoding {own} writes in"
    if own is None and any(method.order != order for method in methods_of(decoding)):
        return "this bundle's order is left-to-right; specdec train-verifier can train other orders"
    return None
