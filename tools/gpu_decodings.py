"""The table of docs/gpu.md: what of each decoding kernels compute, and whether its rounds are CUDA graphs. It asks the code."""

import warnings
from collections.abc import Iterator
from dataclasses import replace

from specdec_cli.benchmark.results import NOTHING
from specdec_cli.decoding.beam_round import BeamRound
from specdec_cli.decoding.drafters import Drafter, DrafterInputs, NoDrafter
from specdec_cli.decoding.drafters.copying import make_given
from specdec_cli.decoding.drafters.fallback import make_drafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.methods import DRAFT_MODEL, METHODS, UNTRAINED, Method, parts
from specdec_cli.decoding.options import Decoding, DecodingOptions, Sampled, resolve
from specdec_cli.decoding.rounds import DraftAlone, DraftAndVerify
from specdec_cli.decoding.verifier import Verifier, bundle_verifier
from specdec_cli.kernels.support import fits, judges, unfit
from specdec_cli.model.bundle import Bundle, load_bundle
from specdec_cli.model.drafter import BlockDrafter, Heads
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.opening.models import SHIPPED
from tools.results import markdown

KERNELS, OPERATORS = "kernels", "operators"
CAPTURED, EAGER = "captured", "one operator at a time"
OTHERS = {
    f"`{METHODS['mask-predict'].name}`": (NOTHING, OPERATORS, f"{CAPTURED}: all passes over the outputs of a length"),
    "ensembles of `distill --with`": (NOTHING, OPERATORS, f"{EAGER}: every model has a state of its own, and only `distill` combines them"),
    "all with `--trace`": ("as above", "as above", f"{EAGER}: each round is read by the host"),
}
"""Drafts, choice and rounds of what has no round that could be asked."""


def gpu_decodings() -> str:
    """A row for the decodings of each kind, in Markdown, with a model that kernels support."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in (*_rows(), *((name, *row) for name, row in OTHERS.items())):
        alike.setdefault(tuple(cells), []).append(name)
    rows = [("; ".join(names), *cells) for cells, names in alike.items()]
    return markdown(("decoding", "drafts", "choice and acceptance", "rounds"), rows, 4)


def _rows() -> Iterator[tuple[str, ...]]:
    bundle = load_bundle(SHIPPED / "en-de")
    with warnings.catch_warnings(action="ignore"):  # nothing is decoded here
        verifier = bundle_verifier(bundle)
    with_heads = replace(bundle, drafter=Heads(HeadsConfig(), bundle.verifier))
    for method in METHODS.values():
        if method.search:
            yield _search(method, verifier)
        elif method.name != "mask-predict":
            yield _row(f"`{method.name}`", with_heads if method.trained == "heads" else bundle, verifier, method.name)
    own = replace(bundle, drafter=BlockDrafter(DrafterConfig(prefix="own"), bundle.verifier))
    apart = replace(bundle, drafter=BlockDrafter(DrafterConfig(prefix="own", encoder="own", embeddings="own"), bundle.verifier))
    yield _row("`specdec`, a drafter over its own prefix", own, verifier, "specdec")
    yield _row("`specdec`, a drafter with its own encoder", apart, verifier, "specdec")
    yield _row(f"chains, such as `{UNTRAINED}`", bundle, verifier, UNTRAINED)
    yield _row("chains with a drafter over its own prefix, such as `lookup,specdec`", own, verifier, "lookup,specdec")
    yield _row("sampling (`--sample`)", bundle, verifier, "greedy", sampled=True)
    decoding = resolve(DecodingOptions(decoding="greedy"), bundle)
    yield _described("earlier translations and memories as drafts", verifier, make_given(DrafterInputs(bundle, decoding)), decoding)


def _row(name: str, bundle: Bundle, verifier: Verifier, method: str, *, sampled: bool = False) -> tuple[str, ...]:
    drafts = DRAFT_MODEL in parts(method)
    decoding = resolve(DecodingOptions(decoding=method, draft_model="en-de" if drafts else None), bundle)
    bundle = replace(bundle, draft_model=bundle) if drafts else bundle
    decoding = decoding.with_rule(Sampled()) if sampled else decoding
    drafter = make_drafter(DrafterInputs(bundle, decoding)) or NoDrafter()
    return _described(name, verifier, drafter, decoding)


def _described(name: str, verifier: Verifier, drafter: Drafter, decoding: Decoding) -> tuple[str, ...]:
    alone = decoding.method == "drafter"
    round_ = DraftAlone(verifier, drafter, decoding, "states") if alone else DraftAndVerify(verifier, drafter, decoding)
    judged = judges(verifier.config, decoding.acceptance, verifier.constraints)
    choice = NOTHING if alone else KERNELS if judged else OPERATORS
    return name, _drafts(drafter), choice, EAGER if round_.identity is None else CAPTURED


def _drafts(drafter: Drafter) -> str:
    if isinstance(drafter, NoDrafter):
        return NOTHING
    return KERNELS if isinstance(drafter, Block) and unfit(drafter.network) is None else OPERATORS


def _search(method: Method, verifier: Verifier) -> tuple[str, ...]:
    round_ = BeamRound(verifier, Decoding(method=method.name))
    by_kernels = method.order == "left-to-right" and fits(verifier.config.vocabulary_size, 2)
    choice = f"{KERNELS} in half precision without constraints but `most_copies`, else {OPERATORS}" if by_kernels else OPERATORS
    return f"`{method.name}`", NOTHING, choice, CAPTURED if round_.identity is not None else EAGER
