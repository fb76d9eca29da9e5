"""The options of a decoding as they are given, and the resolved decoding that the engines take. Without torch.

`resolve` makes one of the other: a given option, else the bundle's, else the toolkit's. It alone checks options.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from math import inf
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from specdec_cli.decoding.methods import (
    BEAM_SIZE,
    CHAINABLE,
    DECODINGS,
    DRAFT_MODEL,
    DRAFTING,
    DRAFTS_OF,
    METHODS,
    NO_DRAFT_MODEL,
    OPTIONS,
    REWRITING,
    SEARCHES,
    TOLERANT,
    UNTRAINED,
    having,
    methods_of,
    order_problem,
    parts,
    search_of,
)
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.fields import Between
from specdec_cli.model.bundle_info import BeamStop, GenerationRules
from specdec_cli.model.order import Order

if TYPE_CHECKING:
    from specdec_cli.model.bundle_info import Described

PRESETS: dict[str, tuple[int, float]] = {"high-quality": (3, 1.0), "high-efficiency": (5, 3.0)}
"""Top-beta and tolerance in nats of each preset, unless the bundle has presets of these names."""
INEXACT = tuple(method.name for method in METHODS.values() if not method.exact)
Match = Literal["unique", "unique-3", "nearest"]
JacobiStop = Literal["prefix", "fixed-point"]
Count = Annotated[int, Between(1, inf)]


@dataclass(frozen=True)
class Flag:
    """How a command line shows an option: its help, the placeholder of its value, what the help says of its default, and the values
    that it takes, where the type of the field does not say so.
    """

    help: str
    metavar: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DecodingOptions:
    """The options of a decoding as they are given by a command line, a request to the server, a row of bench, or training.

    None, and "auto" as `decoding`, stand for the bundle's default, or else for the toolkit's. Ranges stand in the annotations; beyond
    them numbers overflow, or no memory is large enough. Fields with a Flag are options of the command line.

    - `seed`: of the random numbers of sampling.
    - `n_best`: hypotheses of a sentence.
    - `batch_size`: sentences that are decoded together; `memory` limits them, in bytes (0: no limit).
    - `with_scores`: hypotheses get log probabilities.
    - `always_draft`: drafts have the full block size even where they make decoding slower, so that they can be shown.
    - `whole`: sentences are not cut because of the bundle's `longest_sentence`.
    - `mode`: the mode of a correction, which may have a margin ("": none).
    """

    decoding: Annotated[
        str,
        Flag(
            f"How to decode: {', '.join(('auto', *DECODINGS))}. All but {', '.join(INEXACT[:-1])} and {INEXACT[-1]} give greedy's output. "
            "drafter verifies nothing; its rounds are drafting passes.",
            "NAME",
            choices=("auto", *DECODINGS),
        ),
    ] = "auto"
    block_size: Annotated[
        Annotated[int, Between(1, 1024)] | Literal["auto"] | None,
        Flag(
            "Largest number of tokens drafted in a round; auto adapts it to cost and acceptance. There is no limit by default if "
            "input-guided or jacobi is chosen by name, and the default of gs-jacobi and hybrid-jacobi is then 3.",
            "N|auto",
            "auto",
        ),
    ] = None
    top_beta: Annotated[
        Annotated[int, Between(1, 1024)] | None, Flag("Accept a drafted token only among the verifier's N best.", "N", "the preset's")
    ] = None
    tolerance: Annotated[
        Annotated[float, Between(0.0, inf)] | None,
        Flag("Accept a drafted token only if its log probability is at most X below the best.", "X", "the preset's"),
    ] = None
    preset: Annotated[
        str | None,
        Flag(
            "Values of --top-beta and --tolerance: exact, high-quality or high-efficiency.",
            "NAME",
            "high-quality, for specdec++",
            choices=("exact", *PRESETS),
        ),
    ] = None
    iterations: Annotated[Count | None, Flag("Decoder passes of mask-predict; the papers take 4 or 10.", "N", "10")] = None
    length_beam: Annotated[Count | None, Flag("Output lengths that mask-predict tries for a sentence.", "N", "5")] = None
    match: Annotated[
        Match | None,
        Flag(
            "Where input-guided continues to copy after a change: after the only occurrence of the output's end in the source, of any "
            "length (unique: Algorithm 1 of Ge et al. 2022) or of up to 3 tokens (unique-3: its code); or at the nearest occurrence of "
            "the new token (nearest).",
            "RULE",
            "nearest",
        ),
    ] = None
    stop: Annotated[
        JacobiStop | None,
        Flag(
            "Which tokens Jacobi decodings accept: in each round, all that are correct so far (prefix), or a block when it no longer "
            "changes, as published (fixed-point).",
            "RULE",
            "prefix",
        ),
    ] = None
    draft_model: Annotated[
        str | None,
        Flag(
            "Draft by another, smaller model of the same task and languages: a bundle, a folder, or a name. The output is greedy's all the "
            "same. none turns it off.",
            "MODEL",
        ),
    ] = None
    jacobi_length: Annotated[
        Count | Literal["max"] | None,
        Flag(
            "Length of the output, in tokens, up to which jacobi and hybrid-jacobi draft; after it, hybrid-jacobi decodes token by token "
            "(the h of HGJ, Santilli et al. 2023, which is max there).",
            "N|max",
            "the expected length and a tenth",
        ),
    ] = None
    beam_size: Annotated[
        Annotated[int, Between(1, 1024)] | None,
        Flag("Decode with beam search, which keeps N hypotheses.", "N", "the bundle's, else 5"),
    ] = None
    length_penalty: Annotated[
        Annotated[float, Between(-10.0, 10.0)] | None,
        Flag(
            "Decode with beam search, which divides the score of a hypothesis by its length to this power.", "X", "the bundle's, else 1.0"
        ),
    ] = None
    max_length: Annotated[
        Count | None,
        Flag("Largest number of tokens emitted for a sentence, EOS included.", "N", "the bundle's, else about three times the source's"),
    ] = None
    no_repeat_ngram_size: Annotated[
        Annotated[int, Between(0, 256)] | None,
        Flag("Let no sequence of N tokens occur twice in an output; 0 lets all.", "N", "the bundle's, else 0"),
    ] = None
    repetition_penalty: Annotated[
        Annotated[float, Between(0.01, 100.0)] | None,
        Flag(
            "Multiply negative scores of tokens that an output already has by X, and divide positive ones (Keskar et al. 2019).",
            "X",
            "the bundle's, else 1.0",
        ),
    ] = None
    sample: Annotated[
        bool,
        Flag(
            "Draw each token at random, by the model's probabilities, instead of taking the most probable one. Each decoding that gives "
            "greedy's output gives the same draws for the same --seed."
        ),
    ] = False
    temperature: Annotated[
        Annotated[float, Between(1e-6, 1000.0)] | None,
        Flag("With --sample: divide scores by X; below 1, probable tokens are drawn more often.", "X", "1.0"),
    ] = None
    top_k: Annotated[
        Annotated[int, Between(1, 1024)] | None, Flag("With --sample: draw from the N most probable tokens only.", "N", "all tokens")
    ] = None
    seed: int = 1
    n_best: int = 1
    batch_size: int = 1
    memory: int = 0
    with_scores: bool = False
    always_draft: bool = False
    whole: bool = False
    mode: str = ""

    @property
    def tolerant(self) -> bool:
        """Whether a tolerant acceptance rule is requested, by `top_beta`, `tolerance` or a preset other than "exact"."""
        return self.top_beta is not None or self.tolerance is not None or self.preset not in (None, "exact")

    @property
    def rules(self) -> dict[str, Any]:
        """The generation rules that the user set, by the names of fields of GenerationRules. They replace the rules of the bundle."""
        rules = {"no_repeat_ngram_size": self.no_repeat_ngram_size, "repetition_penalty": self.repetition_penalty}
        return {name: value for name, value in rules.items() if value is not None}

    @property
    def searching(self) -> bool:
        """Whether beam search is requested, by `beam_size`, `length_penalty` or more than one hypothesis."""
        return self.beam_size is not None or self.length_penalty is not None or self.n_best > 1


@dataclass(frozen=True)
class Exact:
    """Accept a token only if it is the verifier's first choice, so that the output is that of greedy decoding
    (technical report, Ge et al. 2022, equation 7).
    """


@dataclass(frozen=True)
class Tolerant:
    """Accept a token that is among the verifier's `top_beta` best and at most `tolerance` nats below the best.

    This is the rule of SpecDec++ (technical report, Ge et al. 2022, equations 8 and 9). Every token that ties for the first place is
    accepted, so `top_beta` = 1 can accept more than Exact.
    """

    top_beta: int
    tolerance: float


@dataclass(frozen=True)
class FixedPoint:
    """Accept the draft of a row only if all its tokens equal the verifier's choices, otherwise accept nothing.

    A block of Jacobi decoding is accepted when it no longer changes (Santilli et al. 2023, equation 5). With the
    draft, the verifier's choice after it is accepted, because all tokens before that choice are final.
    """


@dataclass(frozen=True)
class Margin:
    """Accept a drafted token if its logit is at least `margin` nats above that of every other token; else the verifier takes the best
    other token in its place.

    Where drafts are copies of the source, fewer tokens of the source are kept, so that there are more edits. (GECToR, Omelianchuk et al.
    2020, adds a bias with the opposite effect.) The output depends on which tokens are drafted.
    """

    margin: float


@dataclass(frozen=True)
class Sampled:
    """Accept a token only if it is the one that sampling chooses, so that the output is that of sampling token by token.

    Sampling draws from softmax(logits / `temperature`) over the `top_k` best tokens, ties included (0: over all), with noise from the
    `seed`: see decoding/sampling.py.
    """

    temperature: float = 1.0
    top_k: int = 0
    seed: int = 1


Rule = Exact | Tolerant | FixedPoint | Margin | Sampled
"""The rules by which the verifier accepts drafted tokens."""


@dataclass(frozen=True)
class Constraints(GenerationRules):
    """Constraints on the next token: the rules of a bundle, and what its tokenizer says. The default values constrain nothing.

    - `forced`: the first token of every output, after the decoder start.
    - `forms`: the forms of target and source tokens, as `text.forms.forms_of` returns them, for `most_copies`.
    """

    forced: int | None = None
    forms: tuple[bytes, bytes] = (b"", b"")


@dataclass(frozen=True)
class BeamSearch:
    """Options of beam search: hypotheses that are kept for a sentence and returned, and the exponent of the length by which a log
    probability is divided.

    `stop` says when the search for a sentence stops before its limit, given at least `beam_size` finished hypotheses:

    - "first" (transformers' early_stopping=True): at once.
    - "heuristic" (early_stopping=False): when no running hypothesis, scored at its present length, is better than the worst
      of the `beam_size` best finished ones.
    - "never" (early_stopping="never"): when none is better, scored at its most favourable length.
    - "fairseq": at once; of the hypotheses that finish in the last step, those beyond `beam_size` are dropped by rank
      instead of by score, and a forced token counts with its own probability instead of 1.
    """

    beam_size: int = 1
    length_penalty: float = 1.0
    n_best: int = 1
    stop: BeamStop = "heuristic"


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """A resolved decoding: what engines, loops and searches take.

    - `method`: a key of METHODS, or a chain of them, joined by commas.
    - `acceptance`: the rule by which drafted tokens are accepted.
    - `block_size`: the largest number of drafted tokens; 0 leaves it to the drafter.
    - `adaptive`: the number of drafted tokens is chosen in each round, up to the block size.
    - `may_skip`: nothing is drafted where that is faster.
    - `match`, `jacobi_length`, `iterations`, `length_beam`: options that only some methods have.
    - `draft_model`: the model that drafts, by decoding draft-model ("": none).
    - `max_length`: the largest number of tokens of an output (0: what fits the model).
    - `longest_sentence`: sentences of more tokens are cut (0: what fits the model).
    - `given_block_size`: the bound of drafts that come with sentences (0: no bound).
    - `tidies_copies`: input-guided decoding copies the source after `text.tidying.tidied`.
    - `order`: the one in which the model generates tokens.
    - `batch_size`, `memory`, `with_scores`: as in DecodingOptions.
    """

    method: str = "greedy"
    acceptance: Rule = Exact()
    block_size: int = 0
    adaptive: bool = False
    may_skip: bool = False
    match: Match = "nearest"
    draft_model: str = ""
    jacobi_length: int | Literal["max"] | None = None
    iterations: int = 10
    length_beam: int = 5
    search: BeamSearch = BeamSearch()
    constraints: Constraints = Constraints()
    max_length: int = 0
    longest_sentence: int = 0
    given_block_size: int = 0
    tidies_copies: bool = False
    order: Order = "left-to-right"
    batch_size: int = 1
    memory: int = 0
    with_scores: bool = False

    @property
    def takes_drafts(self) -> bool:
        """Whether sentences can come with drafts: the output is that of decoding token by token."""
        return isinstance(self.acceptance, Exact | Sampled) and all(method.exact for method in methods_of(self.method))

    @property
    def given_acceptance(self) -> "Exact | Sampled":
        """The rule for drafts that come with sentences."""
        return self.acceptance if isinstance(self.acceptance, Sampled) else Exact()

    def with_rule(self, rule: "Exact | Sampled") -> "Decoding":
        """This decoding with the acceptance rule `rule`. Raises UsageError unless its output is that of decoding token by token."""
        if not self.takes_drafts:
            raise UsageError(f"sampling is for decodings that give greedy's output, not for {self.method} with these options")
        return replace(self, acceptance=rule)

    def check_given(self) -> None:
        """Raise UsageError if sentences cannot come with drafts."""
        if not self.takes_drafts:
            raise UsageError(
                f"earlier translations are drafts for decodings that give greedy's output, not for {self.method} with these options"
            )


def resolve(options: DecodingOptions, bundle: "Described") -> Decoding:
    """The decoding for `options`: each option that is given, else the bundle's default, else that of `auto`.

    Raises UsageError for options out of range or not valid together, for an unknown decoding, and for a decoding
    that the bundle does not support. Raises ModelError if the bundle's default decoding is unknown.
    """
    _check_ranges(options)
    method, info = _method(options, bundle), bundle.info
    if problem := order_problem(method, bundle.shape.order):
        raise UsageError(f"decoding {method}: {problem}")
    check_options(options, method)
    if DRAFT_MODEL in parts(method) and not named_draft_model(options):
        raise UsageError(f"decoding {method}: no draft model is given; --draft-model names one")
    _check_bundle(method, bundle)
    beam_size = options.beam_size or info.beam_size or BEAM_SIZE
    if options.n_best > beam_size:
        raise UsageError(f"--n-best {options.n_best}: more than the beam size of {beam_size}")
    acceptance = _acceptance(method, options, bundle)
    # With a tolerant rule the output depends on the drafts, and would change with their length.
    adapts = isinstance(acceptance, Exact | Sampled) and method != "drafter" and bool(set(parts(method)) & set(DRAFTING))
    adaptive = adapts and _wants_adaptive_length(method, options)
    length_penalty = info.length_penalty if options.length_penalty is None else options.length_penalty
    return Decoding(
        method=method,
        acceptance=acceptance,
        block_size=_block_size(method, options, bundle),
        adaptive=adaptive,
        may_skip=adapts and options.decoding == "auto" and not options.always_draft,
        match=options.match or "nearest",
        draft_model=named_draft_model(options) if DRAFT_MODEL in parts(method) else "",
        jacobi_length=options.jacobi_length,
        iterations=options.iterations or 10,
        length_beam=options.length_beam or 5,
        search=BeamSearch(beam_size if method in SEARCHES else 1, length_penalty, options.n_best, info.beam_stop),
        constraints=_with_rules(options, constraints_of(bundle), bundle.shape.order),
        max_length=options.max_length or info.max_length,
        longest_sentence=0 if options.whole else info.longest_sentence,
        given_block_size=options.block_size if isinstance(options.block_size, int) else 0,
        tidies_copies=adaptive and method == "input-guided",
        order=bundle.shape.order,
        batch_size=options.batch_size,
        memory=options.memory,
        with_scores=options.with_scores,
    )


def named_draft_model(options: DecodingOptions) -> str:
    """The draft model that the options name; "" for none."""
    return "" if options.draft_model in (None, NO_DRAFT_MODEL) else options.draft_model


def constraints_of(bundle: "Described") -> Constraints:
    """The constraints that a bundle sets by its bundle.json and its tokenizer."""
    rules = {rule.name: getattr(bundle.info, rule.name) for rule in fields(GenerationRules)}
    forms = bundle.tokenizer.forms() if bundle.info.most_copies else (b"", b"")
    return Constraints(**rules, forced=bundle.tokenizer.special_tokens.forced, forms=forms)


def _with_rules(options: DecodingOptions, constraints: Constraints, order: Order) -> Constraints:
    """Return `constraints` with the rules of `options`. Raises UsageError for a rule if `order` is not left to right."""
    rules = options.rules
    if rules and order != "left-to-right":
        raise UsageError(f"{_listed(map(_option, rules))}: for models that write from left to right; this bundle's order is {order}")
    return replace(constraints, **rules)


def own_options(decoding: Decoding) -> dict[str, int | str]:
    """The options that only this decoding has, by name: those of its method, without those that are left to the drafter."""
    names = METHODS[decoding.method].options if decoding.method in METHODS else ()
    stop: JacobiStop = "fixed-point" if decoding.acceptance == FixedPoint() else "prefix"
    values = {name: stop if name == "stop" else getattr(decoding, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def check_known(decoding: str) -> None:
    """Raise UsageError if `decoding`, or a part of a chain, is not known, or if a part of a chain is not chainable."""
    for part in parts(decoding):
        if part not in DECODINGS:
            known = DECODINGS if part != decoding else ("auto", *DECODINGS)
            raise UsageError(f"decoding {decoding}: {part!r} is not known; known are {', '.join(known)}")
        if part != decoding and part not in CHAINABLE:
            raise UsageError(f"decoding {decoding}: a chain is of {', '.join(CHAINABLE)}, not of {part}")


def check_block_size(block_size: int, largest: int) -> None:
    """Raise UsageError if `block_size` is below 1 or above `largest`, the block size for which the drafter was trained."""
    if not 1 <= block_size <= largest:
        raise UsageError(f"--block-size {block_size}: this bundle's drafter works for 1 to {largest}")


@cache
def flags() -> Mapping[str, tuple[Any, Flag]]:
    """The type and the Flag of each option of a command line, by the name of its field, in the order of the help."""
    hints = get_type_hints(DecodingOptions, include_extras=True)
    annotated = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Annotated}
    return {name: (kind, flag) for name, (kind, flag) in annotated.items()}


def alternatives(kind: Any) -> Sequence[Any]:
    """The types of which a field of the type `kind` has one."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def words(name: str) -> tuple[str, ...]:
    """The words that the option `name` takes as its value."""
    kind, flag = flags()[name]
    literals = [get_args(each) for each in alternatives(kind) if get_origin(each) is Literal]
    return flag.choices or tuple(word for listed in literals for word in listed)


@cache
def ranges() -> Mapping[str, Between]:
    """The range of each numeric option."""
    ranges = {}
    for name, (kind, _) in flags().items():
        for each in alternatives(kind):
            if get_origin(each) is Annotated:
                number, allowed = get_args(each)
                # `typing` takes Between(0, 1) for Between(0.0, 1.0), which messages tell apart.
                ranges[name] = Between(number(allowed.low), number(allowed.high) if allowed.high < inf else inf)
    return ranges


def _listed(options: Iterable[str]) -> str:
    *most, last = options
    return f"{', '.join(most)} and {last}" if most else last


def _option(name: str) -> str:
    """The option of the command line for the field `name`."""
    return "--" + name.replace("_", "-")


def _check_ranges(options: DecodingOptions) -> None:
    """Raise UsageError if a numeric option is NaN or outside its range."""
    for name, allowed in ranges().items():
        value = getattr(options, name)
        if isinstance(value, int | float) and not allowed.low <= value <= allowed.high:
            raise UsageError(f"{_option(name)} {value}: a number from {allowed.low} to {allowed.high} is expected")


_TOLERATING, _SEARCHING = ("top_beta", "tolerance", "preset"), ("beam_size", "length_penalty", "n_best")
_CHAINED: Mapping[str, Sequence[str]] = {"block_size": DRAFTING, "draft_model": (DRAFT_MODEL,)}
"""The options that chains take from their parts, and the decodings that have them."""
DECODINGS_WITH: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(_TOLERATING, TOLERANT),
    **_CHAINED,
    **dict.fromkeys(_SEARCHING, SEARCHES),
    **{name: having(name) for name in OPTIONS},
}
"""The decodings that have an option, for each option that not all decodings have."""


def has_option(method: str, name: str) -> bool:
    """Whether `method`, a decoding or a chain, has the option `name`; a chain has the block size and the draft model of its parts, no
    other option of a part.
    """
    with_it = DECODINGS_WITH.get(name)
    return with_it is None or method in with_it or (name in _CHAINED and any(part in with_it for part in parts(method)))


def presets_for(method: str) -> tuple[str, ...]:
    """The presets that `method` can have: all where a tolerant rule is possible, "exact" alone where drafts are verified, else none."""
    if has_option(method, "preset"):
        return words("preset")
    return ("exact",) if has_option(method, "block_size") and all(part.exact for part in methods_of(method)) else ()


def check_options(options: DecodingOptions, method: str) -> None:
    """Raise UsageError for options that `method` does not have, and for a preset that contradicts others."""
    given = [
        (_TOLERATING, options.tolerant),
        (("block_size",), isinstance(options.block_size, int)),
        (("draft_model",), bool(named_draft_model(options))),
        (_SEARCHING, options.searching),
        *(((name,), getattr(options, name) is not None) for name in OPTIONS),
    ]
    for names, is_given in given:
        if is_given and not has_option(method, names[0]):
            raise UsageError(f"{_listed(map(_option, names))}: for decoding {', '.join(DECODINGS_WITH[names[0]])}, not for {method}")
    if options.sample and (not all(part.exact for part in methods_of(method)) or options.tolerant or options.stop == "fixed-point"):
        raise UsageError(f"--sample: for decodings that give greedy's output, not for {method} with these options")
    if not options.sample and (options.temperature is not None or options.top_k is not None):
        raise UsageError("--temperature and --top-k: only together with --sample")
    if options.preset == "exact" and (options.top_beta is not None or options.tolerance is not None):
        raise UsageError("--preset exact accepts the verifier's first choice alone; --top-beta and --tolerance contradict it")


def _method(options: DecodingOptions, bundle: "Described") -> str:
    """The requested decoding, else the one that other options ask for, else the bundle's, else the fastest exact one.

    Raises UsageError or ModelError.
    """
    if options.decoding != "auto":
        check_known(options.decoding)
        return options.decoding
    method = DRAFT_MODEL if named_draft_model(options) and not options.searching else _automatic(bundle)
    try:
        check_known(method)
    except UsageError as error:
        raise ModelError(f"{bundle.path or 'the bundle'}: {error}") from error
    if options.searching and method not in SEARCHES and bundle.shape.order == "left-to-right":
        return "beam"
    return "specdec++" if options.tolerant and method == "specdec" else method


def _automatic(bundle: "Described") -> str:
    """The bundle's own decoding, else the fastest exact one for it."""
    if bundle.info.decoding != "auto":
        return bundle.info.decoding
    if (search := search_of(bundle.shape.order)) is not None:
        return search
    if bundle.info.task in REWRITING and bundle.tokenizer.shared:
        return "input-guided"
    return UNTRAINED if bundle.drafter_config is None else DRAFTS_OF[bundle.drafter_config.kind]


def _check_bundle(method: str, bundle: "Described") -> None:
    """Raise UsageError if the bundle lacks the drafter of the decoding, or the shared vocabulary that copying needs."""
    kind = None if bundle.drafter_config is None else bundle.drafter_config.kind
    if any(part.trained not in (None, kind) for part in methods_of(method)):
        lacks = {None: "no drafter", "block": "a block drafter, not heads", "heads": "heads, not a block drafter"}[kind]
        possible = [each.name for each in METHODS.values() if each.trained in (None, kind) and each.order == "left-to-right"]
        raise UsageError(f"decoding {method}: this bundle has {lacks}; it supports {', '.join(possible)}")
    if "input-guided" in parts(method) and not bundle.tokenizer.shared:
        raise UsageError(f"decoding {method}: source and target have different vocabularies, so that nothing can be copied")


def _wants_adaptive_length(method: str, options: DecodingOptions) -> bool:
    """Whether the length of drafts adapts: on request, or if neither a length nor a decoding with its own length is requested."""
    if options.block_size is not None or options.always_draft:
        return options.block_size == "auto"
    return options.decoding == "auto" or not (method in DECODINGS and METHODS[method].unbounded)


def _acceptance(method: str, options: DecodingOptions, bundle: "Described") -> Rule:
    if options.sample:
        return Sampled(1.0 if options.temperature is None else options.temperature, options.top_k or 0, options.seed)
    if options.stop == "fixed-point":
        return FixedPoint()
    if options.preset == "exact":
        return Exact()
    if not (options.tolerant or method == "specdec++"):
        margin = bundle.info.margins.get(options.mode, 0.0) if method == "input-guided" else 0.0
        return Margin(margin) if margin else Exact()
    name = options.preset or "high-quality"
    presets = PRESETS | bundle.info.presets
    if name not in presets:
        raise UsageError(f"--preset {name}: not known; known are exact, {', '.join(presets)}")
    top_beta, tolerance = presets[name]
    return Tolerant(options.top_beta or top_beta, tolerance if options.tolerance is None else options.tolerance)


def _block_size(method: str, options: DecodingOptions, bundle: "Described") -> int:
    if isinstance(options.block_size, int):
        return options.block_size
    if bundle.drafter_config is None or all(part.trained is None for part in methods_of(method)):
        return 0
    return bundle.info.block_size or bundle.drafter_config.max_block
