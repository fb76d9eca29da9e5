"""What the page shows of a text, by engines with fixed outputs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.server.page import Showing
from specdec_cli.server.service import Words
from specdec_cli.text.glossary import Glossary, Term
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.text.tokenize.tokenizer import Tokenizer

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle


class Replacing:
    """An engine that replaces the word "lo" by another."""

    longest_source, eos, decoding = 256, EOS, Decoding(method="specdec")

    def __init__(self, tokenizer: Tokenizer, word: str) -> None:
        self._tokenizer, self._word = tokenizer, word

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield the sentences with the other word."""
        for sentence in sentences:
            text = self._tokenizer.decode(sentence.source).replace("lo", self._word)
            ids = [*self._tokenizer.encode(text), EOS]
            yield Hypothesis(sentence.number, ids, 1, -1.0, (), tuple(-1.0 for _ in ids))


def test_a_glossary_does_not_change_what_is_shown_of_a_corrector(bundle: "Bundle") -> None:
    corrector = replace(bundle, info=replace(bundle.info, task="correct"))
    engines = {greedy: cast(SentenceDecoder, Replacing(bundle.tokenizer, word)) for greedy, word in ((False, "mi"), (True, "ka"))}
    showing = Showing(corrector, lambda *, greedy: engines[greedy], Words(Glossary([Term("sa", "ta")])))
    shown: dict[str, Any] = {}
    showing.show("sa lo sa", lambda event, values: shown.update({event: values}), lambda: False)
    assert shown["result"]["text"] == "sa mi sa" and not shown["result"]["sameAsGreedy"]
    assert [edit["text"] for edit in shown["result"]["edits"]] == ["mi"]
