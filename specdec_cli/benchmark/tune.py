"""`specdec bench --tune`: chooses a bundle's presets of tolerant decoding, and its block size, on dev data, and stores them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from specdec_cli.benchmark.measure import Plan
from specdec_cli.benchmark.results import Measured
from specdec_cli.benchmark.rows import Sweep
from specdec_cli.benchmark.tables import View
from specdec_cli.errors import ModelError, SpecdecError, UsageError, counted
from specdec_cli.files import read_json, write_json
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.models import ModelChoice, find_bundle

ROWS: Mapping[str, Sequence[tuple[str, str | None]]] = {
    "block": (("greedy", None), ("specdec", None), ("specdec++", None)),
    "heads": (("greedy", None), ("blockwise", "exact"), ("blockwise", None)),
}
"""The decoding and variant of each row of a tuning run, by the kind of drafter; GRID applies to the last row."""
GRID: Sweep = {"top-beta": (2, 3, 5), "tolerance": (0.25, 0.5, 0.75, 1.0, 2.0, 3.0)}
BLOCK_SIZE = "block-size"
"""A key of sweeps that is tuned too if it is given."""
LEAST_LINES = 100
"""The fewest lines of dev data for which presets are stored; on fewer lines BLEU is too noisy."""
MOST_LOST = 0.5
"""The largest loss of BLEU, in points, that a preset may have relative to greedy decoding."""


def check_tunable(model: ModelChoice, task: Task) -> None:
    """Raise UsageError if `task` is not translate, or the bundle has no drafter or cannot be written."""
    folder = find_bundle(model)
    if task != "translate":
        raise UsageError(f"--tune uses BLEU, and so is for the task translate, not for {task}")
    if not (folder / "drafter").exists():
        raise UsageError(f"--tune: {folder} has no drafter, which presets require")
    if not os.access(folder, os.W_OK):
        raise _not_written(folder / "bundle.json", "no permission")


def tuning_plan(plan: Plan) -> Plan:
    """A copy of `plan` whose rows are greedy, exact drafting, and tolerant drafting with every combination of top-beta and tolerance.

    The values are those of GRID, or of the plan's sweep, which may also have block sizes. Raises UsageError for options that --tune
    excludes, and for input without references.
    """
    options = plan.options
    if options.rows or options.profile or options.histogram or options.plot or options.analyses:
        raise UsageError("--tune chooses its rows; --row, --profile, --histogram, --plot and --analysis cannot be given with it")
    unknown = [key for key in plan.sweep if key not in (*GRID, BLOCK_SIZE)]
    if unknown:
        raise UsageError(f"--tune --sweep {unknown[0]}: only {', '.join(GRID)} and {BLOCK_SIZE} are tuned")
    if "auto" in plan.sweep.get(BLOCK_SIZE, ()):
        raise UsageError(f"--tune --sweep {BLOCK_SIZE}: a bundle stores a number, not auto")
    if plan.examples.references is None or plan.examples.languages is not None:
        raise UsageError("--tune needs dev data with references: FILE, or --input with --reference")
    kind = read_json(find_bundle(plan.models[""]) / "drafter" / "config.json", ModelError).get("kind", "block")
    rows = tuple(replace(plan.rows[0], decoding=decoding, variant=variant) for decoding, variant in ROWS[kind])
    return replace(plan, rows=rows, sweep={**GRID, **plan.sweep})


def choose(results: Sequence[Measured]) -> dict[str, Measured]:
    """Choose the presets "high-quality" (most BLEU) and "high-efficiency" (most tokens per round); return their results by name.

    Settings that lose more than MOST_LOST (0.5) BLEU points relative to greedy decoding are not chosen; if all do, the result is
    empty. Values are compared as printed, with two decimals; of equal settings, the first one is chosen. If block sizes were
    tried, both settings have the block size of the fastest one of these, because a larger block always gives more tokens per round.
    """

    def figures(result: Measured) -> tuple[float, float]:
        return round(result.quality["bleu"], 2), round(result.number("tokens_per_round"), 2)

    greedy = next(figures(result)[0] for result in results if result.row.decoding == "greedy")
    close = [one for one in results if one.row.options.top_beta is not None and round(greedy - figures(one)[0], 2) <= MOST_LOST]
    if not close:
        return {}
    if len({one.row.options.block_size for one in close}) > 1:
        fastest = max(close, key=lambda one: one.number("tokens_per_second"))
        close = [one for one in close if one.row.options.block_size == fastest.row.options.block_size]
    return {"high-quality": max(close, key=figures), "high-efficiency": max(close, key=lambda one: figures(one)[::-1])}


def presets_of(chosen: Mapping[str, Measured]) -> dict[str, list[float]]:
    """The list [top-beta, tolerance] of each result in `chosen`, by name of the preset, as `bundle.json` has them."""
    return {name: [result.settings["top_beta"], result.settings["tolerance"]] for name, result in chosen.items()}


def store(model: ModelChoice, chosen: Mapping[str, Measured], plan: Plan, markdown: bool) -> None:
    """Store the settings of the results `chosen` as presets in bundle.json, and print them, for a terminal or in `markdown`.

    `chosen` has a result by name of the preset, as `choose` returns it; other presets in bundle.json are kept. If the sweep of `plan` has
    block sizes, their block size is stored as the bundle's. Raises UsageError if bundle.json cannot be written, and SpecdecError if
    `chosen` is empty or there are fewer than LEAST_LINES (100) lines.
    """
    lines = len(plan.examples.sources)
    if lines < LEAST_LINES:
        raise SpecdecError(f"--tune: {counted(lines, 'line')}, too few to choose presets (at least {LEAST_LINES}); nothing was written")
    if not chosen:
        raise SpecdecError(
            f"--tune: every setting loses more than {MOST_LOST} BLEU relative to greedy; nothing was written; "
            "--sweep tolerance=0.05,0.1 tries stricter ones"
        )
    path, presets = find_bundle(model) / "bundle.json", presets_of(chosen)
    values = read_json(path, ModelError)
    before = values.get("presets", {})
    sizes = {"block_size": next(iter(chosen.values())).settings["block_size"]} if BLOCK_SIZE in plan.sweep else {}
    try:
        write_json(path, values | {"presets": before | presets} | sizes)
    except OSError as error:
        raise _not_written(path, error.strerror) from error
    told = [f"--preset {name}: {_words(preset)} ({_compared(before.get(name), preset)})" for name, preset in presets.items()]
    told += [f"--block-size {size} (before: {values.get('block_size') or 'not set'})" for size in sizes.values()]
    View(markdown).paragraph(f"Written to {path}:", *told)


def _words(preset: Sequence[float]) -> str:
    return f"top-{preset[0]}, tolerance {preset[1]}"


def _compared(before: Sequence[float] | None, now: Sequence[float]) -> str:
    if before is None:
        return "not set before"
    return "as before" if list(before) == list(now) else f"before: {_words(before)}"


def _not_written(path: Path, cause: str | None) -> UsageError:
    return UsageError(f"--tune: {path} cannot be written ({cause}); copy the folder, and name the copy with --model")
