"""Text files to training pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.errors import InputError, UsageError
from specdec_cli.model.config import TransformerConfig
from specdec_cli.text.parallel import Pair, read_tsv
from specdec_cli.text.tokenizer import Tokenizer
from specdec_cli.training.batches import SentencePair


@dataclass(frozen=True)
class DataSource:
    """A TSV file, and how many times an epoch goes through it."""

    path: Path
    times: int = 1

    @classmethod
    def parse(cls, text: str) -> "DataSource":
        """`FILE`, `FOLDER` of `specdec prepare` (its train.tsv), or either with `*N`. Raises UsageError or InputError."""
        name, star, number = text.rpartition("*")
        if not star:
            name, number = text, "1"
        if not number.isdigit() or int(number) < 1:
            raise UsageError(f"{text}: after * a number from 1 is expected")
        path = Path(name)
        if path.is_dir():
            path = path / "train.tsv"
        if not path.exists():
            raise InputError(f"{path}: no such file")
        return cls(path, int(number))


def encode_pairs(pairs: Sequence[Pair], tokenizer: Tokenizer, eos: int) -> list[SentencePair]:
    """Ids of sources and targets, each ending with EOS."""
    sources = tokenizer.encode_batch([pair.source for pair in pairs])
    targets = tokenizer.encode_targets([pair.target for pair in pairs])
    framed = zip(map(tokenizer.framed, sources), targets, strict=True)
    return [SentencePair(source, tokenizer.framed_target(target, eos)) for source, target in framed]


def load_pairs(
    data: Sequence[DataSource], tokenizer: Tokenizer, config: TransformerConfig, tell: Callable[[str], None]
) -> list[SentencePair]:
    """All pairs of `data` that fit the positions of `config`, each source repeated as often as it says.

    `tell` is called with a sentence for each file of which pairs are left out. Raises InputError for a file that is
    broken, empty, or without a pair that fits.
    """
    loaded: list[SentencePair] = []
    for source in data:
        pairs = encode_pairs(list(read_tsv(source.path)), tokenizer, config.eos)
        if not pairs:
            raise InputError(f"{source.path}: empty")
        fitting = [pair for pair in pairs if max(len(pair.source), len(pair.target)) <= config.max_positions]
        check_lengths(source.path, "pairs", len(fitting), len(pairs), config.max_positions, tell)
        loaded += fitting * source.times
    return loaded


def check_lengths(path: Path, what: str, fitting: int, count: int, longest: int, tell: Callable[[str], None]) -> None:
    """Tell that some of the `count` pairs or lines of a file are too long. Raises InputError where none of them fits."""
    if not fitting:
        raise InputError(f"{path}: all {count:,} {what} are longer than the model's {longest:,} positions")
    if fitting < count:
        tell(f"{path}: {count - fitting:,} of {count:,} {what} are left out, longer than the model's {longest:,} positions")
