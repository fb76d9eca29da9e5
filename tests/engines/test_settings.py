"""Resolution of requests: values of the user have priority over those of the bundle, and these over `auto`."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.decoding.options import PRESETS, Decoding, DecodingOptions, Exact, FixedPoint, Margin, Tolerant, own_options, resolve
from specdec_cli.decoding.verifier import bundle_verifier
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import Task
from tests.fakes import tiny_drafter, tiny_heads


@pytest.fixture(scope="module")
def resolved(bundle: Bundle) -> Callable[..., Decoding]:
    """Resolves requests with a bundle that has a drafter of up to 6 tokens; `info` are fields of its description."""
    drafter = tiny_drafter(bundle.verifier)

    def make(info: dict[str, Any], **request: Any) -> Decoding:
        return resolve(DecodingOptions(**request), Bundle(replace(bundle.info, **info), bundle.tokenizer, bundle.verifier, drafter))

    return make


def test_the_bundle_resolves_auto(resolved: Callable[..., Decoding]) -> None:
    assert resolved({}) == Decoding(constraints=resolved({}).constraints)
    found = resolved({"decoding": "specdec", "block_size": 4})
    assert (found.method, found.acceptance, found.block_size) == ("specdec", Exact(), 4)


def test_a_request_overrides_the_bundle(resolved: Callable[..., Decoding]) -> None:
    found = resolved({"decoding": "specdec", "block_size": 4}, decoding="specdec++", block_size=2, top_beta=7)
    assert (found.method, found.block_size, found.acceptance) == ("specdec++", 2, Tolerant(7, PRESETS["high-quality"][1]))
    assert resolved({"decoding": "specdec"}, decoding="greedy").block_size == 0
    assert resolved({"decoding": "specdec"}, decoding="beam", beam_size=3, n_best=3).search.beam_size == 3


@pytest.mark.parametrize("asked", [None, "auto"])
def test_the_default_block_size_is_the_drafters(resolved: Callable[..., Decoding], asked: str | None) -> None:
    assert resolved({}, decoding="specdec", block_size=asked).block_size == 6


def test_a_preset_sets_both_values_and_a_request_overrides_it(resolved: Callable[..., Decoding]) -> None:
    assert resolved({}, decoding="specdec++", preset="high-efficiency").acceptance == Tolerant(*PRESETS["high-efficiency"])
    assert resolved({}, decoding="specdec++", preset="high-efficiency", tolerance=0.5).acceptance == Tolerant(5, 0.5)
    assert resolved({}, decoding="specdec++", tolerance=0.0).acceptance == Tolerant(3, 0.0)
    assert resolved({}, decoding="specdec++", preset="exact").acceptance == Exact()


def test_presets_of_a_bundle_have_priority(resolved: Callable[..., Decoding]) -> None:
    assert resolved({"presets": {"own": (9, 2.0)}}, decoding="specdec++", preset="own").acceptance == Tolerant(9, 2.0)
    assert resolved({"presets": {"high-quality": (2, 0.7)}}, decoding="specdec++").acceptance == Tolerant(2, 0.7)


def test_a_tolerance_changes_specdec_to_its_tolerant_form(resolved: Callable[..., Decoding]) -> None:
    found = resolved({"decoding": "specdec"}, tolerance=1.5)
    assert (found.method, found.acceptance) == ("specdec++", Tolerant(3, 1.5))


def test_beam_settings_default_to_the_bundles(resolved: Callable[..., Decoding]) -> None:
    info = {"beam_size": 4, "length_penalty": 2.0, "beam_stop": "first"}
    found = resolved(info, decoding="beam", n_best=4)
    assert (found.search.beam_size, found.search.length_penalty, found.search.stop) == (4, 2.0, "first")
    found = resolved(info, decoding="beam", beam_size=2, length_penalty=0.0)
    assert (found.search.beam_size, found.search.length_penalty, found.search.stop) == (2, 0.0, "first")
    found = resolved({}, decoding="beam")
    assert (found.search.beam_size, found.search.length_penalty, found.search.stop) == (5, 1.0, "heuristic")


@pytest.mark.parametrize(
    "wrong", [{"min_length": -1}, {"repetition_penalty": 0.0}, {"beam_stop": "soon"}, {"no_repeat_ngram_size": 1000}, {"most_copies": -1}]
)
def test_generation_settings_out_of_range_are_refused(wrong: dict[str, Any], resolved: Callable[..., Decoding]) -> None:
    with pytest.raises(ModelError, match=f"{next(iter(wrong))} must be"):
        resolved(wrong)


def test_the_drafter_alone_has_full_blocks(resolved: Callable[..., Decoding]) -> None:
    found = resolved({}, decoding="drafter")
    assert found.block_size > 1
    assert not found.adaptive and not found.may_skip


def test_input_guided_needs_no_drafter_and_has_no_limit(bundle: Bundle) -> None:
    found = resolve(DecodingOptions(decoding="input-guided"), bundle)
    assert (found.acceptance, found.block_size, own_options(found)) == (Exact(), 0, {"match": "nearest"})
    found = resolve(DecodingOptions(decoding="input-guided", block_size=5, match="unique", tolerance=1.0), bundle)
    assert (found.acceptance, found.block_size, own_options(found)) == (Tolerant(3, 1.0), 5, {"match": "unique"})


def test_a_mode_may_have_a_margin(bundle: Bundle) -> None:
    info = replace(bundle.info, modes={"balanced": (0.0, 0.0), "thorough": (-1.0, -3.0)}, margins={"thorough": 0.5})
    own = Bundle(info, bundle.tokenizer, bundle.verifier)
    asked = DecodingOptions(decoding="input-guided", mode="thorough")
    assert resolve(asked, own).acceptance == Margin(0.5)
    assert resolve(replace(asked, tolerance=1.0), own).acceptance == Tolerant(3, 1.0)
    for change in ({"preset": "exact"}, {"decoding": "greedy"}, {"mode": "balanced"}, {"mode": ""}):
        assert resolve(replace(asked, **change), own).acceptance == Exact()  # type: ignore[arg-type]


def test_other_settings_are_passed_on(resolved: Callable[..., Decoding]) -> None:
    found = resolved({}, max_length=9, batch_size=5, with_scores=True, length_penalty=0.6)
    assert (found.max_length, found.batch_size, found.with_scores, found.search.length_penalty) == (9, 5, True, 0.6)


@pytest.mark.parametrize("asked", [{"beam_size": 1}, {"length_penalty": 0.6}, {"n_best": 2}])
def test_settings_of_beam_search_choose_it(resolved: Callable[..., Decoding], asked: dict[str, Any]) -> None:
    assert resolved({"decoding": "specdec"}, **asked).method == "beam"
    with pytest.raises(UsageError, match=r"--beam-size, --length-penalty and --n-best: for decoding beam, .*, not for greedy"):
        resolved({"decoding": "specdec"}, decoding="greedy", **asked)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"decoding": "magic"}, "'magic' is not known; known are auto, greedy, beam, bidirectional"),
        ({"decoding": "specdec", "tolerance": 1.0}, "not for specdec"),
        ({"decoding": "specdec", "preset": "high-quality"}, "not for specdec"),
        ({"decoding": "lookup,specdec++"}, "a chain is of"),
        ({"decoding": "specdec++", "preset": "exact", "tolerance": 2.0}, "contradict"),
        ({"decoding": "beam", "beam_size": 2, "n_best": 3}, "--n-best 3: more than the beam size of 2"),
        ({"decoding": "beam", "beam_size": 1025}, "--beam-size 1025: a number from 1 to 1024 is expected"),
        ({"decoding": "specdec++", "tolerance": float("nan")}, "--tolerance nan: a number from"),
        ({"decoding": "specdec++", "preset": "low-fat"}, "low-fat"),
        ({"decoding": "greedy", "iterations": 4}, "--iterations: for decoding mask-predict, not for greedy"),
        ({"decoding": "beam", "length_beam": 4}, "--length-beam: for decoding mask-predict, not for beam"),
    ],
)
def test_contradicting_settings_are_refused(resolved: Callable[..., Decoding], asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        resolved({}, **asked)


@pytest.mark.parametrize("decoding", ["specdec", "specdec++", "drafter", "blockwise", "lookup,blockwise"])
def test_drafting_without_a_drafter_is_refused(bundle: Bundle, decoding: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"decoding {decoding}: this bundle has no drafter")):
        resolve(DecodingOptions(decoding=decoding), bundle)


@pytest.mark.parametrize("decoding", ["specdec", "specdec++", "drafter", "lookup,specdec"])
def test_specdec_with_heads_is_refused(bundle: Bundle, decoding: str) -> None:
    words = f"decoding {decoding}: this bundle has heads, not a block drafter; it supports greedy, beam, blockwise, input-guided"
    with pytest.raises(UsageError, match=re.escape(words)):
        resolve(DecodingOptions(decoding=decoding), replace(bundle, drafter=tiny_heads(bundle.verifier)))


@pytest.mark.parametrize("decoding", ["blockwise", "lookup,blockwise"])
def test_blockwise_with_a_block_drafter_is_refused(resolved: Callable[..., Decoding], decoding: str) -> None:
    words = f"decoding {decoding}: this bundle has a block drafter, not heads; it supports greedy, beam, specdec, specdec++, drafter, input"
    with pytest.raises(UsageError, match=re.escape(words)):
        resolved({}, decoding=decoding)


def test_blockwise_is_exact_unless_a_tolerance_is_requested(bundle: Bundle) -> None:
    heads = replace(bundle, drafter=tiny_heads(bundle.verifier))
    assert resolve(DecodingOptions(decoding="blockwise"), heads).acceptance == Exact()
    assert resolve(DecodingOptions(decoding="blockwise", preset="high-efficiency"), heads).acceptance == Tolerant(5, 3.0)
    assert resolve(DecodingOptions(decoding="blockwise", top_beta=2, tolerance=0.5), heads).acceptance == Tolerant(2, 0.5)


@pytest.mark.parametrize(
    ("task", "with_drafter", "expected"),
    [("translate", True, "specdec"), ("translate", False, "lookup,ngram-memory,gs-jacobi"), ("correct", False, "input-guided")],
)
def test_auto_resolves_to_the_best_decoding_of_the_bundle(bundle: Bundle, task: Task, with_drafter: bool, expected: str) -> None:
    drafter = tiny_drafter(bundle.verifier) if with_drafter else None
    info = replace(bundle.info, task=task, decoding="auto")
    found = resolve(DecodingOptions(), Bundle(info, bundle.tokenizer, bundle.verifier, drafter))
    assert (found.method, found.may_skip, found.acceptance) == (expected, True, Exact())


def test_only_automatically_chosen_decodings_may_skip(resolved: Callable[..., Decoding]) -> None:
    assert not resolved({"decoding": "auto"}, decoding="specdec").may_skip
    assert not resolved({"decoding": "greedy"}).may_skip
    assert resolved({"decoding": "specdec"}).may_skip
    assert not resolved({"decoding": "specdec"}, tolerance=1.0).may_skip  # otherwise the output would depend on whether drafting pays


@pytest.mark.parametrize(
    ("order", "own"), [("right-to-left", "beam"), ("double-left-to-right", "beam"), ("bidirectional", "bidirectional")]
)
def test_other_orders_have_one_decoding(order: str, own: str, make_bundle: Callable[..., Bundle]) -> None:
    other = make_bundle(order=order, positions="learned")
    other.info = replace(other.info, decoding="auto", task="correct")
    found = resolve(DecodingOptions(n_best=3), other)
    assert (found.method, found.search.beam_size, found.search.n_best, found.may_skip) == (own, 5, 3, False)
    assert resolve(DecodingOptions(decoding=own, beam_size=2), other).search.beam_size == 2
    for decoding in {"greedy", "specdec", "jacobi", "lookup,gs-jacobi", "beam", "bidirectional"} - {own}:
        with pytest.raises(UsageError, match=f"decoding {decoding}: this bundle's order is {order}, which only decoding {own}"):
            resolve(DecodingOptions(decoding=decoding), other)


def test_only_mask_predict_decodes_with_a_masked_model(make_bundle: Callable[..., Bundle]) -> None:
    masked = make_bundle(order="masked")
    masked.info = replace(masked.info, decoding="auto", task="correct")
    found = resolve(DecodingOptions(), masked)
    assert (found.method, own_options(found), found.may_skip) == ("mask-predict", {"iterations": 10, "length_beam": 5}, False)
    assert own_options(resolve(DecodingOptions(iterations=4), masked)) == {"iterations": 4, "length_beam": 5}
    with pytest.raises(UsageError, match="n-best"):
        resolve(DecodingOptions(n_best=2), masked)
    for decoding in ("greedy", "specdec", "lookup,gs-jacobi", "beam", "bidirectional"):
        with pytest.raises(UsageError, match=f"decoding {decoding}: this bundle's order is masked, which only decoding mask-predict"):
            resolve(DecodingOptions(decoding=decoding), masked)


@pytest.mark.parametrize("decoding", ["bidirectional", "mask-predict"])
def test_other_orders_require_a_model_of_that_order(bundle: Bundle, decoding: str) -> None:
    with pytest.raises(UsageError, match=f"decoding {decoding}: this bundle's order is left-to-right"):
        resolve(DecodingOptions(decoding=decoding), bundle)


def test_generation_constraints_require_left_to_right(make_bundle: Callable[..., Bundle]) -> None:
    other = make_bundle(order="bidirectional", positions="learned")
    other.info = replace(other.info, min_length=3)
    with pytest.raises(ModelError, match="its generation settings are for order left-to-right, not bidirectional"):
        bundle_verifier(other)


def test_the_fixed_point_stop_sets_the_acceptance_rule(resolved: Callable[..., Decoding]) -> None:
    assert resolved({}, decoding="gs-jacobi", stop="fixed-point").acceptance == FixedPoint()
    assert resolved({}, decoding="gs-jacobi").acceptance == resolved({}, decoding="gs-jacobi", stop="prefix").acceptance == Exact()


def test_a_bundle_with_an_unknown_decoding_is_refused(resolved: Callable[..., Decoding]) -> None:
    with pytest.raises(ModelError, match="decoding magic: 'magic' is not known"):
        resolved({"decoding": "magic"})


def test_drafts_to_be_shown_have_the_full_block_size(resolved: Callable[..., Decoding]) -> None:
    found = resolved({"decoding": "specdec", "block_size": 4}, always_draft=True)
    assert (found.may_skip, found.adaptive, found.block_size) == (False, False, 4)
    assert resolved({"decoding": "specdec"}, always_draft=True, block_size="auto").adaptive
