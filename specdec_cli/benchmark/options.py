"""The parsed options of bench. This module does not import torch, and does not define command-line flags."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.machine import Device, EngineName, MachineOptions, Precision


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """The options of bench: input, rows and views, models, settings of rows, machine, and output.

    None stands for the default: of the bundle, or of the task. Settings that are fields of DecodingOptions are for all rows that have them.
    """

    source: Path | None = None
    references: list[Path] | None = None
    task: Task | None = None
    keep_tokens: bool = False
    score: Literal["tokens", "characters"] = "tokens"
    limit: int | None = None
    rows: list[str] | None = None
    sweep: list[str] | None = None
    oracle_length: bool = False
    repetitions: int | None = None
    profile: bool = False
    histogram: bool = False
    plot: Path | None = None
    analyses: list[str] | None = None
    baseline: str | None = None
    tune: bool = False
    synthetic: bool = False
    geometries: list[str] | None = None
    check_device: bool = False
    models: list[str] | None = None
    source_language: str = ""
    target_language: str = ""
    instruction: str | None = None
    block_size: int | Literal["auto"] | None = None
    iterations: int | None = None
    length_beam: int | None = None
    draft_model: str | None = None
    jacobi_length: int | Literal["max"] | None = None
    beam_size: int | None = None
    length_penalty: float | None = None
    max_length: int | None = None
    no_repeat_ngram_size: int | None = None
    repetition_penalty: float | None = None
    batch_size: int | Literal["auto"] = 1
    device: Device = "auto"
    precision: Precision = "auto"
    engine: EngineName = "auto"
    threads: int | None = None
    no_split: bool = False
    raw: bool = False
    json_file: Path | None = None
    markdown: bool = False
    quiet: bool = False
    offline: bool = False

    @property
    def runs(self) -> int:
        """The number of runs of every row."""
        return self.repetitions or (1 if self.tune else 3)

    @property
    def named(self) -> bool:
        """Whether the rows are named, by --row, --tune or --synthetic: one that a bundle does not support is an error, and not left out."""
        return bool(self.rows) or self.tune or self.synthetic

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of rows that were given, by the name of the field of DecodingOptions."""
        return {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}

    @property
    def machine(self) -> MachineOptions:
        """The machine that the options ask for."""
        return MachineOptions(
            batch_size=self.batch_size, device=self.device, precision=self.precision, engine=self.engine, threads=self.threads
        )


_SHARED = BenchOptions.__dataclass_fields__.keys() - {"batch_size"}
SETTINGS = tuple(each.name for each in fields(DecodingOptions) if each.name in _SHARED)
"""The options of bench that are settings of rows: fields of DecodingOptions, but for the batch size, which is the machine's."""
