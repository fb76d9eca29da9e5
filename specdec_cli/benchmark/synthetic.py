"""`specdec bench --synthetic`: what a round costs on this machine, with models of random weights and recorded acceptance."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from specdec_cli.benchmark.geometries import GEOMETRIES, Geometry, make_sources
from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.measure import WORKER, Plan, Progress, run
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.results import Outcome
from specdec_cli.benchmark.rows import BEST, Row
from specdec_cli.benchmark.tables import View, environment_lines, profile_table, synthetic_table
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.opening.models import ModelChoice
from specdec_cli.processes import Process

_EXPLANATION = "Random weights, and drafts accepted as recorded: this measures what a round costs on this machine, and no model."
Outcomes = Mapping[Geometry, Outcome]
"""The outcome of each geometry: greedy decoding and decoding with drafts by specdec, then CTranslate2 at its fastest settings."""


def measure_geometries(options: BenchOptions, progress: Progress) -> Outcomes:
    """Measure one of GEOMETRIES after the other, with the block size of `options` if that is a number.

    The rows of a geometry take turns; CTranslate2 has a beam of `beam_size` hypotheses. With `profile`, the time of the modules is measured
    too. Raises UsageError for a block size that is too small for the rounds of a geometry, and SpecdecError if a process fails.
    """
    size = options.block_size
    geometries = [each.with_block_size(size) if isinstance(size, int) else each for each in GEOMETRIES]
    return {each: _measure(each, options, progress) for each in geometries}


def _measure(geometry: Geometry, options: BenchOptions, progress: Progress) -> Outcome:
    greedy = Row("greedy").changed(beam_size=options.beam_size or BEAM_SIZE, max_length=geometry.length)
    drafting = greedy.changed(decoding=geometry.decoding, block_size=geometry.block_size or None)
    rows = (greedy, drafting, *(replace(greedy, decoding=name, variant=BEST) for name in geometry.opponents))
    examples = Examples("random tokens", tuple(make_sources(geometry)), None)
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        with Process(WORKER, f"--synthetic, {geometry.name}") as process:
            process.call("make_synthetic", geometry, Path(temporary))
        models = {"": ModelChoice(temporary)}
        outcome = run(Plan(options, models, rows, "translate", examples, geometry=geometry), progress)
    precision = outcome.environment["precision"]
    results = []
    for result in outcome.results:
        own = {"geometry": geometry.name, "precision": result.settings.get("compute_type", precision), "recorded": result.row.drafts}
        results.append(replace(result, settings=own | result.settings))
    return replace(outcome, results=results, environment=outcome.environment | {"model": "random weights"})


def to_record(outcomes: Outcomes) -> dict[str, Any]:
    """The JSON object of a synthetic bench: that of `bench --json`, and shape, acceptance and speedups of each geometry."""
    *_, last = outcomes.values()
    shapes = {
        geometry.name: {
            **asdict(geometry),
            "tokens_per_round": geometry.tokens_per_round,
            "speedup_vs": {name: round(speedup, 3) for name, speedup in _speedups(outcome).items()},
            "seconds_by_module": outcome.profiles.get(geometry.decoding),
        }
        for geometry, outcome in outcomes.items()
    }
    results = [result for outcome in outcomes.values() for result in outcome.results]
    return Outcome(results, last.environment, last.examples, views={"synthetic": shapes}).to_json()


def _speedups(outcome: Outcome) -> dict[str, float]:
    """The speedup of the row with drafts, the second one, over each of the other rows, by the name of the other's decoding."""
    drafting = outcome.results[1]
    speed = drafting.number("tokens_per_second")
    return {other.row.decoding: speed / other.number("tokens_per_second") for other in outcome.results if other is not drafting}


def print_synthetic(outcomes: Outcomes, markdown: bool) -> None:
    """Print the machine, and the shape and the table of each geometry, for a terminal or in Markdown."""
    view = View(markdown)
    *_, last = outcomes.values()
    view.paragraph(_EXPLANATION, *environment_lines(last.environment, last.examples))
    for geometry, outcome in outcomes.items():
        view.paragraph(description(geometry))
        view.table(synthetic_table(outcome.results))
        if outcome.profiles:
            view.table(profile_table(outcome.profiles, last.examples["sentences"], outcome.iterations))


def description(geometry: Geometry) -> str:
    """The shape of a geometry and its acceptance, in words."""
    shape = geometry.shape
    reads = {"states": "the verifier's states", "own": "the prefix"}[geometry.drafter_prefix]
    layers = f"{geometry.drafter_layers} layer{'' if geometry.drafter_layers == 1 else 's'} over {reads}"
    drafter = f"a drafter of {layers}, blocks of {geometry.block_size}" if geometry.block_size else "no drafter"
    return (
        f"{geometry.name}: {shape.encoder_layers}+{shape.decoder_layers} layers, width {shape.width:,}, {shape.heads} heads, feed-forward "
        f"{shape.feed_forward:,}, vocabulary {shape.vocabulary_size:,}; {drafter}; {geometry.tokens_per_round:g} tokens a round accepted "
        f"as recorded; outputs of {geometry.length} tokens, one at a time"
    )
