"""A bundle on a device, by each means of computation, for the check of a GPU: its engines, their outputs, and the time that they take."""

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.player import open_player
from specdec_cli.decoding.rounds import DraftAndVerify
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier, bundle_verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.files import write_json
from specdec_cli.model.bundle import Bundle
from specdec_cli.opening.conversions import load_checkpoint
from specdec_cli.opening.gpu import kernel_drafter

BEAM = 5
"""Hypotheses of beam search."""
LAUNCHES = 20
"""Number of bursts (sequences of rounds that are launched together) over which the time of a round is averaged."""


@dataclass
class CheckedModel:
    """The bundle in `folder` on `device`, and the `lines` that it decodes. Reference outputs, with which other outputs are compared, are
    stored in files next to the file `out`.
    """

    folder: Path
    lines: Sequence[str]
    out: Path
    device: str = "cuda"
    _bundles: dict[str, tuple[Bundle, Verifier]] = field(default_factory=dict)
    _sentences: list[Sentence] = field(default_factory=list)

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

    def reserved(self) -> int:
        """Bytes of the device's memory that PyTorch holds, those of graphs too; 0 on a CPU."""
        return torch.cuda.memory_reserved() if self.device == "cuda" else 0

    def compare(self, means: str, outputs: Sequence[Hypothesis]) -> dict[str, Any]:
        """How many of the outputs are not those of greedy decoding one at a time by the same means, which is decoded first."""
        return agreement(self.greedy(means), outputs)

    def greedy(self, means: str) -> dict[int, list[int]]:
        """The tokens of greedy decoding with batch size 1, by sentence number. They are computed once and stored next to the results."""
        if not self._kept(means).exists():
            self.alone(means)
        return self.kept(means)

    def alone(self, means: str) -> dict[str, Any]:
        """Decode all lines greedily, one at a time, and keep their tokens: with them the other outputs are compared."""
        engine = self.engine(means, "greedy", 1)
        outputs, seconds = self.timed(engine, self.sentences())
        self.keep(means, outputs)
        return speed(outputs, seconds)

    def keep(self, name: str, outputs: Sequence[Hypothesis]) -> None:
        """Save the token ids of `outputs`, by sentence number, in a file in the folder of the results."""
        write_json(self._kept(name), {str(each.number): each.ids for each in outputs})

    def kept(self, name: str) -> dict[int, list[int]]:
        """The token ids of each sentence that `keep` saved as `name`."""
        return {int(number): found for number, found in json.loads(self._kept(name).read_text(encoding="utf-8")).items()}

    def _kept(self, name: str) -> Path:
        return self.out.with_suffix(f".{name}.tokens")


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


def by_width(verifier: Verifier, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """The sentences in groups of one width of their sources, which can be decoded together."""
    groups: dict[int, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        groups[verifier.source_width(len(sentence.source))].append(sentence)
    return list(groups.values())
