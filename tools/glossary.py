"""`python -m tools.glossary DATA`: measure how many terms of glossaries come out, into docs/results/glossaries/en-de.json.

DATA is the folder of data sets. The terms are drawn with a seed from each text:

- made: rare words of the source, with one or two invented words as target;
- nouns: rare words of the source, with a noun from anywhere in the references as target;
- kept: rare words of the source that stay as they are;
- reference: words of source and reference that occur in the same sentences of all texts.

Of the last kind, the translations with and without the glossary are compared with the references. Takes minutes.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.engines.native import NativeEngine
from specdec_cli.files import write_json
from specdec_cli.metrics.scoring import score
from specdec_cli.model.bundle_description import describe_bundle
from specdec_cli.opening.models import SHIPPED
from specdec_cli.pipeline.translator import Translation, Translator
from specdec_cli.text.corpus.parallel import Pair, read_tsv
from specdec_cli.text.glossary import Glossary, Term, come_out
from tools.pages import DOCS
from tools.tables import markdown

RESULT = DOCS / "results" / "glossaries" / "en-de.json"
TEXTS = ("manual", "chat", "wiki", "tatoeba")
SEED = 17
SENTENCES = 100
"""Sentences with a term, for each text and kind of terms."""
RARE = 3
"""A rare word occurs in at most this number of sentences of its text."""
TOGETHER = range(3, 13)
"""Numbers of sentences in which both words of a term of the references occur."""
_SYLLABLES = ("bo", "da", "del", "fan", "gor", "hul", "kan", "kel", "lom", "mar", "nor", "pel", "rin", "sol", "tam", "vor", "wel", "zin")
_KINDS = {"made": "made words", "nouns": "other nouns", "kept": "kept words", "reference": "the references' words"}


def words(text: str) -> list[str]:
    """The words of a text that have at least five letters."""
    return [word for word in re.findall(r"\w+", text) if len(word) > 4 and word.isalpha()]


def rare_terms(pairs: Sequence[Pair], kind: str, nouns: Sequence[str], generator: random.Random) -> list[Term]:
    """Terms for one rare lower-case word of about each second sentence."""
    counts = Counter(word for pair in pairs for word in set(words(pair.source)))
    terms: dict[str, Term] = {}
    for pair in pairs:
        rare = sorted(word for word in set(words(pair.source)) if word.islower() and counts[word] <= RARE)
        if rare and generator.random() < 0.5:
            word = generator.choice(rare)
            terms.setdefault(word, Term(word, _target(word, kind, nouns, generator)))
    return list(terms.values())


def _target(word: str, kind: str, nouns: Sequence[str], generator: random.Random) -> str:
    if kind == "kept":
        return word
    if kind == "nouns":
        return generator.choice(nouns)
    return " ".join("".join(generator.sample(_SYLLABLES, 3)).capitalize() for _ in range(generator.choice((1, 1, 1, 2))))


def reference_terms(pairs: Sequence[Pair]) -> list[Term]:
    """Pairs of a source word and a capitalised target word that occur in exactly the same sentences."""
    places: dict[str, dict[str, set[int]]] = {"source": defaultdict(set), "target": defaultdict(set)}
    for number, pair in enumerate(pairs):
        for side, found in places.items():
            for word in words(getattr(pair, side)):
                found[word].add(number)
    targets = defaultdict(list)
    for word, numbers in places["target"].items():
        if len(numbers) in TOGETHER and word[0].isupper():
            targets[frozenset(numbers)].append(word)
    alike = ((word, targets.get(frozenset(numbers), [])) for word, numbers in places["source"].items())
    return [Term(word, found[0]) for word, found in alike if len(found) == 1]


def measure(data: Path) -> Iterator[dict[str, Any]]:
    """Measure each dev set with each kind of terms, and yield a record of the result."""
    bundle = describe_bundle(SHIPPED / "en-de", "", "")
    engine = NativeEngine(bundle, resolve(DecodingOptions(decoding="greedy", batch_size=32), bundle), 1)
    corpus = {path.stem.split(".")[1]: list(read_tsv(path)) for path in sorted((data / "en-de").glob("dev.*.tsv"))}
    nouns = sorted({word for pairs in corpus.values() for pair in pairs for word in words(pair.target) if word[0].isupper()})
    known = reference_terms([pair for pairs in corpus.values() for pair in pairs])
    for text in TEXTS:
        for kind in _KINDS:
            terms = known if kind == "reference" else rare_terms(corpus[text], kind, nouns, random.Random(f"{SEED} {text} {kind}"))
            glossary = Glossary(terms)
            pairs = [pair for pair in corpus[text] if glossary.find(pair.source)][:SENTENCES]
            plain, helped = Translator(engine, bundle.tokenizer), Translator(engine, bundle.tokenizer)
            plain.use_glossary(Glossary([]))
            helped.use_glossary(glossary)
            yield {"text": text, "kind": kind} | _compared(pairs, glossary, plain, helped)


def _compared(pairs: Sequence[Pair], glossary: Glossary, plain: Translator, helped: Translator) -> dict[str, Any]:
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    before, after = ([*each.translate(sources)] for each in (plain, helped))
    own = [come_out([match.term for match in glossary.find(pair.source)], each.text) for pair, each in zip(pairs, before, strict=True)]
    outcome = [found for each in after for _, found in each.terms]
    scores = [_scores(each, references) for each in (before, after)]
    counts = {"sentences": len(pairs), "terms": len(outcome), "without": sum(map(sum, own)), "found": sum(outcome)}
    return counts | {name: [each[name] for each in scores] for name in ("bleu", "chrf")}


def _scores(translations: Sequence[Translation], references: Sequence[str]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in score([each.text for each in translations], references).values.items()}


def terms_table() -> str:
    """The Markdown table of the stored measurement: terms that come out."""
    rows = [
        (
            each["text"],
            _KINDS[each["kind"]],
            *(str(each[name]) for name in ("sentences", "terms", "without", "found")),
            f"{_share(each):.1%}",
        )
        for each in _stored()["rows"]
    ]
    return markdown(("text", "targets", "sentences", "terms", "without a glossary", "with it", "share"), rows, 2)


def scores_table() -> str:
    """The Markdown table of BLEU and chrF, without and with the references' words as glossary."""
    rows = [
        (each["text"], str(each["sentences"]), *(f"{value:.1f}" for name in ("bleu", "chrf") for value in each[name]))
        for each in _stored()["rows"]
        if each["kind"] == "reference"
    ]
    return markdown(("text", "sentences", "BLEU without", "BLEU with", "chrF without", "chrF with"), rows, 1)


def _share(row: dict[str, Any]) -> float:
    return float(row["found"] / row["terms"])


def _stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Run the program with the command-line arguments of the process."""
    parser = argparse.ArgumentParser(prog="python -m tools.glossary", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder of data sets: en-de/dev.*.tsv")
    data = parser.parse_args().data
    rows = []
    for row in measure(data):
        print(json.dumps(row))
        rows.append(row)
    RESULT.parent.mkdir(exist_ok=True)
    write_json(RESULT, {"seed": SEED, "environment": describe_environment(), "rows": rows})


if __name__ == "__main__":
    main()
