"""The reference engine and the native engine on the same sources."""

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.native.model import NativeModel
from tests.native.decoding_requests import Request, decode
from tests.native.expected import Outcome, outcome


def sources_of(size: int, count: int, longest: int) -> list[list[int]]:
    """Sources with runs that occur twice, of 1 to `longest` tokens."""
    generator = random.Random(count)
    sources = []
    for _ in range(count):
        some = [generator.randrange(8, size) for _ in range(generator.randint(0, longest // 2))]
        sources.append([*some, *some[: longest - 1 - len(some)], 3])
    return sources


def changed(output: Sequence[int], size: int, eos: int, generator: random.Random) -> list[int]:
    """Make a text like `output`, in which some tokens are replaced, inserted, removed or moved. It may be longer than outputs can be."""
    text = [token for token in output if token != eos]
    for _ in range(generator.randrange(4)):
        place = generator.randrange(len(text) + 1)
        new = [generator.randrange(8, size) for _ in range(generator.randrange(3))]
        text[place : place + generator.randrange(3)] = new
    return [*text, *(text * 3 if generator.random() < 0.2 else []), eos]


def shipped_sources(bundle: Bundle, name: str, data: Path) -> list[list[int]]:
    """The first sources of a dev set of the shipped bundle `name`. The variable SPECDEC_NATIVE_LINES sets their number (default: 20)."""
    path = data / ("en-de/dev.chat.tsv" if name == "en-de" else "en-gec/dev.jfleg/source")
    lines = path.read_text(encoding="utf-8").splitlines()[: int(os.environ.get("SPECDEC_NATIVE_LINES", "20"))]
    return [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line.split("\t")[0].strip())) for line in lines]


def reference(
    bundle: Bundle, sources: Sequence[Sequence[int]], asked: DecodingOptions, copies: Sequence[Sequence[int]] = ()
) -> list[Hypothesis]:
    """What the reference engine decodes; `copies` are the texts that are copied in place of the sources."""
    engine = Engine(bundle, resolve(asked, bundle))
    return list(engine.decode([Sentence(n, source, copy=copies[n] if copies else ()) for n, source in enumerate(sources)]))


def by_number(decoded: Iterable[Hypothesis]) -> dict[int, Outcome]:
    """What an engine decoded, by the number of the source."""
    return {each.number: outcome(each) for each in decoded}


def native(model: NativeModel, sources: Sequence[Sequence[int]], request: Request) -> dict[int, Outcome]:
    """What the native engine decodes, by the number of the source."""
    return by_number(decode(model, sources, request))
