"""A check of a bundle on a GPU: every line has greedy decoding's tokens, by every decoding, block size and batch size; how fast decoding
and training are; and that memory is bounded.

Each part prints its results and adds them to a JSON file, so that a later run goes on where this one ended. A part that fails is reported,
and the next one runs.
"""

import json
import os
import random
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import Any, Literal

import torch

from specdec_cli.benchmark.check_training import Trained, training_speed
from specdec_cli.benchmark.checked_model import BEAM, CheckedModel, agreement, by_width, named, rates, speed
from specdec_cli.benchmark.inputs import SAMPLE
from specdec_cli.decoding.graphs import MOST_FORMS
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Sampled
from specdec_cli.decoding.pace import FixedPace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import MissingLibraryError, UsageError, counted
from specdec_cli.files import write_json
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.gpu import why_not_kernels
from specdec_cli.opening.machine import prepare_torch
from specdec_cli.text.io.lines import read_text_lines
from specdec_cli.training.data import SentencePair

OUT = Path("check-gpu.json")
"""The file of the results, without another name."""
SIZES, BURSTS = range(64), range(1, 9)
"""Block sizes, of which those above the drafter's largest one use lookup drafts; and smallest numbers of rounds of a burst."""
Lines = Mapping[int, int | None]
"""For each batch size, how many lines are decoded with it; None: all."""
OF_SIZES: Lines = {512: None, 128: 128, 32: 64, 7: 21, 1: 4}
OF_BURSTS: Lines = {32: 256, 1: 32}
OF_OTHERS: Lines = {128: None, 1: 100}
"""The number of lines that a check decodes, by batch size (None: all lines): for each block size, for each number of rounds in a burst, and
for each other decoding. Their tokens are compared with those of greedy decoding with batch size 1, which decodes all lines first.
"""
SECONDS = 330.0
"""Seconds after which no part begins: a run takes six minutes at most."""
TIMED = ((128, 4), (512, 4), (1, 0), (1, 4), (1, 10), (32, 0), (32, 4), (32, 10), (128, 0), (512, 0), (7, 3))
"""Batch sizes and block sizes that are timed, and checked first."""
OTHERS = ("auto", "lookup", "input-guided", "jacobi", "gs-jacobi", "ngram-memory", "specdec,lookup")
"""Other exact decodings."""
ALIKE_ROWS, ALIKE_SIZE = 128, 4
"""Batch size and block size of what is compared with its own output line by line: the drafter alone, and sampling."""
BESIDE = (1, 32, 128, 512)
"""Batch sizes of CTranslate2."""
BEAM_ROWS = (1, 512)
"""Batch sizes in which beam search is checked and timed, beside CTranslate2."""
TRAINED: Sequence[Trained] = ("verifier", "drafter")
"""What is trained."""
LOSS_SHARE = 0.05
"""The largest difference of the losses of captured and of eager updates, as a share: rounding differs from run to run."""
DRAWN, DRAWN_ROWS, DRAWN_SECONDS = 100_000, 512, 60.0
"""The number of sentences in the check of memory, their batch size, and the seconds after which no more of them are decoded."""
WINDOW = 4096
"""How many of these sentences are sorted by length and decoded together."""
GROWTH = 1.1
"""How many times as much memory the second half of these sentences may take at most as the first half."""
FEW = 300
"""Number of lines that are timed one at a time."""
Results = dict[str, dict[str, Any]]
"""The results of each part by its name; those with "error" or "different" are not as they should be."""


@dataclass(frozen=True)
class Part:
    """A part of the check: its name, and the function that computes its results with a model."""

    name: str
    compute: Callable[[CheckedModel], dict[str, Any]]


@dataclass(frozen=True)
class Window:
    """`sentences` sentences that were decoded together: how many had other tokens than the time before, the rounds of all of them, and the
    bytes of memory that PyTorch held afterwards.
    """

    sentences: int
    different: int
    rounds: int
    reserved: int


def all_parts(text: str, results: Results, deadline: float) -> Iterator[Part]:
    """All parts, the most telling ones first, for lines of the text named `text`; `results` are those so far, and no sentence begins after
    the time `deadline`.
    """
    yield Part("card", partial(card, text=text))
    yield Part("kernels", kernels)
    yield Part("kernels, greedy alone", lambda model: model.alone("kernels"))
    yield from (_timed("kernels", rows, size) for rows, size in TIMED)
    yield from (Part(f"CTranslate2, batch {rows}", partial(ctranslate2, rows=rows)) for rows in BESIDE)
    for rows in BEAM_ROWS:
        yield Part(f"kernels, batch {rows}, beam of {BEAM}", partial(beam, means="kernels", rows=rows))
        yield Part(f"CTranslate2, batch {rows}, beam of {BEAM}", partial(ctranslate2, rows=rows, beam=BEAM))
    for trained, captured in product(TRAINED, (True, False)):
        yield Part(training_name(trained, captured=captured), partial(training, trained=trained, captured=captured, results=results))
    yield Part(f"memory over {DRAWN:,} sentences", partial(memory, deadline=deadline))
    yield from (_timed("operators", rows, size) for rows, size in ((1, 0), (1, 4), (128, 4)))
    yield Part("float32, eager operators", reference)
    yield from (Part(f"kernels, {name}", partial(agrees, lines=OF_OTHERS, decoding=name)) for name in OTHERS)
    yield Part("kernels, drafter alone", partial(alike, alone="drafter", together="drafter", sampled=None))
    yield Part("kernels, sampling", partial(alike, alone="greedy", together="specdec", sampled=Sampled()))
    yield from (
        Part(f"kernels, bursts of {rounds} rounds", partial(agrees, lines=OF_BURSTS, decoding="specdec", size=4, rounds=rounds))
        for rounds in BURSTS
    )
    yield from (Part(f"kernels, block size {size}", partial(agrees, lines=OF_SIZES, decoding="specdec", size=size)) for size in SIZES)


def _timed(means: str, rows: int, size: int) -> Part:
    return Part(f"{means}, batch {rows}, block size {size}", partial(speed_of, means=means, rows=rows, size=size))


def run_parts(model: CheckedModel, text: str, limit: float) -> bool:
    """Run all parts that the model's file does not have; return whether all results are as they should be. No part begins after `limit`
    seconds.
    """
    started = time.perf_counter()
    results: Results = json.loads(model.out.read_text(encoding="utf-8")) if model.out.exists() else {}
    parts = list(all_parts(text, results, started + limit))
    for part in parts:
        if (part.name not in results or "error" in results[part.name]) and time.perf_counter() <= started + limit:
            results[part.name] = found = result_of(part, model)
            print(f"[{time.perf_counter() - started:5.1f} s] {part.name}: {json.dumps(found)}", flush=True)
            write_json(model.out, results)
    wrong = [name for name, found in results.items() if found.get("error") or found.get("different")]
    print(counted(len(results), "part") + (f"; not as they should be: {'; '.join(wrong)}" if wrong else ", all as they should be"))
    if missing := list(dict.fromkeys(part.name for part in parts if part.name not in results)):
        print(f"the time was up before {counted(len(missing), 'part')}, which the same command goes on with: {'; '.join(missing)}")
    return not wrong


def result_of(part: Part, model: CheckedModel) -> dict[str, Any]:
    """The results of a part, or its error, and the seconds that it took."""
    begun = time.perf_counter()
    try:
        found = part.compute(model)
    except Exception as error:  # the next part may work
        traceback.print_exc(limit=-8)
        found = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"}
    return found | {"took_s": round(time.perf_counter() - begun, 2)}


def card(model: CheckedModel, text: str) -> dict[str, Any]:
    """What computes."""
    name = torch.cuda.get_device_name() if model.device == "cuda" else model.device
    versions = {"torch": torch.__version__, "triton": __import__("triton").__version__}
    return {"card": name} | versions | {"input": text, "lines": len(model.lines), "bundle": model.folder.name}


def kernels(model: CheckedModel) -> dict[str, Any]:
    """The check of the first use on a card."""
    problem = why_not_kernels(model.bundle("operators")[0])
    return {"error": problem} if problem else {"kernels": "as they should be"}


def speed_of(model: CheckedModel, means: str, rows: int, size: int) -> dict[str, Any]:
    """Decode the lines twice (with batch size 1 only the first FEW lines), and return the counts and the speed of the second pass."""
    verifier, sentences = model.bundle(means)[1], model.sentences(FEW if rows == 1 else None)
    engine = model.engine(means, "specdec", rows, size)
    before = {} if verifier.graphs is None else vars(verifier.graphs.counts).copy()
    outputs, first = model.timed(engine, sentences)
    again, seconds = model.timed(engine, sentences)
    same = [each.ids for each in again] == [each.ids for each in outputs]
    found = speed(outputs, seconds) | {"first_s": round(first, 2)}
    if model.device == "cuda":
        found["memory_mb"] = round(torch.cuda.max_memory_allocated() / 2**20)
    if verifier.graphs is not None:
        found["us_a_round"] = model.round_us(engine, verifier.graphs, sentences)
        found |= {name: number - before[name] for name, number in vars(verifier.graphs.counts).items()}
    return found | model.compare(means, outputs) | ({} if same else {"different": "from run to run"})


def agrees(model: CheckedModel, lines: Lines, decoding: str, size: int | None = None, rounds: int = 0) -> dict[str, Any]:
    """Decode `lines` by kernels in batches of each size, and compare the tokens with those of greedy decoding. Where only some are
    decoded, they are the first ones of the most frequent width. With `rounds`, bursts have at least so many.
    """
    verifier, outputs, decoded = model.bundle("kernels")[1], list[Hypothesis](), dict[str, str]()
    for rows, count in lines.items():
        groups = by_width(verifier, model.sentences())
        chosen = model.sentences() if count is None else max(groups, key=len)[:count]
        engine = model.engine("kernels", decoding, rows, size)
        if rounds:
            for alike in by_width(verifier, chosen):
                outputs += decode_with(verifier, engine.drafter, alike, engine.decoding, pace=FixedPace(size or 0, rounds))
        else:
            outputs += model.timed(engine, chosen)[0]
        decoded[f"batch {rows}"] = named(chosen)
    return {"lines": decoded} | model.compare("kernels", outputs)


def beam(model: CheckedModel, means: str, rows: int) -> dict[str, Any]:
    """Decode by beam search. A batch size of 1 stores the outputs; other batch sizes compare their outputs with the stored ones."""
    sentences = model.sentences(max(FEW, rows))
    engine = model.engine(means, "beam", rows)
    model.timed(engine, sentences)
    outputs, seconds = model.timed(engine, sentences)
    found = speed(outputs, seconds)
    if rows == 1:
        model.keep(f"{means}-beam", outputs)
        return found
    alone = model.kept(f"{means}-beam")
    return found | agreement(alone, [each for each in outputs if each.number in alone])


def alike(model: CheckedModel, alone: str, together: str, sampled: Sampled | None) -> dict[str, Any]:
    """Compare the tokens of the first FEW lines one at a time by the decoding `alone` with those in batches by `together`, of which
    decodings that verify may be `sampled`. Nothing is compared without the block drafter that "drafter" needs.
    """
    if alone == "drafter" and not isinstance(model.bundle("kernels")[0].drafter, BlockDrafter):
        return {"left_out": "the bundle has no block drafter"}
    outputs = []
    for decoding, rows in ((alone, 1), (together, ALIKE_ROWS)):
        engine = model.engine("kernels", decoding, rows, None if decoding == "greedy" else ALIKE_SIZE)
        outputs.append(model.timed(engine if sampled is None else engine.with_rule(sampled), model.sentences(FEW))[0])
    return {"lines": named(outputs[0])} | agreement({each.number: each.ids for each in outputs[0]}, outputs[1])


def training(model: CheckedModel, trained: Trained, *, captured: bool, results: Results) -> dict[str, Any]:
    """The speed of updates with the lines and their greedy outputs. Eager ones have the loss of captured ones, but for rounding."""
    bundle, greedy = load_checkpoint(model.folder), model.greedy("kernels")
    pairs = [SentencePair([*each.source], greedy[each.number]) for each in model.sentences()]
    whole = [pair for pair in pairs if pair.target[-1] == bundle.shape.eos]
    found = training_speed(bundle, whole, trained, model.device, captured=captured)
    other = results.get(training_name(trained, captured=not captured), {}).get("loss")
    if other is not None and abs(found["loss"] - other) > LOSS_SHARE * other:
        found["error"] = f"the loss of eager or captured updates is {other}"
    return found


def memory(model: CheckedModel, deadline: float) -> dict[str, Any]:
    """Decode very many drawn sentences of many lengths: memory does not grow in the second half of them, few forms of batches are kept,
    and sentences that were drawn several times have the same tokens each time.
    """
    if model.device == "cuda":
        torch.cuda.empty_cache()  # what training left would hide growth
    bundle, verifier = model.bundle("kernels")
    engine = model.engine("kernels", "specdec", DRAWN_ROWS, 4)
    sources = [tuple(each.source) for each in model.sentences()]
    before = 0 if verifier.graphs is None else verifier.graphs.counts.bursts
    windows = list(decoded(model, engine, deadline, drawn_windows(sources, bundle.shape.eos, bundle.shape.max_positions - 16)))
    if verifier.graphs is None:
        return bounded(windows, 0)
    rate = sum(window.rounds for window in windows) / max(verifier.graphs.counts.bursts - before, 1)
    return {"forms": len(verifier.graphs), "rounds_a_burst": round(rate, 1)} | bounded(windows, len(verifier.graphs))


def decoded(model: CheckedModel, engine: Engine, deadline: float, windows: Iterable[Sequence[Sentence]]) -> Iterator[Window]:
    """What decoding each of `windows` gave, at least the first one, until the time for them is up."""
    known: dict[tuple[int, ...], list[int]] = {}
    until = min(time.perf_counter() + DRAWN_SECONDS, deadline)
    for window in windows:
        sources = {each.number: tuple(each.source) for each in window}
        outputs = list(engine.decode(window))
        different = sum(known.setdefault(sources[each.number], each.ids) != each.ids for each in outputs)
        yield Window(len(window), different, sum(each.rounds for each in outputs), model.reserved())
        if time.perf_counter() > until:
            break


def reference(model: CheckedModel) -> dict[str, Any]:
    """How many lines have other tokens by eager operators in float32: rounding in float16 may decide between close tokens."""
    engine = model.engine("float32", "greedy", 128)
    outputs, seconds = model.timed(engine, model.sentences())
    greedy = model.greedy("kernels")
    differ = sum(greedy[each.number] != each.ids for each in outputs)
    return speed(outputs, seconds) | {"differ_by_rounding": differ, "of": len(outputs)}


def ctranslate2(model: CheckedModel, rows: int, beam: int = 1) -> dict[str, Any]:
    """The speed of CTranslate2 in float16 (on a CPU float32) with the same weights and sources, greedy or with a `beam`."""
    from ctranslate2 import Translator  # type: ignore[attr-defined]

    from converters.to_ctranslate2 import to_ctranslate2
    from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer

    bundle, folder = load_checkpoint(model.folder), model.out.with_suffix(".ctranslate2")
    if not folder.exists():
        to_ctranslate2(bundle, folder, "float16" if model.device == "cuda" else None)
    # On a GPU, the compute type "auto" of CTranslate2 selects int8_float16.
    kind = "float16" if model.device == "cuda" else "float32"
    translator, text = Translator(str(folder), device=model.device, compute_type=kind), FolderTokenizer(folder)
    sentences = model.sentences(FEW if rows == 1 else None)
    sources = [text.source_pieces(each.source[:-1]) for each in sentences]

    def translate(part: Sequence[Sequence[str]]) -> list[Any]:
        prefix = [text.target_prefix] * len(part) if text.target_prefix else None
        options: dict[str, Any] = {"max_batch_size": rows, "beam_size": beam, "max_decoding_length": 200}
        return list(translator.translate_batch(part, target_prefix=prefix, **options))

    translate(sources[:64])
    begun = time.perf_counter()
    found = [translate([each])[0] for each in sources] if rows == 1 else translate(sources)
    seconds = time.perf_counter() - begun
    tokens = sum(len(each.hypotheses[0]) + 1 for each in found)
    return rates(len(found), tokens, seconds) | {"compute_type": translator.compute_type, "lines": named(sentences)}


def training_name(trained: Trained, *, captured: bool) -> str:
    """The name of the part that trains by captured or by eager updates."""
    return f"training of the {trained}, {'captured' if captured else 'eager'}"


def drawn_windows(sources: Sequence[tuple[int, ...]], eos: int, longest: int) -> Iterator[list[Sentence]]:
    """DRAWN sentences of at most `longest` ids, WINDOW at a time: beginnings of `sources`, which end with `eos`, a quarter of them behind a
    whole other one.
    """
    draw = random.Random(1)
    for first in range(0, DRAWN, WINDOW):
        window = []
        for number in range(first, min(first + WINDOW, DRAWN)):
            ids = draw.choice(sources)[:-1]
            ids = ids[: draw.randint(1, max(len(ids), 1))]
            before = draw.choice(sources)[:-1] if draw.random() < 0.25 else ()
            window.append(Sentence(number, (*(*before, *ids)[: longest - 1], eos)))
        yield window


def bounded(windows: Sequence[Window], forms: int) -> dict[str, Any]:
    """Judge decoded `windows`, after which buffers of `forms` forms of batches are kept: the result of the part, with an error if memory
    grew or forms are too many.
    """
    half, drawn = (len(windows) + 1) // 2, sum(window.sentences for window in windows)
    first, second = (max((window.reserved for window in part), default=0) for part in (windows[:half], windows[half:]))
    found: dict[str, Any] = {"sentences": drawn, "first_mb": round(first / 2**20, 1), "second_mb": round(second / 2**20, 1)}
    if second > GROWTH * first:
        found["error"] = "memory grows"
    elif forms > MOST_FORMS:
        found["error"] = "too many forms of batches are kept"
    different = sum(window.different for window in windows)
    return found | ({"different": different} if different else {"same": drawn})


def check_device(
    folder: Path, text: Path | None, limit: int | None, out: Path, device: Literal["auto", "cpu", "cuda"], seconds: float = SECONDS
) -> bool:
    """Check the bundle in `folder` with the first `limit` (None: all) lines of `text` (None: the built-in sample), or with the sources of
    a TSV; return whether all is as it should be. The device cpu is for tests, under Triton's interpreter.

    Raises UsageError if there is no GPU and no interpreter, or no Triton, and InputError for text that cannot be read.
    """
    if device != "cpu" and not torch.cuda.is_available():
        raise UsageError("--check-device: there is no GPU here; nothing was checked")
    if find_spec("triton") is None:
        raise MissingLibraryError("--check-device needs Triton", "kernels-test")
    if device == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        raise UsageError("--check-device: on a CPU, only Triton's interpreter runs kernels; set TRITON_INTERPRET=1")
    prepare_torch(None)
    lines = [line.split("\t") for line in islice(read_text_lines(text or SAMPLE), limit)]
    name = "built-in sample" if text is None else "/".join(("DATA", *text.resolve().parts[-2:]))
    sources = [fields[-2] if len(fields) > 2 else fields[0] for fields in lines]
    return run_parts(CheckedModel(folder, sources, out, "cpu" if device == "cpu" else "cuda"), name, seconds)
