"""Pictures of decoding: what they say is what decoding did, in every format."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from math import exp, prod
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from specdec_cli.app import app
from specdec_cli.decoding.accept import Exact
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.loop import LoopOptions, decode
from specdec_cli.decoding.searches.beam import BeamOptions, beam_search
from specdec_cli.decoding.searches.mask_predict import MaskPredictOptions, mask_predict
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.text.folding import ORDERS, Order, folded_positions, tokens_per_step
from specdec_cli.text.subwords import EOS
from specdec_cli.visualization.html import to_html
from specdec_cli.visualization.jacobi_graph import jacobi_graph
from specdec_cli.visualization.picture import Cell, Picture
from specdec_cli.visualization.search_steps import search_steps
from specdec_cli.visualization.svg import to_svg
from specdec_cli.visualization.terminal import print_picture
from tests.fakes import tiny_heads
from tests.visualization.browser import drawn_page, needs_browser


@pytest.fixture(scope="module")
def graph(bundle: Bundle) -> Picture:
    """The dependency graph of a sentence."""
    verifier = Verifier(bundle.verifier)
    source = [*bundle.tokenizer.encode("kalo mita resu"), bundle.verifier.config.eos]
    (found,) = decode(verifier, NoDrafter(), [Sentence(0, source)], LoopOptions(Exact(), max_length=12))
    assert len(found.ids) > 4
    return jacobi_graph(verifier, bundle.tokenizer, source, found.ids)


def test_rows_end_with_greedys_output(graph: Picture) -> None:
    cells = [cell for cell in graph.rows[-1] if cell]
    assert [cell.piece for cell in cells] == list(graph.target)
    assert {cell.mark for cell in cells} == {"right"}
    assert len(graph.rows) <= len(graph.target)
    for row in graph.rows:
        assert [cell.mark == "right" for cell in row if cell] == [
            cell.piece == piece for cell, piece in zip(row, graph.target, strict=True) if cell
        ]
        assert all(cell.probability is not None and 0 < cell.probability <= 1 for cell in row if cell)


def test_a_token_is_settled_when_it_stays_right(graph: Picture) -> None:
    for place, when in enumerate(graph.settled):
        marks = [row[place].mark for row in graph.rows if (row[place])]  # type: ignore[union-attr]
        assert set(marks[when - 1 :]) == {"right"}
        assert when == 1 or marks[when - 2] == "wrong"
    # The n-th iteration settles at least the n-th token (Proposition 1 of the paper).
    assert all(when <= place for place, when in enumerate(graph.settled, start=1))


def test_an_output_that_is_not_greedys_is_never_reached(bundle: Bundle, graph: Picture) -> None:
    verifier, tokenizer = Verifier(bundle.verifier), bundle.tokenizer
    ids = [number for number in map(tokenizer.id_of, graph.target) if number is not None]
    other = next(number for number in range(5, len(tokenizer)) if number != ids[2])
    source = [*tokenizer.encode("kalo mita resu"), bundle.verifier.config.eos]
    picture = jacobi_graph(verifier, tokenizer, source, [*ids[:2], other, *ids[3:]])
    last = picture.rows[-1][2]
    assert (len(picture.rows), last is not None and last.mark) == (len(ids), "wrong")


def test_edges_lead_to_what_was_settled_last_before(graph: Picture) -> None:
    assert all(i < j and graph.settled[i] < graph.settled[j] for i, j in graph.edges)
    for token, when in enumerate(graph.settled):
        before = [earlier for earlier in graph.settled[:token] if earlier < when]
        assert {graph.settled[i] for i, j in graph.edges if j == token} == ({max(before)} if before else set())


ROUNDS = Picture(
    "specdec",
    ("\u2581a", "</s>"),
    ("\u2581x", "<b>", "&", "</s>"),
    (
        (Cell("\u2581x", "accepted", 0.91), Cell("<b>", "verified", 0.4, "\u2581q"), Cell("z", "rejected"), None),
        (Cell("\u2581x", "known"), Cell("<b>", "known"), Cell("&", "accepted", 0.8), Cell("</s>", "verified", 1.0)),
    ),
)


class Cells(HTMLParser):
    """The labels of all cells of a page, and the data in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.labels: list[str] = []
        self.stops: list[str] = []
        self.data = ""
        self._in_data = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a cell says."""
        values = dict(attrs)
        if tag == "td" and "data-row" in values:
            self.labels.append(str(values["aria-label"]))
            self.stops.append(str(values["tabindex"]))
        self._in_data = tag == "script" and values.get("id") == "picture"

    def handle_data(self, data: str) -> None:
        """Keep the JSON."""
        if self._in_data:
            self.data += data


@pytest.mark.parametrize("name", ["graph", "rounds"])
def test_a_page_has_all_cells_and_the_data(name: str, graph: Picture) -> None:
    picture = graph if name == "graph" else ROUNDS
    page = Cells(to_html(picture))
    cells = [cell for row in picture.rows for cell in row if cell]
    assert json.loads(page.data) == json.loads(json.dumps(picture.to_dict()))
    assert len(page.labels) == len(cells)
    for label, cell in zip(page.labels, cells, strict=True):
        assert label.startswith(f"{cell.piece}: ")
        assert cell.probability is None or f"{cell.probability:.4f}" in label
    assert page.stops.count("0") == 1  # one stop of the Tab key; from there by arrow keys
    assert not re.search(r"(src|href)\s*=", to_html(picture))


@pytest.mark.parametrize("grid", [True, False])
def test_a_drawing_is_xml_with_an_arc_for_every_edge(grid: bool, graph: Picture) -> None:
    for picture in (graph, ROUNDS):
        root = ElementTree.fromstring(to_svg(picture, grid=grid))
        names = [element.tag.rpartition("}")[2] for element in root.iter()]
        assert names.count("path") == len(picture.edges)
        assert names.count("rect") == sum(cell is not None for row in picture.rows for cell in row) * grid


def test_the_terminal_shows_marks_where_there_are_no_colours(graph: Picture) -> None:
    stream = io.StringIO()
    print_picture(ROUNDS, Console(file=stream, width=200))
    assert stream.getvalue().splitlines()[:4] == [
        "specdec: 4 tokens in 2 rounds, 2.00 tokens each",
        "source: \u2581a </s>",
        "   1 \u2581x✓ \u2581q✗ <b>● z✗ ",
        "   2 \u2581x <b> &✓ </s>● ",
    ]
    print_picture(graph, Console(file=stream, width=200))
    assert stream.getvalue().count(" depends on ") == len({j for _, j in graph.edges})


def test_the_source_and_rejected_drafts_are_drawn() -> None:
    drawing = "".join(ElementTree.fromstring(to_svg(ROUNDS)).itertext())
    assert "source: \u2581a </s>" in drawing and "✗ \u2581q" in drawing
    assert "<s>\u2581q</s> &lt;b&gt;" in to_html(ROUNDS)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["visualize", "--threads", "1", *map(str, arguments)])


@pytest.mark.parametrize("decoding", ["jacobi", "gs-jacobi", "input-guided", "lookup", "greedy"])
def test_every_decoding_has_its_picture(decoding: str, bundle_folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "picture.json"
    result = run("kalo mita", "-m", bundle_folder, "--decoding", decoding, "-o", output)
    assert result.exit_code == 0, result.output
    picture = json.loads(output.read_text())
    assert picture["decoding"] == decoding
    known = [sum(cell is not None and cell["mark"] == "known" for cell in row) for row in picture["rows"]]
    assert known[0] == 0 and all(earlier <= later for earlier, later in pairwise(known))
    assert bool(picture["settled"]) == (decoding == "jacobi")


def test_heads_have_their_picture(bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(replace(bundle, drafter=tiny_heads(bundle.verifier)), tmp_path / "heads")
    result = run("kalo mita", "-m", tmp_path / "heads", "--decoding", "blockwise", "-o", tmp_path / "picture.json")
    assert result.exit_code == 0, result.output
    picture = json.loads((tmp_path / "picture.json").read_text())
    assert picture["decoding"] == "blockwise"
    assert sum(cell is not None for cell in picture["rows"][0]) == 1  # the first round has no draft


@pytest.fixture(scope="module")
def steps(make_bundle: Callable[..., Bundle]) -> Callable[[Order, int], Picture]:
    """The steps in which a model of an order writes some tokens and an end."""

    def made(order: Order, words: int) -> Picture:
        bundle = make_bundle(order=order, positions="learned")
        source = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode("kalo mita resu"))
        return search_steps(Verifier(bundle.verifier), bundle.tokenizer, "beam", source, [*range(5, 5 + words), EOS])

    return made


@pytest.mark.parametrize("words", [0, 1, 4, 5])
@pytest.mark.parametrize("order", ORDERS)
def test_each_step_adds_tokens_where_its_order_has_them(order: Order, words: int, steps: Callable[[Order, int], Picture]) -> None:
    picture = steps(order, words)
    per_step = tokens_per_step(order)
    assert len(picture.rows) == -(-(words + 1) // per_step)
    written = folded_positions(words, order)
    for number, row in enumerate(picture.rows):
        before, until = set(written[: number * per_step]), set(written[: (number + 1) * per_step])
        assert {place for place, cell in enumerate(row) if cell and cell.mark == "known"} == before
        assert {place for place, cell in enumerate(row) if cell and cell.mark == "verified"} == until - before
        assert [cell.piece for cell in row if cell] == [picture.target[place] for place in sorted(until)]
    assert {place for place, cell in enumerate(picture.rows[-1]) if cell} == set(range(words + 1))


@pytest.mark.parametrize("order", ORDERS)
def test_the_probabilities_of_steps_are_those_of_the_sentence(order: Order, make_bundle: Callable[..., Bundle]) -> None:
    bundle = make_bundle(order=order, positions="learned")
    source = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode("kalo mita"))
    verifier = Verifier(bundle.verifier)
    (found,) = beam_search([verifier], [Sentence(0, source)], BeamOptions(beam_size=2, max_length=8))
    picture = search_steps(verifier, bundle.tokenizer, "beam", source, found.ids)
    product = prod(cell.probability or 0 for row in picture.rows for cell in row if cell and cell.mark == "verified")
    assert product == pytest.approx(exp(found.alternatives[0].log_probability), rel=0.01, abs=1e-6)


@pytest.mark.parametrize(("order", "decoding"), [("bidirectional", "bidirectional"), ("right-to-left", "beam")])
@pytest.mark.parametrize("suffix", ["html", "svg", "json"])
def test_a_search_has_its_picture(suffix: str, order: Order, decoding: str, make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    made = make_bundle(order=order, positions="learned")
    made.info = replace(made.info, decoding="auto")
    save_bundle(made, tmp_path / "model")
    output = tmp_path / f"picture.{suffix}"
    result = run("kalo mita", "-m", tmp_path / "model", "-o", output)
    assert result.exit_code == 0, result.output
    text = output.read_text()
    if suffix == "json":
        picture = json.loads(text)
        assert picture["decoding"] == decoding
        words = [piece for piece in picture["target"] if piece != "</s>"]
        assert picture["rows"][0][0 if order == "bidirectional" else len(words) - 1]["mark"] == "verified"
    else:
        assert re.search(rf"{decoding}: \d+ tokens in \d+ step", text)
    refused = run("kalo", "-m", tmp_path / "model", "--decoding", "jacobi")
    assert (refused.exit_code, f"which only decoding {decoding} writes in" in refused.stderr) == (2, True), refused.output


def test_each_iteration_of_mask_predict_shows_what_it_predicted(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    made = make_bundle(order="masked")
    made.info = replace(made.info, decoding="auto")
    save_bundle(made, tmp_path / "model")
    result = run("kalo mita", "-m", tmp_path / "model", "-o", tmp_path / "picture.json")
    assert result.exit_code == 0, result.output
    picture = json.loads((tmp_path / "picture.json").read_text())
    words, rows = len(picture["target"]), picture["rows"]
    predicted = [sum(cell["mark"] == "verified" for cell in row) for row in rows]
    assert predicted == [max(1, words * (10 - number) // 10) for number in range(10)]
    assert [cell["piece"] for cell in rows[-1]] == picture["target"]
    for row, later in pairwise(rows):
        assert all(new["piece"] == old["piece"] for old, new in zip(row, later, strict=True) if new["mark"] == "known")
    bundle, source = made, made.tokenizer.add_special_tokens(made.tokenizer.encode("kalo mita"))
    (found,) = mask_predict(Verifier(bundle.verifier), [Sentence(0, source)], MaskPredictOptions())
    assert picture["target"] == bundle.tokenizer.pieces(found.ids[:-1])


def test_the_terminal_shows_both_ends_growing() -> None:
    pieces = ("\u2581We", "\u2581go", "\u2581to", "\u2581Tokyo", ".", "</s>")
    known, now = [Cell(piece, "known") for piece in pieces], [Cell(piece, "verified", 0.5) for piece in pieces]
    rows = (
        (now[0], None, None, None, now[4], None),
        (known[0], now[1], None, now[3], known[4], None),
        (known[0], known[1], now[2], known[3], known[4], now[5]),
    )
    stream = io.StringIO()
    print_picture(Picture("bidirectional", ("a",), pieces, rows), Console(file=stream, width=200))
    assert stream.getvalue().splitlines()[0:6] == [
        "bidirectional: 6 tokens in 3 steps, 2.00 tokens each",
        "source: a",
        "   1 \u2581We● … .● ",
        "   2 \u2581We \u2581go● … \u2581Tokyo● . ",
        "   3 \u2581We \u2581go \u2581to● \u2581Tokyo . </s>● ",
        "● the verifier's own token  · from an earlier row",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kalo", "-o", "a.txt"], "must end with one of"),
        ([" "], "SENTENCE is empty"),
        (["kalo " * 80], "a picture holds 60"),
        (["kalo", "--decoding", "beam"], "no rounds to show"),
    ],
)
def test_what_cannot_be_shown(arguments: list[str], words: str, bundle_folder: Path) -> None:
    result = run(*arguments, "-m", bundle_folder)
    assert (result.exit_code, words in result.stderr) == (2, True), result.output


@needs_browser
def test_a_browser_draws_the_page(graph: Picture, tmp_path: Path) -> None:
    # What a cell says when it has the focus.
    probe = """document.querySelector('td[tabindex="0"]').focus(); return document.getElementById('detail').textContent"""
    said, drawn = drawn_page(to_html(graph), probe, tmp_path)
    first = next(cell for cell in graph.rows[0] if cell)
    assert said.startswith(f"{first.piece}: ")
    assert drawn.count('class="linked"') == 0  # the first token waited for none


@needs_browser
def test_arcs_end_above_the_columns_they_are_of(graph: Picture, tmp_path: Path) -> None:
    probe = """
        const cells = [...document.querySelectorAll('tbody tr:first-child td')].map(c => c.getBoundingClientRect());
        const heads = [...document.querySelectorAll('figure svg > text')].map(t => t.getBoundingClientRect());
        return Math.max(...heads.map((h, i) => Math.abs((h.left + h.right - cells[i].left - cells[i].right) / 2))).toString()"""
    said, _ = drawn_page(to_html(graph), probe, tmp_path)
    assert float(said) < 2
