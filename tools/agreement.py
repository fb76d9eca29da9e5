"""`python -m tools.agreement VERIFIER DRAFT FILE..`: the tokens a round that a draft model gives, and those that agreement allows.

What agreement allows is simulated: after each prefix of the verifier's output, the draft model continues its text by greedy decoding, and
every token of the verifier counts whose text the continuation has. Nothing is lost there between two vocabularies. Small bundles of the
same function as large ones (see tools/inflate.py) give the same numbers sooner.
"""

import argparse
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from specdec_cli.decoding.bridge import Bridge
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.decoding.sentence import Sentence, make_sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.model.bundle_info import Described
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice


class Agreement:
    """Measures how many tokens a round a draft model gives a verifier, with drafts of at most `block_size` tokens of the verifier."""

    def __init__(self, verifier: str, draft: str, block_size: int) -> None:
        self._block_size = block_size
        self._verifier, self._greedy = _opened(verifier, DecodingOptions(decoding="greedy", max_length=200))
        self._draft, self._continuing = _opened(draft, DecodingOptions(decoding="greedy", max_length=400))
        options = DecodingOptions(decoding="draft-model", draft_model=draft, block_size=block_size, max_length=200)
        _, self._drafted = _opened(verifier, options)
        self._bridge = Bridge(self._verifier.tokenizer, self._draft.tokenizer)

    def measured(self, texts: Sequence[str]) -> tuple[float, float, int]:
        """Return the measured tokens per round, the simulated ones, and the number of texts with the same output as greedy decoding."""
        sentences = [self._sentence(self._verifier, number, text) for number, text in enumerate(texts)]
        greedy = {each.number: each.ids for each in self._greedy.decode(sentences)}
        found = {each.number: each for each in self._drafted.decode(sentences)}
        equal = sum(found[number].ids == ids for number, ids in greedy.items())
        tokens = sum(map(len, greedy.values()))
        rounds = sum(each.rounds for each in found.values())
        return tokens / rounds, tokens / sum(self.rounds(text, greedy[number]) for number, text in enumerate(texts)), equal

    def rounds(self, text: str, ids: Sequence[int]) -> int:
        """Simulate decoding `ids`, the verifier's output for `text`, and return the number of rounds."""
        eos, tokenizer = self._verifier.shape.eos, self._verifier.tokenizer
        ends = [len(tokenizer.decode(ids[:count])) for count in range(len(ids) + 1 - (ids[-1:] == [eos]))]
        whole, continued = tokenizer.decode(ids), self._continued(text, ids)
        rounds = done = 0
        while done < len(ids):
            same, ended = _common(whole, continued[done])
            agreed = bisect_right(ends, same) - 1 if same >= ends[min(done, len(ends) - 1)] else done
            if ended and agreed == len(ends) - 1:
                agreed = len(ids)  # both end here
            done = min(max(agreed, done), done + self._block_size) + 1
            rounds += 1
        return rounds

    def _continued(self, text: str, ids: Sequence[int]) -> list[str]:
        """For each n below `len(ids)`, the draft model's whole output for `text` when it is forced to begin with the text of `ids[:n]`."""
        tokenizer, eos = self._draft.tokenizer, self._draft.shape.eos
        sentence = self._sentence(self._draft, 0, text)
        rows = []
        for number in range(len(ids)):
            read = self._bridge.read(ids[:number])
            rows.append(Sentence(number, sentence.source, draft=[*read, eos], prefix=len(read)))
        found = {each.number: each.ids for each in self._continuing.decode(rows)}
        return [tokenizer.decode(found[number]) for number in range(len(ids))]

    @staticmethod
    def _sentence(bundle: Described, number: int, text: str) -> Sentence:
        return make_sentence(bundle.tokenizer, bundle.shape.eos, number, text)


def _common(text: str, other: str) -> tuple[int, bool]:
    """The length of the common prefix of two texts, in characters, and whether the texts are equal."""
    count = next((place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    return count, text == other


def _opened(bundle: str, options: DecodingOptions) -> tuple[Described, SentenceDecoder]:
    opened = open_engine(ModelChoice(bundle), MachineOptions(), options)
    return opened.bundle, opened.engine


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.agreement", description=__doc__)
    parser.add_argument("verifier", help="a bundle, or the name of a shipped one")
    parser.add_argument("draft", help="the draft model")
    parser.add_argument("files", type=Path, nargs="+", help="lines, or TSV with the source in the first column")
    parser.add_argument("--block-size", type=int, default=8, help="drafted tokens a round (default: 8)")
    parser.add_argument("--lines", type=int, default=200, help="the first lines of each file (default: 200)")
    arguments = parser.parse_args()
    agreement = Agreement(arguments.verifier, arguments.draft, arguments.block_size)
    for file in arguments.files:
        texts = [line.partition("\t")[0] for line in file.read_text().split("\n") if line][: arguments.lines]
        measured, allowed, equal = agreement.measured(texts)
        share = measured / allowed
        print(f"{file.name}: {measured:.2f} tokens a round of {allowed:.2f} ({share:.0%}), {equal} of {len(texts)} lines greedy's")


if __name__ == "__main__":
    main()
