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
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import Any, Literal

import torch

from specdec_cli.benchmark.check_training import Trained, training_speed
from specdec_cli.benchmark.inputs import SAMPLE
from specdec_cli.decoding.graphs import MOST_FORMS, Graphs
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import DecodingOptions, Sampled, resolve
from specdec_cli.decoding.pace import FixedPace
from specdec_cli.decoding.player import open_player
from specdec_cli.decoding.rounds import DraftAndVerify
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier, bundle_verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import MissingLibraryError, UsageError, counted
from specdec_cli.files import write_json
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.gpu import kernel_drafter, why_not_kernels
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
BEAM, BEAM_ROWS = 5, (1, 512)
"""Hypotheses of beam search, and batch sizes in which it is checked and timed, beside CTranslate2."""
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
LAUNCHES = 20
"""Bursts whose time on the device is measured."""
FEW = 300
"""Number of lines that are timed one at a time."""


@dataclass(frozen=True)
class Window:
    """`sentences` sentences that were decoded together: how many had other tokens than the time before, the rounds of all of them, and the
    bytes of memory that PyTorch held afterwards.
    """

    sentences: int
    different: int
    rounds: int
    reserved: int


@dataclass
class Check:
    """The check of a bundle on `device` with `lines` of the text `input`. Results are added to the JSON file `out`; no part begins after
    `limit` seconds.
    """

    folder: Path
    lines: Sequence[str]
    out: Path
    limit: float
    device: str = "cuda"
    input: str = "built-in sample"
    results: dict[str, Any] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)
    _bundles: dict[str, tuple[Bundle, Verifier]] = field(default_factory=dict)
    _sentences: list[Sentence] = field(default_factory=list)

    def run(self) -> bool:
        """Run all parts that the file does not have; return whether all results are as they should be."""
        if self.out.exists():
            self.results = json.loads(self.out.read_text(encoding="utf-8"))
        parts = list(self.parts())
        for name, compute, *arguments in parts:
            self.part(name, compute, *arguments)
        wrong = [name for name, found in self.results.items() if found.get("error") or found.get("different")]
        print(counted(len(self.results), "part") + (f"; not as they should be: {'; '.join(wrong)}" if wrong else ", all as they should be"))
        if missing := list(dict.fromkeys(name for name, *_ in parts if name not in self.results)):
            print(f"the time was up before {counted(len(missing), 'part')}, which the same command goes on with: {'; '.join(missing)}")
        return not wrong

    def parts(self) -> Iterator[tuple[Any, ...]]:
        """The name of each part, and the function that computes it with its arguments, the most telling ones first."""
        yield "card", self.card
        yield "kernels", self.kernels
        yield "kernels, greedy alone", self.alone, "kernels"
        yield from (self._timed("kernels", rows, size) for rows, size in TIMED)
        yield from ((f"CTranslate2, batch {rows}", self.ctranslate2, rows) for rows in BESIDE)
        for rows in BEAM_ROWS:
            yield f"kernels, batch {rows}, beam of {BEAM}", self.beam, "kernels", rows
            yield f"CTranslate2, batch {rows}, beam of {BEAM}", self.ctranslate2, rows, BEAM
        for trained, captured in product(TRAINED, (True, False)):
            yield training_name(trained, captured=captured), self.training, trained, captured
        yield f"memory over {DRAWN:,} sentences", self.memory
        yield from (self._timed("operators", rows, size) for rows, size in ((1, 0), (1, 4), (128, 4)))
        yield "float32, eager operators", self.reference
        yield from ((f"kernels, {name}", self.agrees, OF_OTHERS, name) for name in OTHERS)
        yield "kernels, drafter alone", self.alike, "drafter", "drafter", None
        yield "kernels, sampling", self.alike, "greedy", "specdec", Sampled()
        yield from ((f"kernels, bursts of {rounds} rounds", self.agrees, OF_BURSTS, "specdec", 4, rounds) for rounds in BURSTS)
        yield from ((f"kernels, block size {size}", self.agrees, OF_SIZES, "specdec", size) for size in SIZES)

    def _timed(self, means: str, rows: int, size: int) -> tuple[Any, ...]:
        return f"{means}, batch {rows}, block size {size}", self.decode, means, rows, size

    def part(self, name: str, compute: Callable[..., dict[str, Any]], *arguments: object) -> None:
        """Run a part that has no result yet, unless the time is up; print and keep its result, or its error."""
        if (name in self.results and "error" not in self.results[name]) or time.perf_counter() > self.deadline:
            return
        begun = time.perf_counter()
        try:
            found = compute(*arguments)
        except Exception as error:  # the next part may work
            traceback.print_exc(limit=-8)
            found = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"}
        self.results[name] = found | {"took_s": round(time.perf_counter() - begun, 2)}
        print(f"[{time.perf_counter() - self.started:5.1f} s] {name}: {json.dumps(found)}", flush=True)
        write_json(self.out, self.results)

    @property
    def deadline(self) -> float:
        """The time after which no part begins."""
        return self.started + self.limit

    def card(self) -> dict[str, Any]:
        """What computes."""
        name = torch.cuda.get_device_name() if self.device == "cuda" else self.device
        versions = {"torch": torch.__version__, "triton": __import__("triton").__version__}
        return {"card": name} | versions | {"input": self.input, "lines": len(self.lines), "bundle": self.folder.name}

    def kernels(self) -> dict[str, Any]:
        """The check of the first use on a card."""
        problem = why_not_kernels(self.bundle("operators")[0])
        return {"error": problem} if problem else {"kernels": "as they should be"}

    def bundle(self, means: str) -> tuple[Bundle, Verifier]:
        """The bundle on the device, computed by "kernels", by captured "operators", or by "float32" ones that are not captured."""
        if means not in self._bundles:
            bundle = load_checkpoint(self.folder)
            half = self.device == "cuda" and means != "float32"
            for module in (bundle.verifier, bundle.drafter):
                if module is not None:
                    module.to(device=self.device, dtype=torch.float16 if half else torch.float32).requires_grad_(False)
            if means == "kernels":
                from specdec_cli.kernels.network import TritonNetwork

                bundle.network, bundle.draft_network = TritonNetwork(bundle.verifier), kernel_drafter(bundle.drafter)
            bundle.captured = means != "float32"
            self._bundles[means] = bundle, bundle_verifier(bundle)
        return self._bundles[means]

    def engine(self, means: str, decoding: str, rows: int, size: int | None = None) -> Engine:
        """Make an engine. `rows` is the batch size and `size` the block size (0: greedy decoding; None: chosen automatically).

        Block sizes above the one that the drafter was trained for use lookup drafts.
        """
        bundle, verifier = self.bundle(means)
        beam = BEAM if decoding == "beam" else None
        longest = bundle.drafter_config.max_block if bundle.drafter_config is not None else 0
        if size == 0:
            decoding = "greedy"
        elif decoding == "specdec" and (size or 1) > longest:
            decoding = "lookup"
        request = DecodingOptions(decoding=decoding, batch_size=rows, block_size=size or None, beam_size=beam)
        return Engine(bundle, resolve(request, bundle), verifier=verifier)

    def sentences(self, count: int | None = None) -> list[Sentence]:
        """Return the first `count` lines (None: all) as encoded sentences, without those that are too long for the model."""
        if not self._sentences:
            bundle = self.bundle("kernels")[0]
            eos, longest = bundle.shape.eos, bundle.shape.max_positions - 16
            sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in self.lines]
            self._sentences = [Sentence(number, ids) for number, ids in enumerate(sources) if len(ids) <= longest and ids[-1] == eos]
        return self._sentences[:count]

    def decode(self, means: str, rows: int, size: int) -> dict[str, Any]:
        """Decode the lines twice (with batch size 1 only the first FEW lines), and return the counts and the speed of the second pass."""
        verifier, sentences = self.bundle(means)[1], self.sentences(FEW if rows == 1 else None)
        engine = self.engine(means, "specdec", rows, size)
        before = {} if verifier.graphs is None else vars(verifier.graphs.counts).copy()
        outputs, first = self.timed(engine, sentences)
        again, seconds = self.timed(engine, sentences)
        same = [each.ids for each in again] == [each.ids for each in outputs]
        found = speed(outputs, seconds) | {"first_s": round(first, 2)}
        if self.device == "cuda":
            found["memory_mb"] = round(torch.cuda.max_memory_allocated() / 2**20)
        if verifier.graphs is not None:
            found["us_a_round"] = self.round_us(engine, verifier.graphs, sentences)
            found |= {name: number - before[name] for name, number in vars(verifier.graphs.counts).items()}
        return found | self.compare(means, outputs) | ({} if same else {"different": "from run to run"})

    def agrees(self, lines: Lines, decoding: str, size: int | None = None, rounds: int = 0) -> dict[str, Any]:
        """Decode `lines` by kernels in batches of each size, and compare the tokens with those of greedy decoding. Where only some are
        decoded, they are the first ones of the most frequent width. With `rounds`, bursts have at least so many.
        """
        verifier, outputs, decoded = self.bundle("kernels")[1], list[Hypothesis](), dict[str, str]()
        for rows, count in lines.items():
            groups = by_width(verifier, self.sentences())
            chosen = self.sentences() if count is None else max(groups, key=len)[:count]
            engine = self.engine("kernels", decoding, rows, size)
            if rounds:
                for alike in by_width(verifier, chosen):
                    outputs += decode_with(verifier, engine.drafter, alike, engine.decoding, pace=FixedPace(size or 0, rounds))
            else:
                outputs += self.timed(engine, chosen)[0]
            decoded[f"batch {rows}"] = named(chosen)
        return {"lines": decoded} | self.compare("kernels", outputs)

    def beam(self, means: str, rows: int) -> dict[str, Any]:
        """Decode by beam search: the hypotheses in batches are those of sentences alone, which are decoded first and kept."""
        sentences = self.sentences(max(FEW, rows))
        engine = self.engine(means, "beam", rows)
        self.timed(engine, sentences)
        outputs, seconds = self.timed(engine, sentences)
        found = speed(outputs, seconds)
        if rows == 1:
            self.keep(f"{means}-beam", outputs)
            return found
        alone = self.kept(f"{means}-beam")
        return found | agreement(alone, [each for each in outputs if each.number in alone])

    def alike(self, alone: str, together: str, sampled: Sampled | None) -> dict[str, Any]:
        """Compare the tokens of the first FEW lines one at a time by the decoding `alone` with those in batches by `together`, of which
        decodings that verify may be `sampled`. Nothing is compared without the block drafter that "drafter" needs.
        """
        if alone == "drafter" and not isinstance(self.bundle("kernels")[0].drafter, BlockDrafter):
            return {"left_out": "the bundle has no block drafter"}
        outputs = []
        for decoding, rows in ((alone, 1), (together, ALIKE_ROWS)):
            engine = self.engine("kernels", decoding, rows, None if decoding == "greedy" else ALIKE_SIZE)
            outputs.append(self.timed(engine if sampled is None else engine.with_rule(sampled), self.sentences(FEW))[0])
        return {"lines": named(outputs[0])} | agreement({each.number: each.ids for each in outputs[0]}, outputs[1])

    def training(self, trained: Trained, captured: bool) -> dict[str, Any]:
        """The speed of updates with the lines and their greedy outputs. Eager ones have the loss of captured ones, but for rounding."""
        bundle, greedy = load_checkpoint(self.folder), self.greedy("kernels")
        pairs = [SentencePair([*each.source], greedy[each.number]) for each in self.sentences()]
        whole = [pair for pair in pairs if pair.target[-1] == bundle.shape.eos]
        found = training_speed(bundle, whole, trained, self.device, captured=captured)
        other = self.results.get(training_name(trained, captured=not captured), {}).get("loss")
        if other is not None and abs(found["loss"] - other) > LOSS_SHARE * other:
            found["error"] = f"the loss of eager or captured updates is {other}"
        return found

    def memory(self) -> dict[str, Any]:
        """Decode very many drawn sentences of many lengths: memory does not grow in the second half of them, few forms of batches are kept,
        and sentences that were drawn several times have the same tokens each time.
        """
        if self.device == "cuda":
            torch.cuda.empty_cache()  # what training left would hide growth
        bundle, verifier = self.bundle("kernels")
        engine = self.engine("kernels", "specdec", DRAWN_ROWS, 4)
        sources = [tuple(each.source) for each in self.sentences()]
        before = 0 if verifier.graphs is None else verifier.graphs.counts.bursts
        decoded = list(self.decoded(engine, drawn_windows(sources, bundle.shape.eos, bundle.shape.max_positions - 16)))
        if verifier.graphs is None:
            return bounded(decoded, 0)
        rate = sum(window.rounds for window in decoded) / max(verifier.graphs.counts.bursts - before, 1)
        return {"forms": len(verifier.graphs), "rounds_a_burst": round(rate, 1)} | bounded(decoded, len(verifier.graphs))

    def decoded(self, engine: Engine, windows: Iterable[Sequence[Sentence]]) -> Iterator[Window]:
        """What decoding each of `windows` gave, at least the first one, until the time for them is up."""
        known: dict[tuple[int, ...], list[int]] = {}
        until = min(time.perf_counter() + DRAWN_SECONDS, self.deadline)
        for window in windows:
            sources = {each.number: tuple(each.source) for each in window}
            outputs = list(engine.decode(window))
            different = sum(known.setdefault(sources[each.number], each.ids) != each.ids for each in outputs)
            yield Window(len(window), different, sum(each.rounds for each in outputs), self.reserved())
            if time.perf_counter() > until:
                break

    def reserved(self) -> int:
        """Bytes of the device's memory that PyTorch holds, those of graphs too; 0 on a CPU."""
        return torch.cuda.memory_reserved() if self.device == "cuda" else 0

    def timed(self, engine: Engine, sentences: Sequence[Sentence]) -> tuple[list[Hypothesis], float]:
        """The hypotheses of `sentences`, by their numbers, and the seconds that they took."""
        self.wait()
        begun = time.perf_counter()
        if engine.decoding.batch_size == 1:
            found = [hypothesis for sentence in sentences for hypothesis in engine.decode([sentence])]
        else:
            found = list(engine.decode(sentences))
        self.wait()
        return sorted(found, key=lambda each: each.number), time.perf_counter() - begun

    def round_us(self, engine: Engine, graphs: Graphs, sentences: Sequence[Sentence]) -> float | None:
        """Time of a round on the device in microseconds, for sentences of the most frequent width; None if its rounds are not captured."""
        verifier, decoding = engine.verifier, engine.decoding
        alike = max(by_width(verifier, sentences), key=len)[: decoding.batch_size]
        round_ = DraftAndVerify(verifier, engine.drafter, decoding)
        if round_.identity is None:
            return None
        with torch.inference_mode(), open_player(round_, graphs, len(alike)) as player:
            player.admit(alike)
            for _ in range(3):
                player.launch(1, decoding.block_size)
            rounds = player.collect().rounds
            self.wait()
            begun = time.perf_counter()
            for _ in range(LAUNCHES):
                player.launch(1, decoding.block_size)
            self.wait()
            return round(1e6 * (time.perf_counter() - begun) / LAUNCHES / rounds, 1)

    def wait(self) -> None:
        """Wait for the device."""
        if self.device == "cuda":
            torch.cuda.synchronize()

    def compare(self, means: str, outputs: Sequence[Hypothesis]) -> dict[str, Any]:
        """How many of the outputs are not those of greedy decoding one at a time by the same means, which is decoded first."""
        return agreement(self.greedy(means), outputs)

    def greedy(self, means: str) -> dict[int, list[int]]:
        """The tokens of greedy decoding one at a time, which are kept beside the results."""
        if not self._kept(means).exists():
            self.alone(means)
        return self.kept(means)

    def keep(self, name: str, outputs: Sequence[Hypothesis]) -> None:
        """Save the token ids of `outputs`, by sentence number, in a file in the folder of the results."""
        write_json(self._kept(name), {str(each.number): each.ids for each in outputs})

    def kept(self, name: str) -> dict[int, list[int]]:
        """The token ids of each sentence that `keep` saved as `name`."""
        return {int(number): found for number, found in json.loads(self._kept(name).read_text(encoding="utf-8")).items()}

    def _kept(self, name: str) -> Path:
        return self.out.with_suffix(f".{name}.tokens")

    def alone(self, means: str) -> dict[str, Any]:
        """Decode all lines greedily, one at a time, and keep their tokens: with them the other outputs are compared."""
        engine = self.engine(means, "greedy", 1)
        outputs, seconds = self.timed(engine, self.sentences())
        self.keep(means, outputs)
        return speed(outputs, seconds)

    def reference(self) -> dict[str, Any]:
        """How many lines have other tokens by eager operators in float32: rounding in float16 may decide between close tokens."""
        engine = self.engine("float32", "greedy", 128)
        outputs, seconds = self.timed(engine, self.sentences())
        greedy = self.greedy("kernels")
        differ = sum(greedy[each.number] != each.ids for each in outputs)
        return speed(outputs, seconds) | {"differ_by_rounding": differ, "of": len(outputs)}

    def ctranslate2(self, rows: int, beam: int = 1) -> dict[str, Any]:
        """The speed of CTranslate2 in float16 (on a CPU float32) with the same weights and sources, greedy or with a `beam`."""
        from ctranslate2 import Translator  # type: ignore[attr-defined]

        from converters.to_ctranslate2 import to_ctranslate2
        from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer

        bundle, folder = load_checkpoint(self.folder), self.out.with_suffix(".ctranslate2")
        if not folder.exists():
            to_ctranslate2(bundle, folder, "float16" if self.device == "cuda" else None)
        # "auto" would take int8_float16 on a GPU.
        kind = "float16" if self.device == "cuda" else "float32"
        translator, text = Translator(str(folder), device=self.device, compute_type=kind), FolderTokenizer(folder)
        sentences = self.sentences(FEW if rows == 1 else None)
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


def rates(lines: int, tokens: int, seconds: float) -> dict[str, Any]:
    """The speed of a decoding, and its tokens."""
    return {"ms_a_line": round(1000 * seconds / lines, 3), "tokens_per_s": round(tokens / seconds), "tokens": tokens}


def speed(outputs: Sequence[Hypothesis], seconds: float) -> dict[str, Any]:
    """Speed and rounds of a decoding, and which lines it decoded."""
    tokens, rounds = sum(len(each.ids) for each in outputs), sum(each.rounds for each in outputs)
    return rates(len(outputs), tokens, seconds) | {"tokens_a_round": round(tokens / rounds, 2), "lines": named(outputs)}


def named(sentences: Sequence[Sentence] | Sequence[Hypothesis]) -> str:
    """Return which lines were decoded, for the report, as "2 of lines 0 to 9": how many, and the first and last number of a line."""
    return f"{len(sentences)} of lines {sentences[0].number} to {sentences[-1].number}"


def agreement(expected: dict[int, list[int]], outputs: Sequence[Hypothesis]) -> dict[str, Any]:
    """Count the outputs whose token ids differ from those that are `expected` for their sentence numbers."""
    wrong = [each.number for each in outputs if expected[each.number] != each.ids]
    return {"different": len(wrong), "of": len(outputs), "first": wrong[:5]} if wrong else {"same": len(outputs)}


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


def by_width(verifier: Verifier, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """The sentences in groups of one width of their sources, which can be decoded together."""
    groups: dict[int, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        groups[verifier.source_width(len(sentence.source))].append(sentence)
    return list(groups.values())


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
    return Check(folder, sources, out, seconds, "cpu" if device == "cpu" else "cuda", name).run()
