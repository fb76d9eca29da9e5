"""Held-out text for the training of drafters, with the greedy output of the verifier."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from specdec_cli.decoding.verifier import bundle_verifier
from specdec_cli.model.bundle import Bundle
from specdec_cli.text.corpus.parallel import read_sources
from specdec_cli.training.data import SentencePair, check_left, longer_than
from specdec_cli.training.drafter import greedy_outputs
from specdec_cli.training.recipe import DEV_LINES


def held_out_sets(bundle: Bundle, files: Sequence[Path], tell: Callable[[str], None]) -> dict[str, list[SentencePair]]:
    """Decode the sources of each file greedily (see `dev_sources`). Returns pairs of source and output, by the name of the dev set."""
    return {name: greedy_outputs(bundle, dev_sources(bundle, path, tell)) for name, path in zip(dev_names(files), files, strict=True)}


def tell_left_out(held_out: Mapping[str, Sequence[SentencePair]], shortlist: int, tell: Callable[[str], None]) -> None:
    """Tell, for each dev set, which share of its target tokens a drafter can never propose, by calling `tell` with a message.

    Such a drafter proposes only the first `shortlist` tokens of the vocabulary. Without a shortlist (0), `tell` is not called.
    """
    if not shortlist:
        return
    shares = []
    for name, pairs in held_out.items():
        tokens = [token for pair in pairs for token in pair.target]
        shares.append(f"{sum(token >= shortlist for token in tokens) / max(len(tokens), 1):.1%} in {name}")
    tell(f"tokens that a shortlist of {shortlist:,} cannot draft: {', '.join(shares)}")


def dev_names(files: Sequence[Path]) -> list[str]:
    """A name for each dev set, made from the name of its file. A name that is taken gets the position of the file (from 1) as a suffix."""
    names: list[str] = []
    for path in files:
        name = path.stem.removeprefix("dev.")
        while name in names:
            name = f"{name}_{len(names) + 1}"
        names.append(name)
    return names


def dev_sources(bundle: Bundle, path: Path, tell: Callable[[str], None]) -> list[list[int]]:
    """The ids of the first DEV_LINES non-blank sources of a file (TSV, or plain text), without those too long for the verifier.

    `tell` is called with a message if some are too long. Raises InputError if all are too long.
    """
    longest = bundle_verifier(bundle).longest_source
    texts = islice(filter(str.strip, read_sources([path])), DEV_LINES)
    sources = [bundle.tokenizer.add_special_tokens(ids) for ids in bundle.tokenizer.encode_batch(list(texts))]
    fitting = [source for source in sources if len(source) <= longest]
    check_left(path, "lines", len(fitting), len(sources), longer_than(longest), tell)
    return fitting
