"""Statistics of a corpus, and their presentation in every format, from the command line to tables."""

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.errors import InputError
from specdec_cli.model.bundle import Bundle
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.visualization import corpus as corpus_run
from specdec_cli.visualization.corpus import UNLIKE, Corpus, Group, Kind, Step, decode_corpus, kinds_by_id, tokens_of
from specdec_cli.visualization.corpus_views import Axes, charts, drawn, print_corpus, tables, to_corpus_html, to_corpus_svg
from specdec_cli.visualization.picture import Cell, Picture
from specdec_cli.visualization.recording import jacobi_graph
from tests import command_line
from tests.command_line import Result, done
from tests.visualization.browser import drawn_page, needs_browser

END: Kind = "end of sentence"


def make_picture(*settled: int) -> Picture:
    """A dependency graph whose tokens became right in these iterations."""
    rows = tuple(tuple(Cell("a", "right" if number >= when else "wrong", 0.5) for when in settled) for number in range(1, max(settled) + 1))
    return Picture("jacobi", ("b",), ("a",) * len(settled), rows, settled)


@pytest.fixture
def corpus() -> Corpus:
    """Two sentences: three tokens in three iterations, of which the second was right at once; and two tokens in two iterations."""
    first = tokens_of(make_picture(1, 1, 3), ("word start", "inside a word", END))
    second = tokens_of(make_picture(1, 2), ("word start", END))
    return Corpus("<a & b>.txt", (first, second), {"blank": 2})


def test_tokens_are_counted_by_iteration(corpus: Corpus) -> None:
    assert (len(corpus.tokens), corpus.iterations) == (5, 5)
    assert corpus.by_iteration() == [
        Step(1, 3, share=0.6, so_far=0.6, greedy=0.4, greedy_so_far=0.4),
        Step(2, 1, share=0.2, so_far=0.8, greedy=0.4, greedy_so_far=0.8),
        Step(3, 1, share=0.2, so_far=1.0, greedy=0.2, greedy_so_far=1.0),
    ]


def test_tokens_are_counted_by_position(corpus: Corpus) -> None:
    assert corpus.by_position() == {
        1: Group(tokens=2, iteration=1.0, earlier=0.0, did_not_wait=None),
        2: Group(tokens=2, iteration=1.5, earlier=0.5, did_not_wait=0.5),
        3: Group(tokens=1, iteration=3.0, earlier=0.0, did_not_wait=0.0),
    }


def test_tokens_are_counted_by_kind(corpus: Corpus) -> None:
    assert corpus.by_kind() == {
        "word start": Group(tokens=2, iteration=1.0, earlier=0.0, did_not_wait=None),
        "inside a word": Group(tokens=1, iteration=1.0, earlier=1.0, did_not_wait=1.0),
        "end of sentence": Group(tokens=2, iteration=2.5, earlier=0.0, did_not_wait=0.0),
    }


def test_iterations_end_with_the_last_round_of_greedy_decoding() -> None:
    corpus = Corpus("a", (tokens_of(make_picture(1, 1, 1, 2), ("word start",) * 4),))
    assert [(step.tokens, step.so_far, step.greedy_so_far) for step in corpus.by_iteration()] == [
        (3, 0.75, 0.25),
        (1, 1.0, 0.5),
        (0, 1.0, 0.75),
        (0, 1.0, 1.0),
    ]


def test_pieces_have_the_right_kinds() -> None:
    pieces = ["</s>", "\u2581der", "en", ".", "\u2581(", "\u00fc", "<0xE4>", ").", "2"]
    starts = [piece.startswith("\u2581") for piece in pieces]
    within: Kind = "inside a word"
    expected = [END, "word start", within, "punctuation", "word start", within, within, "punctuation", within]
    assert kinds_by_id(pieces, starts, eos=0) == expected


def unwatched(found: Iterator[Hypothesis], _: int) -> Iterator[Hypothesis]:
    """Return the hypotheses unchanged."""
    return found


def test_a_corpus_is_decoded(bundle: Bundle, lines: list[str]) -> None:
    mixed = ["", *lines[:8], "  ", "kalo " * 80]
    totals: list[int] = []

    def watch(found: Iterator[Hypothesis], total: int) -> Iterator[Hypothesis]:
        totals.append(total)
        yield from found

    corpus = decode_corpus(bundle, "a", mixed, 16, watch)
    assert (totals, len(corpus.sentences), corpus.skipped) == ([8], 8, {"blank": 2, "too long for the model": 1})
    for sentence in corpus.sentences:
        assert [token.position for token in sentence] == list(range(1, len(sentence) + 1))
        # The n-th iteration settles at least the n-th token (Proposition 1 of the paper).
        assert all(token.iteration <= token.position for token in sentence)
        assert END not in [token.kind for token in sentence[:-1]]
    assert END in corpus.by_kind()
    assert corpus.by_iteration()[-1].so_far == 1.0
    assert decode_corpus(bundle, "a", mixed, 1, unwatched) == corpus


def test_sentences_with_other_output_are_skipped(bundle: Bundle, lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(verifier: Verifier, tokenizer: Tokenizer, source: Sequence[int], output: Sequence[int]) -> Picture:
        picture = jacobi_graph(verifier, tokenizer, source, output)
        row = (*picture.rows[-1][:-1], Cell("x", "wrong", 0.5))
        return replace(picture, rows=(*picture.rows, row)) if source in sources[:2] else picture

    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in lines[:3]]
    monkeypatch.setattr(corpus_run, "jacobi_graph", broken)
    corpus = decode_corpus(bundle, "a", lines[:3], 4, unwatched)
    assert (len(corpus.sentences), corpus.skipped) == (1, {UNLIKE: 2})
    with pytest.raises(InputError, match=r"a: no sentence to decode \(1 blank, 2 with another outcome"):
        decode_corpus(bundle, "a", ["", *lines[:2]], 4, unwatched)


def test_late_iterations_are_grouped_on_the_terminal() -> None:
    picture = make_picture(*range(1, 18))
    corpus = Corpus("a", (tokens_of(picture, ("word start",) * 17), tokens_of(make_picture(1, 1), ("word start", END))))
    by_iteration, by_position, _ = tables(corpus, short=True)
    assert [row[0] for row in by_position.rows] == [*map(str, range(1, 11)), "11-15", "16-17"]
    assert by_iteration.rows[0] == ("1", "3", "15.8%", "15.8%", "10.5%")
    assert by_iteration.rows[-2:] == (("11-15", "5", "26.3%", "89.5%", "89.5%"), ("16-17", "2", "10.5%", "100.0%", "100.0%"))
    assert by_position.rows[1] == ("2", "2", "1.50", "0.50", "50.0%")
    assert by_position.rows[-1] == ("16-17", "2", "16.50", "0.00", "0.0%")
    assert [row[0] for row in tables(corpus)[0].rows] == [*map(str, range(1, 18))]


def test_shares_are_rounded_once() -> None:
    corpus = Corpus("a", tuple(tokens_of(make_picture(*range(1, 1 + length)), (END,) * length) for length in (11, 5, 3, 2)))
    assert tables(corpus)[0].rows[0] == ("1", "4", "19.0%", "19.0%", "19.0%")  # 4 of 21, which is 0.1905 with four decimals
    assert corpus.to_dict()["by_iteration"][0]["so_far"] == 0.1905


def test_the_terminal_shows_all_tables_in_80_columns(corpus: Corpus) -> None:
    stream = io.StringIO()
    print_corpus(corpus, Console(file=stream, width=80))
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert lines[0] == "<a & b>.txt, jacobi: 5 tokens of 2 sentences in 5 iterations, 1.00 tokens each"
    assert "  1                3   60.0%          60.0%           40.0%" in lines
    assert "  end of sentence        2             2.50             0.00           0.0%" in lines
    assert "  all                    5             1.60             0.20          33.3%" in lines
    assert max(map(len, lines)) <= 80


def test_bars_have_the_height_of_their_values(corpus: Corpus) -> None:
    root = ElementTree.fromstring(to_corpus_svg(corpus))
    bars = [element for element in root.iter() if element.get("class") == "bar" and element.get("y") != "30"]
    first = [float(bar.attrib["height"]) for bar in bars[:3]]
    assert first == pytest.approx([3 * first[2], first[2], first[2]], rel=1e-4)
    labels = [element.get("aria-label") for element in root.iter() if element.get("class") == "mark"]
    assert len(labels) == 3 + 3 + 3 + 2  # two kinds have tokens that follow another
    assert labels[0] == "Iteration 1: 3 tokens became right, 60.0% of all; greedy decoding 40.0%"
    assert labels[7] == "Position 2, 2 tokens: right from iteration 1.50 on, 0.50 rounds earlier than in greedy decoding"
    assert root.findtext("{*}title", "").startswith("<a & b>.txt: jacobi: 5 tokens")


def test_positions_of_few_sentences_are_not_drawn() -> None:
    short = tokens_of(make_picture(1, 1), ("word start", END))
    long = tokens_of(make_picture(1, 1, 2, 2), ("word start",) * 4)
    few, enough = Corpus("a", (*[short] * 10, long)), Corpus("a", (*[short] * 9, long))
    assert (drawn(few), drawn(enough)) == (2, 4)
    assert [sum("data-row" in part for part in chart.parts) for chart in charts(few)[:3]] == [2, 2, 2]
    assert "drawn up to 2 of 4" in to_corpus_svg(few)
    assert "drawn up to" not in to_corpus_svg(enough)


@pytest.mark.parametrize(
    ("most", "step", "top"), [(0.092, 0.02, 0.1), (1, 0.2, 1.0), (1.27, 0.5, 1.5), (0, 1, 1), (0.0004, 0.0001, 0.0004), (37, 10, 40)]
)
def test_grid_lines_have_round_numbers(most: float, step: float, top: float) -> None:
    axes = Axes(5, most)
    assert [axes.step, axes.top] == pytest.approx([step, top])


class Page(HTMLParser):
    """The cells of all tables of a page, row by row, and the data in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.data = ""
        self._where = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Start a row or a cell."""
        self._where = "data" if dict(attrs).get("id") == "picture" else tag
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        """End a cell."""
        self._where = ""

    def handle_data(self, data: str) -> None:
        """Keep the text of cells, and the JSON."""
        if self._where == "data":
            self.data += data
        elif self._where in ("td", "th"):
            self.rows[-1][-1] += data


def test_a_page_has_all_numbers_and_no_external_references(corpus: Corpus) -> None:
    html = to_corpus_html(corpus)
    page = Page(html)
    assert page.rows == [list(row) for table in tables(corpus) for row in (table.columns, *table.rows)]
    assert json.loads(page.data) == json.loads(json.dumps(corpus.to_dict()))
    assert not re.search(r"(src|href)\s*=|url\(|@import", html)
    assert "<a &" not in html


@needs_browser
def test_charts_are_operated_by_keys(corpus: Corpus, tmp_path: Path) -> None:
    probe = """
        const stops = document.querySelectorAll('[data-row][tabindex="0"]'), detail = document.getElementById('detail');
        stops[0].focus();
        stops[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
        const second = detail.textContent, now = [...document.querySelectorAll('[data-row][tabindex="0"]')];
        now[3].focus();
        now[3].dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown'}));
        return [stops.length, now.length, now[0].dataset.column, second, detail.textContent].join(' | ');
    """
    said, _ = drawn_page(to_corpus_html(corpus), probe, tmp_path)
    assert said == (
        "4 | 4 | 2 | Iteration 2: 1 token became right, 20.0% of all; greedy decoding 40.0% | "
        "end of sentence, 2 tokens: 0.0% did not wait for the one before; "
        "right from iteration 2.50 on, 0.00 rounds earlier than in greedy decoding"
    )


def run(*arguments: object, text: str | None = None) -> Result:
    return command_line.run("visualize", "--threads", 1, *arguments, text=text)


def test_visualize_reads_the_source_column(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    file, output = tmp_path / "dev.tsv", tmp_path / "corpus.json"
    file.write_text("".join(f"{line}\tziel\n" for line in [" ", *lines[:4]]), encoding="utf-8")
    result = done(run("--file", file, "-m", bundle_folder, "--limit", 3, "-o", output))
    assert result.stderr == "specdec: skipped lines: 1 blank\n"
    corpus = json.loads(output.read_text())
    assert (corpus["format"], corpus["name"], corpus["sentences"], corpus["skipped"]) == (1, "dev.tsv", 2, {"blank": 1})
    assert corpus["tokens"] == sum(step["tokens"] for step in corpus["by_iteration"])
    assert corpus["tokens_per_iteration"] == round(corpus["tokens"] / corpus["iterations"], 3)
    shown = done(run("--file", "-", "-m", bundle_folder, text="".join(f"{line}\n" for line in lines[:2])))
    numbers = f"{corpus['tokens']} tokens of 2 sentences in {corpus['iterations']} iterations"
    assert (shown.stdout.startswith(f"stdin, jacobi: {numbers}"), shown.stderr) == (True, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "either a SENTENCE or --file"),
        (["kalo", "--file", "a"], "either a SENTENCE or --file"),
        (["kalo", "--limit", "2"], "--limit is for --file"),
        (["--file", "a", "--decoding", "specdec"], "not for specdec"),
        (["--file", "a", "--block-size", "3"], "--block-size is not for jacobi"),
        (["--file", "a", "-o", "a.pdf"], "must end with one of"),
    ],
)
def test_contradicting_options_are_refused(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, words in result.stderr) == (2, True), result.output


def test_a_corpus_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("kalo\n")
    result = run("--file", tmp_path / "a.json", "-o", tmp_path / "a.json")
    assert (result.exit_code, "is both input and output" in result.stderr) == (2, True)
    assert (tmp_path / "a.json").read_text() == "kalo\n"


def test_files_without_a_sentence_are_refused(bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    for name, words in (("empty.txt", "empty.txt: no sentence to decode (1 blank)"), ("none.txt", "none.txt: no such file")):
        result = run("--file", tmp_path / name, "-m", bundle_folder)
        assert (result.exit_code, words in result.stderr) == (3, True), result.output
