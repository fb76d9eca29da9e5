"""Constraints on outputs, and what counts as a copy."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from specdec_cli.decoding.constraints import forms_tensor
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.copying import SourceCopy
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.networks import Block, Blockwise
from specdec_cli.decoding.drafters.suffix import Lookup
from specdec_cli.decoding.lengths import by_source
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Constraints, Decoding, FixedPoint, Tolerant
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.model.transformer import Transformer
from specdec_cli.opening.models import SHIPPED
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from specdec_cli.text.tokenize.tokenizer import forms_of
from tests.decoding.copies import FORMS, ends_with_copies, limited_copies
from tests.decoding.imitation import imitated
from tests.fake_drafters import FakeDrafter, sometimes
from tests.fakes import VOCABULARY, in_precision, make_sentences, tiny_drafter, tiny_heads, tiny_transformer
from tests.tables import tables

CASES = tables(__file__)

processors = pytest.importorskip("transformers.generation.logits_process", reason="transformers is not installed")
LONGEST = 30
CONSTRAINTS: dict[str, tuple[int | None, Constraints]] = {
    "minimal length": (None, Constraints(min_length=12)),
    "bigrams": (None, Constraints(no_repeat_ngram_size=2)),
    "trigrams": (None, Constraints(no_repeat_ngram_size=3)),
    "unigrams": (None, Constraints(no_repeat_ngram_size=1)),
    "bigrams of the source": (None, Constraints(source_ngram_size=2)),
    "unigrams of the source": (None, Constraints(source_ngram_size=1)),
    "penalty": (None, Constraints(repetition_penalty=1.7)),
    "reward": (None, Constraints(repetition_penalty=0.8)),
    "forced end": (None, Constraints(min_length=40, forced_end=True)),
    "one copy": (None, Constraints(most_copies=1, forms=(FORMS, FORMS))),
    "two copies": (None, Constraints(most_copies=2, forms=(FORMS, FORMS))),
    "all": (9, Constraints(8, 2, 4, 1.2, 1, forced_end=True, forms=(FORMS, FORMS))),
}


@cache
def model(precision: str = "float32") -> Transformer:
    """A model whose unconstrained outputs are repetitive and short."""
    return in_precision(tiny_transformer(ends=0.3), precision)


def sentences_of(count: int) -> list[Sentence]:
    return make_sentences(count, 16)


def processed(forced: int | None, rules: Constraints, source: Tensor, limit: int) -> Callable[[Tensor, Tensor], Tensor]:
    """The logits processors of transformers for the same constraints, in its order."""
    chosen: list[Any] = []
    if rules.repetition_penalty != 1:
        chosen.append(processors.RepetitionPenaltyLogitsProcessor(rules.repetition_penalty))
    if rules.no_repeat_ngram_size:
        chosen.append(processors.NoRepeatNGramLogitsProcessor(rules.no_repeat_ngram_size))
    if rules.source_ngram_size:
        chosen.append(processors.EncoderNoRepeatNGramLogitsProcessor(rules.source_ngram_size, source))
    if rules.most_copies:
        chosen.append(limited_copies(rules.most_copies, source[0].tolist()))
    if rules.min_length:
        chosen.append(processors.MinLengthLogitsProcessor(rules.min_length + 1, EOS))
    if forced is not None:
        chosen.append(processors.ForcedBOSTokenLogitsProcessor(forced))
    if rules.forced_end:
        chosen.append(processors.ForcedEOSTokenLogitsProcessor(limit + 1, EOS))
    found: Callable[[Tensor, Tensor], Tensor] = processors.LogitsProcessorList(chosen)
    return found


@cache
def references(name: str, precision: str = "float32") -> list[tuple[list[int], float]]:
    """Outputs and log probabilities of the first sentences under the constraints `name` ("": none)."""
    forced, rules = CONSTRAINTS.get(name, (None, Constraints()))
    return [reference(model(precision), sentence, forced, rules) for sentence in sentences_of(6)]


@torch.inference_mode()
def reference(model: Transformer, sentence: Sentence, forced: int | None, rules: Constraints) -> tuple[list[int], float]:
    """Greedy decoding token by token, with log probabilities."""
    verifier, source = Verifier(model), torch.tensor([sentence.source])
    state, ids, score = verifier.begin([0], [sentence.source], LONGEST), list[int](), 0.0
    process = processed(forced, rules, source, LONGEST)
    while EOS not in ids and len(ids) < LONGEST:
        logits = verifier.raw_score(state, Draft(state.tokens[:, :0], state.lengths * 0)).logits[:, 0].float()
        allowed = process(state.tokens[:, : len(ids) + 1], logits)
        ids.append(int(allowed.argmax(-1)))
        score += float(allowed.log_softmax(-1)[0, ids[-1]])
        state.tokens[:, len(ids)] = ids[-1]
        state.lengths += 1
    return ids, score


def drafter_of(name: str, outputs: dict[int, list[int]], network: Transformer) -> Drafter:
    starts = torch.arange(VOCABULARY) % 3 == 0
    made: dict[str, Callable[[], Drafter]] = {
        "greedy": NoDrafter,
        "fake": lambda: FakeDrafter(outputs, 5, sometimes),
        "specdec": lambda: Block(tiny_drafter(network), 5),
        "blockwise": lambda: Blockwise(tiny_heads(network), 5),
        "input-guided": lambda: SourceCopy("nearest", EOS, starts, 0),
        "lookup": lambda: Lookup(5, EOS, PADDING),
        "jacobi": lambda: Jacobi(0, PADDING, by_source(1.0), beyond=3),
        "gs-jacobi": lambda: Jacobi(4, PADDING),
        "hybrid-jacobi": lambda: Jacobi(5, PADDING, by_source(0.7)),
    }
    return made[name]()


def run(verifier: Verifier, drafter: Drafter, sentences: Sequence[Sentence], options: Decoding) -> list[Hypothesis]:
    return sorted(decode_with(verifier, drafter, sentences, options), key=lambda hypothesis: hypothesis.number)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "drafting", ["greedy", "fake", "specdec", "blockwise", "input-guided", "lookup", "jacobi", "gs-jacobi", "hybrid-jacobi"]
)
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_tokens_equal_those_of_transformers_processors(name: str, drafting: str) -> None:
    (forced, rules), sentences = CONSTRAINTS[name], sentences_of(6)
    verifier = Verifier(model(), forced, rules)
    expected = references(name)
    changed = sum(one != other for one, other in zip(expected, references(""), strict=True))
    assert changed >= 2, "the constraint changes too little for this test to prove anything"
    drafter = drafter_of(drafting, {s.number: ids for s, (ids, _) in zip(sentences, expected, strict=True)}, model())
    found = run(verifier, drafter, sentences, Decoding(batch_size=4, max_length=LONGEST, with_scores=True))
    assert [h.ids for h in found] == [ids for ids, _ in expected]
    assert [h.score for h in found] == pytest.approx([score for _, score in expected], rel=1e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_hold_in_other_precisions_and_batches(name: str, precision: str) -> None:
    (forced, rules), sentences = CONSTRAINTS[name], sentences_of(6)
    network = model(precision)
    verifier = Verifier(network, forced, rules)
    greedy = [h.ids for h in run(verifier, NoDrafter(), sentences, Decoding(batch_size=1, max_length=LONGEST))]
    if precision == "int8":
        assert greedy == [ids for ids, _ in references(name, precision)]
    outputs = dict(enumerate(greedy))
    for size, batch in ((3, 1), (7, 3), (2, 5)):
        found = run(verifier, FakeDrafter(outputs, size, sometimes), sentences, Decoding(batch_size=batch, max_length=LONGEST))
        assert [h.ids for h in found] == greedy


@pytest.mark.parametrize("name", ["minimal length", "trigrams", "all"])
def test_fixed_point_blocks_keep_the_constraints(name: str) -> None:
    (forced, rules), sentences = CONSTRAINTS[name], sentences_of(5)
    verifier = Verifier(model(), forced, rules)
    options = Decoding(batch_size=1, max_length=LONGEST)
    found = run(verifier, Jacobi(4, PADDING, whole_blocks=True), sentences, replace(options, acceptance=FixedPoint(), batch_size=3))
    assert [h.ids for h in found] == [h.ids for h in run(verifier, NoDrafter(), sentences, options)]


@pytest.mark.parametrize("name", ["minimal length", "trigrams", "bigrams of the source", "all"])
def test_a_tolerant_rule_keeps_the_constraints(name: str) -> None:
    (forced, rules), sentences = CONSTRAINTS[name], sentences_of(6)
    size, own = rules.no_repeat_ngram_size, rules.source_ngram_size
    loose = Decoding(acceptance=Tolerant(VOCABULARY, 1000.0), batch_size=3, max_length=LONGEST)
    for hypothesis in run(
        Verifier(model(), forced, rules), SourceCopy("nearest", EOS, torch.ones(VOCABULARY, dtype=torch.bool), 0), sentences, loose
    ):
        ids, source = hypothesis.ids, sentences[hypothesis.number].source
        assert len(ids) > rules.min_length and (forced is None or ids[0] == forced)
        grams = [tuple(ids[at : at + size]) for at in range(len(ids) - size + 1)] if size else []
        assert len(set(grams)) == len(grams)
        taken = {tuple(source[at : at + own]) for at in range(len(source) - own + 1)} if own else set()
        assert not own or not any(tuple(ids[at : at + own]) in taken for at in range(len(ids) - own + 1))


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_captured_rounds_keep_the_constraints(name: str) -> None:
    (forced, rules), sentences = CONSTRAINTS[name], sentences_of(9)
    imitation = imitated(model(), forced, rules)
    options = Decoding(batch_size=3, max_length=LONGEST, with_scores=True)
    found = run(imitation.verifier, Jacobi(3, PADDING), sentences, options)
    assert found == run(Verifier(model(), forced, rules), Jacobi(3, PADDING), sentences, options)
    assert imitation.graphs.counts.replays


def test_a_minimum_length_may_exceed_the_usual_limit() -> None:
    shortest = 70
    verifier = Verifier(tiny_transformer(ends=0.9), None, Constraints(min_length=shortest))
    (found,) = decode_with(verifier, NoDrafter(), sentences_of(1), Decoding())
    assert len(found.ids) > shortest


def test_source_ids_beyond_the_target_vocabulary_exclude_nothing() -> None:
    network = tiny_transformer(source_vocabulary_size=VOCABULARY + 9, shared_embeddings=False)
    source = [network.config.decoder_start, VOCABULARY + 8, EOS]
    free, constrained = (
        next(decode_with(Verifier(network, None, rules), NoDrafter(), [Sentence(0, source)], Decoding()))
        for rules in (Constraints(), Constraints(source_ngram_size=2))
    )
    assert constrained == free


@pytest.mark.parametrize(("text", "copies", "expected"), CASES.copies_count_between_letters)
def test_copies_count_between_letters(text: list[int], copies: int, expected: bool) -> None:
    assert ends_with_copies(text, copies) == expected


def test_pieces_that_stand_for_no_text_have_no_letter() -> None:
    tokenizer = describe_bundle(SHIPPED / "en-de").tokenizer
    target, source = (array("i", each) for each in tokenizer.forms())
    forms = dict(zip(tokenizer.vocabulary(), target, strict=True))
    assert target == source and forms["\u2581T"] == forms["T"] > 0
    assert all(forms[piece] < 0 for piece in ("</s>", "<unk>", ".", "\u25811", "\u2581"))


def test_letters_of_byte_level_pieces_keep_their_case() -> None:
    forms = array("i", forms_of(["\u0120a", "\u00c3", "\u00e3"], lambda piece: piece.startswith("\u0120")))
    assert list(forms) == [1, 2, 3]


def test_forms_ignore_marks_of_words_and_case() -> None:
    forms = array("i", forms_of(["\u2581a", "a", "\u0120b", "B", "b", ".", "\u2581."], lambda piece: piece != "\u0120b"))
    assert list(forms) == [1, 1, 2, 3, 3, -4, -4]


def test_forms_that_a_graph_reads_stay_where_they_are() -> None:
    """A CUDA graph reads them at the address of its capture, and capturing must not bring them from the CPU again."""
    device = torch.device("cpu")
    first = forms_tensor(bytes(16), device)
    for number in range(1, 10):
        forms_tensor(bytes([number] * 16), device)
    assert forms_tensor(bytes(16), device) is first
