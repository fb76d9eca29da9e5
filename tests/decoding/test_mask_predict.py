"""Mask-Predict against a simple reference, which decodes one sentence and one length at a time."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.decoding.mask_predict import least_sure, mask_predict
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import BOS, EOS, MASK, PADDING
from tests.decoding.imitation import imitated
from tests.fakes import in_precision, make_sentences, tiny_transformer


def masked_transformer(seed: int = 1, **changes: Any) -> Transformer:
    """A masked model that predicts various lengths."""
    model = tiny_transformer(seed, order="masked", length_reach=6, **changes)
    assert model.length_head is not None
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        model.length_head.output.weight.normal_()
    return model


def decoded(model: Transformer, sentences: Sequence[Sentence], **options: Any) -> list[Hypothesis]:
    return list(mask_predict(Verifier(model), sentences, Decoding(**{"iterations": 4} | options)))


@torch.no_grad()
def filled(model: Transformer, source: list[int], words: int, iterations: int) -> tuple[list[int], list[float]]:
    """The tokens of an output of `words` tokens, and their log probabilities, by the reference."""
    ids, scores = [MASK] * words, [0.0] * words
    for iteration in range(iterations):
        count = max(1, words * (iterations - iteration) // iterations)
        places = sorted(sorted(range(words), key=lambda place: scores[place])[:count])
        for place in places:
            ids[place] = MASK
        logits = model.output(model.teach(model.encode(torch.tensor([source])), torch.tensor([[*ids, EOS]])))[0]
        logits[:, [PADDING, BOS, EOS, MASK]] = -torch.inf
        for place in places:
            ids[place] = int(logits[place].argmax())
            scores[place] = float(logits[place].log_softmax(0)[ids[place]])
    return ids, scores


@torch.no_grad()
def reference(model: Transformer, sentence: Sentence, iterations: int, length_beam: int) -> tuple[list[int], float]:
    """The reference output: the highest mean log probability among the most probable lengths."""
    source, memory = list(sentence.source), model.encode(torch.tensor([sentence.source]))
    assert model.length_head is not None
    logits = model.length_head(memory.states, memory.mask.ends)[0]
    differences = logits.argsort(descending=True)[:length_beam] - model.config.length_reach
    lengths = dict.fromkeys(max(1, len(source) - 1 + int(difference)) for difference in differences)
    found = [filled(model, source, words, iterations) for words in lengths]
    ids, scores = max(found, key=lambda one: sum(one[1]) / len(one[1]))
    return [*ids, EOS], sum(scores)


@pytest.mark.parametrize("iterations", [1, 4, 10])
@pytest.mark.parametrize("length_beam", [1, 3])
def test_batches_equal_the_reference_decoder(iterations: int, length_beam: int) -> None:
    model, sentences = masked_transformer(), make_sentences(11)
    found = decoded(model, sentences, iterations=iterations, length_beam=length_beam, batch_size=4)
    expected = [reference(model, sentence, iterations, length_beam) for sentence in sentences]
    assert [h.number for h in found] == [s.number for s in sentences]
    assert [h.ids for h in found] == [ids for ids, _ in expected]
    assert [h.score for h in found] == pytest.approx([score for _, score in expected], abs=1e-4)
    assert {h.rounds for h in found} == {iterations}
    assert len({len(h.ids) - len(s.source) for h, s in zip(found, sentences, strict=True)}) > 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("length_beam", [1, 3])
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_replayed_passes_equal_computed_ones(rows: int, length_beam: int) -> None:
    model, sentences = masked_transformer(), make_sentences(14)
    imitation, options = imitated(model), Decoding(iterations=3, length_beam=length_beam, batch_size=rows)
    expected = decoded(model, sentences, iterations=3, length_beam=length_beam, batch_size=rows)
    for _ in range(2):
        assert list(mask_predict(imitation.verifier, sentences, options)) == expected
    counts = imitation.graphs.counts
    assert counts.graphs == imitation.capture.count > 1
    assert counts.waits == 2 * 2 * -(-len(sentences) // rows)  # of each batch the lengths and the outputs, in two decodings
    captured = imitation.capture.count
    list(mask_predict(imitation.verifier, sentences, options))
    assert imitation.capture.count == captured


@pytest.mark.parametrize("failing", ["encode", "teach"])
def test_a_decoding_that_fails_gives_its_buffers_back(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, sentences, options = masked_transformer(), make_sentences(4), Decoding(batch_size=4)
    imitation = imitated(model)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("out of memory")

    kept = 0
    for times in range(3):  # the operators of a form run first, then they are captured, then replayed
        with monkeypatch.context() as patched:
            patched.setattr(type(imitation.verifier.network), failing, fail)
            if times < 2:
                with pytest.raises(RuntimeError, match="out of memory"):
                    list(mask_predict(imitation.verifier, sentences, options))
        kept = len(imitation.graphs)
        assert list(mask_predict(imitation.verifier, sentences, options)) == list(mask_predict(Verifier(model), sentences, options))
    assert kept == len(imitation.graphs) == imitation.graphs.counts.forms == 1


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("width", [16, 48])
def test_results_are_batch_invariant(precision: str, width: int) -> None:
    model, sentences = in_precision(masked_transformer(width=64, feed_forward=128), precision), make_sentences(9, width)
    alone = decoded(model, sentences)
    for rows in (2, 9):
        together = decoded(model, sentences, batch_size=rows)
        if precision == "bfloat16":
            assert [h.ids for h in together] == [h.ids for h in alone]
        else:
            assert together == alone


def test_int8_resembles_floating_point() -> None:
    sentences = make_sentences(9)
    rounded, exact = (
        decoded(in_precision(masked_transformer(width=64, feed_forward=128), precision), sentences, batch_size=4)
        for precision in ("int8", "float32")
    )
    assert sum(a.ids == b.ids for a, b in zip(rounded, exact, strict=True)) >= 5


def test_more_lengths_never_score_lower() -> None:
    model, sentences = masked_transformer(), make_sentences(11)

    def means(length_beam: int) -> list[float]:
        return [(h.score or 0.0) / (len(h.ids) - 1) for h in decoded(model, sentences, length_beam=length_beam)]

    one, five = means(1), means(5)
    assert all(more >= less for less, more in zip(one, five, strict=True))
    assert one != five


@pytest.mark.parametrize("longest", [1, 2, 5])
def test_no_output_exceeds_its_limit(longest: int) -> None:
    found = decoded(masked_transformer(), make_sentences(9), max_length=longest, batch_size=4)
    assert {len(h.ids) for h in found} <= set(range(1, longest + 1))
    assert max(len(h.ids) for h in found) == longest
    assert all((h.ids[-1] == EOS) == (longest > 1) and len(h.log_probabilities) == len(h.ids) for h in found)


def test_the_longest_source_fits() -> None:
    model, longest = masked_transformer(max_positions=40), 32
    (found,) = decoded(model, [Sentence(0, [*[9] * (longest - 1), EOS])], batch_size=1)
    assert 2 <= len(found.ids) <= longest - 2


@given(
    scores=st.lists(st.lists(st.sampled_from([-3.0, -2.0, -1.0, 0.0]), min_size=12, max_size=12), min_size=1, max_size=3),
    words=st.lists(st.integers(1, 12), min_size=3, max_size=3),
    iterations=st.integers(2, 12),
    data=st.data(),
)
def test_the_least_probable_words_are_masked_again(
    scores: list[list[float]], words: list[int], iterations: int, data: st.DataObject
) -> None:
    iteration = data.draw(st.integers(1, iterations - 1))
    masked = least_sure(torch.tensor(scores), torch.tensor(words[: len(scores)]), iteration, iterations)
    for row, number, chosen in zip(scores, words, masked.tolist(), strict=False):
        count = max(1, number * (iterations - iteration) // iterations)
        ranked = sorted(range(number), key=lambda place: row[place])
        assert {place for place, each in enumerate(chosen) if each} == set(ranked[:count])
