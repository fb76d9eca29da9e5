"""Training pairs: read from text files, and put in batches of a few fixed shapes."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from torch import Tensor

from specdec_cli.errors import InputError, UsageError
from specdec_cli.model.config import TransformerConfig
from specdec_cli.text.corpus.parallel import Pair, read_tsv
from specdec_cli.text.tokenize.tokenizer import Tokenizer

_MIN_WIDTH = 8


@dataclass(frozen=True)
class SentencePair:
    """Token ids of a source, which ends with EOS, and of a target, which has no BOS and ends with EOS."""

    source: Sequence[int]
    target: Sequence[int]


@dataclass(frozen=True)
class ShapeGroup:
    """The pairs whose batches have the same tensor shapes: sources (batch_size, source_width), targets (batch_size, target_width).

    `indices` are the positions of these pairs in the list of all pairs.
    """

    source_width: int
    target_width: int
    batch_size: int
    indices: tuple[int, ...]


def padded_width(length: int, max_length: int) -> int:
    """The smallest of 8, 12, 16, 24, 32, 48, ... that is at least `length`, capped at `max_length`.

    Few widths keep the number of tensor shapes small: PyTorch prepares its kernels for each new shape. Raises ValueError if
    `length` exceeds `max_length`.
    """
    if length > max_length:
        raise ValueError(f"a sentence of {length} tokens is longer than {max_length}")
    power = max(_MIN_WIDTH, 1 << (length - 1).bit_length())  # the smallest power of 2 that is at least `length`
    three_quarters = power * 3 // 4
    return min(max_length, three_quarters if power > _MIN_WIDTH and length <= three_quarters else power)


def group_by_shape(pairs: Sequence[SentencePair], batch_tokens: int, max_length: int) -> list[ShapeGroup]:
    """Group pairs by the padded widths of source and target.

    The batch size of a group is `batch_tokens` divided by the larger of its two widths, at least 1. A group with less than four
    batches is merged into the group whose source and target width both equal its larger width. Raises ValueError if a source or
    target has more than `max_length` tokens.
    """
    shapes: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        shapes[padded_width(len(pair.source), max_length), padded_width(len(pair.target), max_length)].append(index)
    for shape in sorted(shapes):
        square = (max(shape), max(shape))
        if shape != square and len(shapes[shape]) * max(shape) < 4 * batch_tokens:
            shapes[square].extend(shapes.pop(shape))
    return [ShapeGroup(*shape, max(1, batch_tokens // max(shape)), tuple(sorted(indices))) for shape, indices in sorted(shapes.items())]


def epoch_order(groups: Sequence[ShapeGroup], seed: int, epoch: int) -> list[tuple[ShapeGroup, tuple[int, ...]]]:
    """Return the batches of epoch number `epoch` in random order, each as its group and the indices of its pairs.

    The pairs of each group are shuffled too. The order depends only on `groups`, `seed` and `epoch`. The last batch of a group
    repeats pairs of its first batches, so that all batches of a group have the same size.
    """
    generator = numpy.random.default_rng((seed, epoch))
    batches: list[tuple[ShapeGroup, tuple[int, ...]]] = []
    for group in groups:
        order = generator.permutation(numpy.asarray(group.indices))
        filled = numpy.resize(order, -(-len(order) // group.batch_size) * group.batch_size)
        batches += [(group, tuple(part.tolist())) for part in filled.reshape(-1, group.batch_size)]
    return [batches[i] for i in generator.permutation(len(batches))]


def evaluation_order(groups: Sequence[ShapeGroup]) -> list[tuple[ShapeGroup, tuple[int, ...]]]:
    """Return batches that have every pair once, each as its group and the indices of its pairs. The last one of a group may be smaller."""
    return [
        (group, group.indices[start : start + group.batch_size])
        for group in groups
        for start in range(0, len(group.indices), group.batch_size)
    ]


def pad(rows: Sequence[Sequence[int]], width: int, padding: int) -> Tensor:
    """An int64 tensor (B, width) of the token ids of the B `rows`, padded on the right with the id `padding`."""
    table = numpy.full((len(rows), width), padding, dtype=numpy.int64)
    for row, ids in zip(table, rows, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(table)


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
                others = ", ".join(sorted(each.name for each in Path(name).glob("*.tsv*"))[:3])
                raise InputError(f"{name}: this folder has no train.tsv; name a file in it{others and f', such as {others}'}")
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
