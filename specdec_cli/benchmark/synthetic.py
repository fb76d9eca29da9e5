"""`specdec bench --synthetic`: what a round costs on this machine, with models of common shapes, random weights and recorded acceptance.

The drafts of a model are replaced by prepared ones, which set the acceptance rate. The drafter still computes its own drafts, so that the
measured time is that of real decoding.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from specdec_cli.benchmark.geometries import Geometry, choose_geometries, make_sources
from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.measure import WORKER, Plan, Progress, run
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.results import Outcome
from specdec_cli.benchmark.rows import BEST, Row, parse_row
from specdec_cli.benchmark.tables import View, batches_table, beside, environment_lines, profile_table, synthetic_table
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.opening.models import ModelChoice
from specdec_cli.processes import Process

_EXPLANATION = "Random weights, and drafts accepted as recorded: this measures what a round costs on this machine, and no model."
Outcomes = Mapping[Geometry, Outcome]
"""The outcome of each geometry: greedy decoding and decoding with drafts by specdec, then CTranslate2 at its fastest settings."""


def measure_geometries(options: BenchOptions, progress: Progress) -> Outcomes:
    """Measure one chosen geometry after the other (see `choose_geometries`), with the block size of `options` if that is a number.

    The rows of a geometry take turns; CTranslate2 has a beam of `beam_size` hypotheses. With `profile`, the time of the modules is measured
    too. Raises UsageError for a block size that is too small for the rounds of a geometry, and SpecdecError if a process fails.
    """
    size = options.block_size
    chosen = choose_geometries(options.geometries or ())
    geometries = [each.with_block_size(size) if isinstance(size, int) else each for each in chosen]
    return {each: _measure(each, options, progress) for each in geometries}


def _measure(geometry: Geometry, options: BenchOptions, progress: Progress) -> Outcome:
    greedy = Row("greedy").changed(beam_size=options.beam_size or BEAM_SIZE, max_length=geometry.length)
    drafting = greedy.changed(decoding=geometry.decoding, block_size=geometry.block_size or None)
    if geometry.batches:
        rows: tuple[Row, ...] = (greedy, *(parse_row(name, greedy) for name in geometry.opponents))
    else:
        rows = (greedy, drafting, *(replace(greedy, decoding=name, variant=BEST) for name in geometry.opponents))
    sweep = {"batch-size": geometry.batches} if geometry.batches else {}
    examples = Examples("random tokens", tuple(make_sources(geometry)), None)
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        with Process(WORKER, f"--synthetic, {geometry.name}") as process:
            process.call("make_synthetic", geometry, Path(temporary))
        models = {"": ModelChoice(temporary)}
        outcome = run(Plan(options, models, rows, "translate", examples, sweep, geometry), progress)
    own, precision = {"geometry": geometry.name}, outcome.environment["precision"]
    results = [
        replace(one, settings=own | {"precision": one.settings.get("compute_type", precision), "recorded": one.row.drafts} | one.settings)
        for one in outcome.results
    ]
    return replace(outcome, results=results, environment=outcome.environment | {"model": "random weights"})


def to_record(outcomes: Outcomes) -> dict[str, Any]:
    """The JSON object of a synthetic bench: that of `bench --json`, and shape, acceptance and speedups of each geometry."""
    *_, last = outcomes.values()
    shapes = {
        geometry.name: {
            **asdict(geometry),
            "tokens_per_round": geometry.tokens_per_round,
            "speedup_vs": _speedups(outcome),
            "seconds_by_module": outcome.profiles.get(geometry.decoding),
        }
        for geometry, outcome in outcomes.items()
    }
    results = [result for outcome in outcomes.values() for result in outcome.results]
    return Outcome(results, last.environment, last.examples, views={"synthetic": shapes}).to_json()


def _speedups(outcome: Outcome) -> dict[str, float]:
    """The speedup of the row with drafts, the second one, over each of the other rows, by the name of the other's decoding; or that of
    greedy decoding over CTranslate2, by the size of batches.
    """
    if not any(result.row.drafts for result in outcome.results):
        return {
            str(one.row.options.batch_size): round(one.number("tokens_per_second") / other.number("tokens_per_second"), 3)
            for one, other in beside(outcome.results)
        }
    greedy, drafting, *others = ((result.row.decoding, result.number("tokens_per_second")) for result in outcome.results)
    return {name: round(drafting[1] / speed, 3) for name, speed in (greedy, *others)}


def print_synthetic(outcomes: Outcomes, markdown: bool) -> None:
    """Print the machine, and the shape and the table of each geometry, for a terminal or in Markdown."""
    view = View(markdown)
    *_, last = outcomes.values()
    view.paragraph(_EXPLANATION, *environment_lines(last.environment, last.examples))
    for geometry, outcome in outcomes.items():
        view.paragraph(description(geometry))
        view.table((batches_table if geometry.batches else synthetic_table)(outcome.results))
        if outcome.profiles:
            view.table(profile_table(outcome.profiles, last.examples["sentences"], outcome.iterations))


def description(geometry: Geometry) -> str:
    """The shape of a geometry and its acceptance, in words."""
    shape = geometry.shape
    reads = {"states": "the verifier's states", "own": "the prefix"}[geometry.drafter_prefix]
    layers = f"{geometry.drafter_layers} layer{'' if geometry.drafter_layers == 1 else 's'} over {reads}"
    drafter = f"a drafter of {layers}, blocks of {geometry.block_size}" if geometry.block_size else "no drafter"
    sizes = (
        f"{geometry.name}: {shape.encoder_layers}+{shape.decoder_layers} layers, width {shape.width:,}, {shape.heads} heads, feed-forward "
        f"{shape.feed_forward:,}, vocabulary {shape.vocabulary_size:,}"
    )
    if geometry.batches:
        return f"{sizes}; outputs of {geometry.length} tokens; start: processor time until the model is loaded"
    accepted = f"{geometry.tokens_per_round:g} tokens a round accepted as recorded"
    return f"{sizes}; {drafter}; {accepted}; outputs of {geometry.length} tokens, one at a time"
