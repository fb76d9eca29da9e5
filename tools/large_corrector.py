"""`python -m tools.large_corrector`: a corrector of the size of Flan-T5 on a CPU, one sentence at a time on one thread.

Weights are random, so input-guided decoding copies what a corrector would read: the greedy output, a share of whose tokens is changed. Rows
take turns; the time is processor time, because other programs may run. The result is docs/results/correctors/flan-t5.json, whose table
`make docs` writes into docs/correcting.md.
"""

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from specdec_cli.benchmark.geometries import REAL_SIZES, Geometry
from specdec_cli.benchmark.random_model import random_bundle
from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.files import write_text
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.opening.choice import ModelChoice
from specdec_cli.opening.engines import open_beside, open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.processors import keep_order_of_sums
from tools.pages import DOCS
from tools.results import markdown

STORED = DOCS / "results" / "correctors" / "flan-t5.json"
SIZES = tuple(each for each in REAL_SIZES if each.name.startswith("flan-t5"))
SHARES = (0.2, 0.1, 0.05, 0.0)
"""The shares of the tokens of a sentence that are edited."""
LENGTH, SENTENCES, DRAWN, REPETITIONS = 40, 3, 12, 5
_TRANSFORMERS, _CTRANSLATE2, _GREEDY = "transformers, float32", "CTranslate2, int8", "specdec, int8, `greedy`"
Decoded = Callable[[], list[list[int]] | None]
"""Decodes all sentences; its ids have to be those of greedy decoding, None if another library computes them."""


def edited(ids: Sequence[int], share: float, draw: random.Random, vocabulary: Sequence[int]) -> list[int]:
    """A copy of `ids` in which this share of the tokens, on average, is dropped, replaced, or has another token before it."""
    copied: list[int] = []
    for token in ids:
        kind = draw.choice(("drop", "replace", "insert")) if draw.random() < share else ""
        copied += [draw.choice(vocabulary)] * (kind in ("replace", "insert")) + [token] * (kind in ("", "insert"))
    return copied


def measure(geometry: Geometry, repetitions: int = REPETITIONS, *, transformers: bool = True) -> dict[str, float]:
    """The tokens a second of processor time of each row, for models of the shape of `geometry`. Raises ValueError for an output of specdec
    that is not greedy's.
    """
    from converters.to_ctranslate2 import to_ctranslate2

    with TemporaryDirectory(prefix="specdec-") as temporary:
        bundle, folder = random_bundle(geometry), Path(temporary)
        bundle.info = replace(bundle.info, task="correct", decoding="auto")
        save_bundle(bundle, folder / "bundle", "int8")
        to_ctranslate2(bundle, folder / "ctranslate2", "int8")
        rows, expected = _rows(bundle, folder)
        del bundle  # its weights are in float32
    if transformers:
        rows[_TRANSFORMERS] = _by_transformers(geometry)
    seconds: dict[str, list[float]] = {name: [] for name in rows}
    for repetition in range(repetitions):
        for name, decode in rows.items():
            if name == _TRANSFORMERS and repetition > 1:
                continue
            started = time.process_time()
            outputs = decode()
            seconds[name].append(time.process_time() - started)
            if outputs not in (None, expected):
                raise ValueError(f"{geometry.name}: {name}: not the output of greedy decoding")
    return {name: SENTENCES * LENGTH / median(each) for name, each in seconds.items()}


def _rows(bundle: Bundle, folder: Path) -> tuple[dict[str, Decoded], list[list[int]]]:
    """The rows of specdec and of CTranslate2, and the greedy outputs."""
    draw, eos = random.Random(1), bundle.shape.eos
    vocabulary = range(bundle.tokenizer.mask + 1, len(bundle.tokenizer))
    choice, machine = ModelChoice(str(folder / "bundle")), MachineOptions(device="cpu", precision="int8", threads=1, batch_size=1)
    request = DecodingOptions(decoding="greedy", max_length=LENGTH, batch_size=1)
    opened = open_engine(choice, machine, request)
    guided = open_beside(opened, choice, machine, replace(request, decoding="auto"))
    drawn = [[*(draw.choice(vocabulary) for _ in range(LENGTH)), eos] for _ in range(DRAWN)]
    outputs = _decoded(opened.engine, [Sentence(number, source) for number, source in enumerate(drawn)])
    # Outputs that repeat tokens, as many of a model with random weights do, are no text.
    varied = sorted(range(DRAWN), key=lambda number: -len(set(outputs[number])))[:SENTENCES]
    sources, expected = [drawn[number] for number in varied], [outputs[number] for number in varied]
    plain = [Sentence(number, source) for number, source in enumerate(sources)]
    rows: dict[str, Decoded] = {_CTRANSLATE2: _by_ctranslate2(bundle, folder, sources), _GREEDY: lambda: _decoded(opened.engine, plain)}
    for share in SHARES:
        copies = [[*edited(ids, share, draw, vocabulary), eos] for ids in expected]
        sentences = [replace(each, copy=copy) for each, copy in zip(plain, copies, strict=True)]
        rows[f"specdec, int8, `auto`, {share:.0%} of the tokens edited"] = lambda own=sentences: _decoded(guided, own)  # type: ignore[misc]
    return rows, expected


def _decoded(engine: SentenceDecoder, sentences: Sequence[Sentence]) -> list[list[int]]:
    return [list(output.ids) for output in sorted(engine.decode(sentences), key=lambda output: output.number)]


def _by_ctranslate2(bundle: Bundle, folder: Path, sources: Sequence[Sequence[int]]) -> Decoded:
    from ctranslate2 import Translator  # type: ignore[attr-defined]

    translator = Translator(str(folder / "ctranslate2"), compute_type="int8", inter_threads=1, intra_threads=1)
    pieces = [bundle.tokenizer.source_pieces(source[:-1]) for source in sources]  # CTranslate2 adds EOS
    settings = {"beam_size": 1, "min_decoding_length": LENGTH, "max_decoding_length": LENGTH, "max_input_length": 0}

    def decode() -> None:
        for each in pieces:
            translator.translate_batch([each], **settings)

    return decode


def _by_transformers(geometry: Geometry) -> Decoded:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.set_num_threads(1)
    shape = geometry.shape
    sizes = {"d_model": shape.width, "d_ff": shape.feed_forward, "num_heads": shape.heads, "num_layers": shape.encoder_layers}
    config = T5Config(vocab_size=shape.vocabulary_size, feed_forward_proj="gated-gelu", decoder_start_token_id=0, **sizes)
    model = T5ForConditionalGeneration(config).eval()

    @torch.inference_mode()
    def decode() -> None:
        for number in range(SENTENCES):
            source = torch.arange(LENGTH + 1)[None] + 100 * (number + 1)
            model.generate(source, min_new_tokens=LENGTH, max_new_tokens=LENGTH, num_beams=1, do_sample=False)

    return decode


def table() -> str:
    """The Markdown table of the stored result, with speedups over CTranslate2."""
    stored: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    sizes = stored["tokens_per_second"]
    names = sorted(next(iter(sizes.values())), key=lambda name: (name != _TRANSFORMERS, name != _CTRANSLATE2, name != _GREEDY))
    rows = [(name, *(f"{own[name]:,.0f} ({own[name] / own[_CTRANSLATE2]:.1f}x)" for own in sizes.values())) for name in names]
    return markdown(("", *(f"size of {name}" for name in sizes)), rows, 1) + f"\n{stored['environment']}\n"


def main() -> None:
    keep_order_of_sums()
    found = {geometry.name: measure(geometry) for geometry in SIZES}
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", "ctranslate2", "transformers"))
    processor = next(
        (line.partition(": ")[2] for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), ""
    )
    environment = f"{processor}; processor time of one thread; {libraries}; {time.strftime('%Y-%m-%d')}."
    write_text(STORED, json.dumps({"environment": environment, "tokens_per_second": found}, indent=1) + "\n")
    print(table())


if __name__ == "__main__":
    main()
