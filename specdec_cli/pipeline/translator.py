"""Translation of lines of text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, Unpack

from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import Described
from specdec_cli.pipeline.decoded_text import DecodedLine, Scored, best_combinations
from specdec_cli.pipeline.drafts import Drafts, DraftUse
from specdec_cli.pipeline.lines import Languages, LineDecoder, LineOptions
from specdec_cli.pipeline.term_placing import TermPlacer
from specdec_cli.text.checks import EMPTY, GLOSSARY, output_warnings
from specdec_cli.text.glossary import Glossary, Term, check_order, come_out
from specdec_cli.text.labels import Labels
from specdec_cli.text.tags.markup import without_tags
from specdec_cli.text.tokenize.tokenizer import Tokenizer


@dataclass(frozen=True)
class Translation:
    """A translated line; tokens, rounds and the log probability `score` are sums over its sentences.

    `score` is None if it was not computed. `hypotheses` are the n best lines with their log probabilities, first `text`; `sentences` are
    the output ids of each sentence; `decoding` is the decoding that was used ("" for a copied line); `warnings` name possible errors (see
    text/checks.py). `draft` says what became of the drafts that were found for its sentences, None if there were none. `terms` are those of
    the glossary in its sentences, in order, each with whether the translation has it.
    """

    text: str
    tokens: int = 0
    rounds: int = 0
    score: float | None = None
    hypotheses: tuple[Scored, ...] = ()
    sentences: tuple[tuple[int, ...], ...] = ()
    decoding: str = ""
    warnings: tuple[str, ...] = ()
    draft: DraftUse | None = None
    terms: tuple[tuple[Term, bool], ...] = ()


class LineTranslator:
    """Translates lines with `engine`; see LineOptions for its options.

    With the `languages` of the model, text that is not prose is copied, inline tags are placed (see LineDecoder) and outputs are checked
    for errors.
    """

    def __init__(
        self, engine: SentenceDecoder, tokenizer: Tokenizer, *, languages: Languages | None = None, **options: Unpack[LineOptions]
    ) -> None:
        self.engine, self.tokenizer, self.splits = engine, tokenizer, options.get("split", True)
        self._checks, self._languages = languages is not None, languages or ("", "")
        self._lines = LineDecoder(engine, tokenizer, languages=languages, place=self._checks, **options)

    @classmethod
    def of_bundle(
        cls,
        engine: SentenceDecoder,
        bundle: Described,
        *,
        terms: Sequence[Term] = (),
        labels: bool = True,
        **options: Unpack[LineOptions],
    ) -> Self:
        """The translator of a bundle: with its languages, with a glossary of `terms`, and with its `labels`.

        A model that summarises reads a line as one text, of which nothing is copied or checked. Raises UsageError for terms that the order
        of the model's tokens does not allow.
        """
        info, is_raw, languages = bundle.info, options.get("raw", False), None
        if info.task == "summarise" or is_raw:
            options["split"] = False
        else:
            languages = info.source_language, info.target_language
        translator = cls(engine, bundle.tokenizer, languages=languages, **options)
        if terms:
            check_order(bundle.shape.order)
            translator.use_glossary(Glossary(terms))
        translator.use_labels(bundle.labels if labels and not is_raw else None)
        return translator

    def sentences(self, lines: Sequence[str]) -> list[str]:
        """The sentences of lines that are translated, in order, without tags; those that are too long for the model are not cut."""
        return [text for line in lines for text in self._lines.segments(without_tags(line).text, lambda _: 0).texts]

    def use_drafts(self, drafts: Drafts | None) -> None:
        """Decode sentences with the drafts that `drafts` finds for them from now on (None: without drafts)."""
        self._lines.drafts = drafts

    def use_glossary(self, glossary: Glossary) -> None:
        """Translate the terms of `glossary` as it says from now on."""
        self._lines.terms = TermPlacer(self.engine, self.tokenizer, glossary, self._languages[1])

    def use_labels(self, labels: Labels | None) -> None:
        """Translate the labels of `labels` as it says from now on (None: with the model)."""
        self._lines.labels = labels

    def translate(
        self, lines: Sequence[str], *, separate: bool | Sequence[bool] = False, numbers: Sequence[int] = ()
    ) -> Iterator[Translation]:
        """Yield a translation for each line, in order, as soon as it is available; blank lines are copied.

        Lines that are `separate` are parts of a document such as headings: no full stop is added to one that ends with a letter.
        `numbers` are those of the lines in their file, from which sampling draws.
        """
        return map(self._translation, self._lines.decode(lines, separate=separate, numbers=numbers))

    def _translation(self, line: DecodedLine) -> Translation:
        if not line.texts:
            return Translation(line.text)
        return Translation(
            text=line.text,
            tokens=line.tokens,
            rounds=line.rounds,
            score=line.score,
            hypotheses=self._hypotheses(line),
            sentences=tuple(tuple(part.ids) for part in line.parts),
            decoding=line.decoding,
            warnings=self._warnings(line),
            draft=line.draft_use,
            terms=self._terms(line),
        )

    def _warnings(self, line: DecodedLine) -> tuple[str, ...]:
        start, end = len(line.segments.gaps[0]), len(line.segments.gaps[-1])  # what is copied before and behind the texts
        source, output = (text[start : len(text) - end] for text in (line.source, line.plain_text))
        warnings = output_warnings(source, output, self._languages) if self._checks else ()
        if any(each.is_left for each in line.texts):
            warnings = (EMPTY, *warnings)
        return (*warnings, GLOSSARY) if any(each.is_doubtful for each in line.texts) else warnings

    def _terms(self, line: DecodedLine) -> tuple[tuple[Term, bool], ...]:
        if self._lines.terms is None:
            return ()
        glossary = self._lines.terms.glossary
        texts = (([match.term for match in glossary.find(text.text)], text.output or "") for text in line.texts)
        return tuple(pair for terms, output in texts for pair in zip(terms, come_out(terms, output), strict=True))

    def _hypotheses(self, line: DecodedLine) -> tuple[Scored, ...]:
        """The n best lines, without duplicates: the text of the line, then the other combinations of the n best outputs of its texts, by
        their log probabilities. None without a search.
        """
        if line.score is None or not any(part.alternatives for part in line.parts):
            return ()
        wanted = self.engine.decoding.search.n_best
        options = [text.ranked(wanted, self.tokenizer.decode) for text in line.texts]
        best = {line.text: line.score}
        for outputs, score in best_combinations(options, wanted):
            if len(best) < wanted and outputs != tuple(text.output for text in line.texts):
                tagged = self._lines.with_tags(list(zip(line.texts, outputs, strict=True)))
                best.setdefault(line.tagged.join(tagged), score)
        return tuple(best.items())
