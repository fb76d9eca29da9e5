"""Pictures of decoding in every format."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle
from specdec_cli.visualization.picture import Cell, Picture
from specdec_cli.visualization.recording import jacobi_graph
from specdec_cli.visualization.render import print_picture, to_html, to_svg
from tests.visualization.browser import drawn_page, needs_browser


@pytest.fixture(scope="module")
def graph(bundle: Bundle) -> Picture:
    """The dependency graph of a sentence."""
    verifier = Verifier(bundle.verifier)
    source = [*bundle.tokenizer.encode("kalo mita resu"), bundle.verifier.config.eos]
    (found,) = decode_with(verifier, NoDrafter(), [Sentence(0, source)], Decoding(max_length=12))
    assert len(found.ids) > 4
    return jacobi_graph(verifier, bundle.tokenizer, source, found.ids)


def test_the_last_row_is_greedy_output(graph: Picture) -> None:
    cells = [cell for cell in graph.rows[-1] if cell]
    assert [cell.piece for cell in cells] == list(graph.target)
    assert {cell.mark for cell in cells} == {"right"}
    assert len(graph.rows) <= len(graph.target)
    for row in graph.rows:
        assert [cell.mark == "right" for cell in row if cell] == [
            cell.piece == piece for cell, piece in zip(row, graph.target, strict=True) if cell
        ]
        assert all(cell.probability is not None and 0 < cell.probability <= 1 for cell in row if cell)


def test_a_token_is_settled_from_the_iteration_it_stays_right(graph: Picture) -> None:
    for place, when in enumerate(graph.settled):
        marks = [row[place].mark for row in graph.rows if (row[place])]  # type: ignore[union-attr]
        assert set(marks[when - 1 :]) == {"right"}
        assert when == 1 or marks[when - 2] == "wrong"
    # The n-th iteration settles at least the n-th token (Proposition 1 of the paper).
    assert all(when <= place for place, when in enumerate(graph.settled, start=1))


def test_other_outputs_are_never_reached(bundle: Bundle, graph: Picture) -> None:
    verifier, tokenizer = Verifier(bundle.verifier), bundle.tokenizer
    ids = [number for number in map(tokenizer.id_of, graph.target) if number is not None]
    other = next(number for number in range(5, len(tokenizer)) if number != ids[2])
    source = [*tokenizer.encode("kalo mita resu"), bundle.verifier.config.eos]
    picture = jacobi_graph(verifier, tokenizer, source, [*ids[:2], other, *ids[3:]])
    last = picture.rows[-1][2]
    assert (len(picture.rows), last is not None and last.mark) == (len(ids), "wrong")


def test_edges_lead_to_the_last_settled_token(graph: Picture) -> None:
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
        """Record the label of a cell."""
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
def test_a_page_contains_all_cells_and_the_data(name: str, graph: Picture) -> None:
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
def test_a_drawing_is_valid_xml_with_an_arc_per_edge(grid: bool, graph: Picture) -> None:
    for picture in (graph, ROUNDS):
        root = ElementTree.fromstring(to_svg(picture, grid=grid))
        names = [element.tag.rpartition("}")[2] for element in root.iter()]
        assert names.count("path") == len(picture.edges)
        assert names.count("rect") == sum(cell is not None for row in picture.rows for cell in row) * grid


def test_the_terminal_shows_marks_without_colours(graph: Picture) -> None:
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


@needs_browser
def test_the_page_works_in_a_browser(graph: Picture, tmp_path: Path) -> None:
    # The text of a cell that has the focus.
    probe = """document.querySelector('td[tabindex="0"]').focus(); return document.getElementById('detail').textContent"""
    said, drawn = drawn_page(to_html(graph), probe, tmp_path)
    first = next(cell for cell in graph.rows[0] if cell)
    assert said.startswith(f"{first.piece}: ")
    assert drawn.count('class="linked"') == 0  # the first token depends on none


@needs_browser
def test_arcs_end_above_their_columns(graph: Picture, tmp_path: Path) -> None:
    probe = """
        const cells = [...document.querySelectorAll('tbody tr:first-child td')].map(c => c.getBoundingClientRect());
        const heads = [...document.querySelectorAll('figure svg > text')].map(t => t.getBoundingClientRect());
        return Math.max(...heads.map((h, i) => Math.abs((h.left + h.right - cells[i].left - cells[i].right) / 2))).toString()"""
    said, _ = drawn_page(to_html(graph), probe, tmp_path)
    assert float(said) < 2
