"""Reading of training pairs from text files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.errors import InputError, UsageError
from specdec_cli.model.config import TransformerConfig
from specdec_cli.text.corpus.parallel import Pair, read_tsv
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.training.batches import SentencePair


@dataclass(frozen=True)
class DataSource:
    """A TSV file of sentence pairs; each pair occurs `times` times in an epoch."""

    path: Path
    times: int = 1

    @classmethod
    def parse(cls, text: str) -> "DataSource":
        """Parse `FILE`, `FILE*N`, `FOLDER` or `FOLDER*N`; N (default 1) is `times`, and a folder stands for the file train.tsv in it.

        Raises UsageError if N is not a positive integer, and InputError if the file does not exist.
        """
        name, star, number = text.rpartition("*")
        if not star:
            name, number = text, "1"
        if not number.isdecimal() or int(number) < 1:
            raise UsageError(f"{text}: expected a positive integer after *")
        path = Path(name)
        if path.is_dir():
            path = path / "train.tsv"
            if not path.exists():
                raise InputError(f"{name}: this folder has no train.tsv; name a file in it")
        if not path.exists():
            raise InputError(f"{path}: no such file")
        return cls(path, int(number))


def encode_pairs(pairs: Sequence[Pair], tokenizer: Tokenizer, eos: int) -> list[SentencePair]:
    """Encode pairs of texts as token ids; sources get the tokenizer's special tokens, targets end with the id `eos`."""
    sources = tokenizer.encode_batch([pair.source for pair in pairs])
    targets = tokenizer.encode_targets([pair.target for pair in pairs])
    framed = zip(map(tokenizer.add_special_tokens, sources), targets, strict=True)
    return [SentencePair(source, tokenizer.add_target_tokens(target, eos)) for source, target in framed]


def load_pairs(
    data: Sequence[DataSource], tokenizer: Tokenizer, config: TransformerConfig, warn: Callable[[str], None]
) -> list[SentencePair]:
    """Read and encode all pairs of `data` without a blank side that are not longer than `config.max_positions`; repeat each file
    `times` times.

    Calls `warn` with a message for each file of which pairs are left out. Raises InputError for a file that is malformed,
    empty, or has only pairs that are left out.
    """
    loaded: list[SentencePair] = []
    for source in data:
        read = list(read_tsv(source.path))
        if not read:
            raise InputError(f"{source.path}: empty")
        filled = [pair for pair in read if pair.source.strip() and pair.target.strip()]
        check_left(source.path, "pairs", len(filled), len(read), "blank on one side or both", warn)
        pairs = encode_pairs(filled, tokenizer, config.eos)
        fitting = [pair for pair in pairs if max(len(pair.source), len(pair.target)) <= config.max_positions]
        check_left(source.path, "pairs", len(fitting), len(pairs), longer_than(config.max_positions), warn)
        loaded += fitting * source.times
    return loaded


def check_left(path: Path, unit: str, left: int, count: int, reason: str, warn: Callable[[str], None]) -> None:
    """Call `warn` with a message if only `left` of the `count` pairs or lines of the file `path` remain.

    `unit` ("pairs" or "lines") and `reason`, what is wrong with the others, are for the message. Raises InputError if `left` is 0.
    """
    if not left:
        raise InputError(f"{path}: all {count:,} {unit} are {reason}")
    if left < count:
        warn(f"{path}: {count - left:,} of {count:,} {unit} are left out, {reason}")


def longer_than(positions: int) -> str:
    """The reason for leaving out a pair or line of more than `positions` tokens, for `check_left`."""
    return f"longer than the model's {positions:,} positions"
