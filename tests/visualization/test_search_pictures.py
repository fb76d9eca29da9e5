"""Pictures of searches and of every decoding, made by the command."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import exp, prod
from pathlib import Path

import pytest
from rich.console import Console

from specdec_cli.decoding.beam import beam_search
from specdec_cli.decoding.mask_predict import mask_predict
from specdec_cli.decoding.options import BeamSearch, Decoding, DecodingOptions
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.order import Order, folded_positions, tokens_per_step
from specdec_cli.native.library import LibraryError, UnsupportedModel
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.visualization.picture import Cell, Picture
from specdec_cli.visualization.recording import search_steps
from specdec_cli.visualization.render import print_picture
from specdec_cli.work.visualizing import LONGEST
from tests import command_line
from tests.command_line import Result, done
from tests.fakes import ORDERS, tiny_heads


def run(*arguments: object) -> Result:
    return command_line.run("visualize", "--threads", "1", *arguments)


@pytest.mark.parametrize("decoding", ["jacobi", "gs-jacobi", "input-guided", "lookup", "greedy"])
def test_every_decoding_has_a_picture(decoding: str, bundle_folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "picture.json"
    done(run("kalo mita", "-m", bundle_folder, "--decoding", decoding, "-o", output))
    picture = json.loads(output.read_text())
    assert picture["decoding"] == decoding
    known = [sum(cell is not None and cell["mark"] == "known" for cell in row) for row in picture["rows"]]
    assert known[0] == 0 and all(earlier <= later for earlier, later in pairwise(known))
    assert bool(picture["settled"]) == (decoding == "jacobi")


def test_decodings_with_heads_have_a_picture(bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(replace(bundle, drafter=tiny_heads(bundle.verifier)), tmp_path / "heads")
    done(run("kalo mita", "-m", tmp_path / "heads", "--decoding", "blockwise", "-o", tmp_path / "picture.json"))
    picture = json.loads((tmp_path / "picture.json").read_text())
    assert picture["decoding"] == "blockwise"
    assert sum(cell is not None for cell in picture["rows"][0]) == 1  # the first round has no draft


@pytest.fixture(scope="module")
def steps(make_bundle: Callable[..., Bundle]) -> Callable[[Order, int], Picture]:
    """Makes the picture of the steps in which a model of an order writes a number of tokens and EOS."""

    def made(order: Order, words: int) -> Picture:
        bundle = make_bundle(order=order, positions="learned")
        source = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode("kalo mita resu"))
        return search_steps(Verifier(bundle.verifier), bundle.tokenizer, "beam", source, [*range(5, 5 + words), EOS])

    return made


@pytest.mark.parametrize("words", [0, 1, 4, 5])
@pytest.mark.parametrize("order", ORDERS)
def test_each_step_adds_tokens_at_the_positions_of_its_order(order: Order, words: int, steps: Callable[[Order, int], Picture]) -> None:
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
def test_probabilities_of_steps_multiply_to_that_of_the_sentence(order: Order, make_bundle: Callable[..., Bundle]) -> None:
    bundle = make_bundle(order=order, positions="learned")
    source = bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode("kalo mita"))
    verifier = Verifier(bundle.verifier)
    (found,) = beam_search([verifier], [Sentence(0, source)], Decoding(search=BeamSearch(beam_size=2), max_length=8))
    picture = search_steps(verifier, bundle.tokenizer, "beam", source, found.ids)
    product = prod(cell.probability or 0 for row in picture.rows for cell in row if cell and cell.mark == "verified")
    assert product == pytest.approx(exp(found.alternatives[0].log_probability), rel=0.01, abs=1e-6)


@pytest.mark.parametrize(("order", "decoding"), [("bidirectional", "bidirectional"), ("right-to-left", "beam")])
@pytest.mark.parametrize("suffix", ["html", "svg", "json"])
def test_every_search_has_a_picture(suffix: str, order: Order, decoding: str, make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    made = make_bundle(order=order, positions="learned")
    made.info = replace(made.info, decoding="auto")
    save_bundle(made, tmp_path / "model")
    output = tmp_path / f"picture.{suffix}"
    done(run("kalo mita", "-m", tmp_path / "model", "-o", output))
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


def test_iterations_of_mask_predict_show_their_predictions(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    made = make_bundle(order="masked")
    made.info = replace(made.info, decoding="auto")
    save_bundle(made, tmp_path / "model")
    done(run("kalo mita", "-m", tmp_path / "model", "-o", tmp_path / "picture.json"))
    picture = json.loads((tmp_path / "picture.json").read_text())
    words, rows = len(picture["target"]), picture["rows"]
    predicted = [sum(cell["mark"] == "verified" for cell in row) for row in rows]
    assert predicted == [max(1, words * (10 - number) // 10) for number in range(10)]
    assert [cell["piece"] for cell in rows[-1]] == picture["target"]
    for row, later in pairwise(rows):
        assert all(new["piece"] == old["piece"] for old, new in zip(row, later, strict=True) if new["mark"] == "known")
    bundle, source = made, made.tokenizer.add_special_tokens(made.tokenizer.encode("kalo mita"))
    (found,) = mask_predict(Verifier(bundle.verifier), [Sentence(0, source)], Decoding())
    assert picture["target"] == bundle.tokenizer.pieces(found.ids[:-1])


def test_the_terminal_shows_both_ends_of_bidirectional_outputs() -> None:
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
        "● the verifier's own token  without a sign: from an earlier row",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["kalo", "-o", "a.txt"], "must end with one of"),
        (["kalo", "-o", "no/a.svg"], "no/a.svg: its folder does not exist"),
        ([" "], "SENTENCE is empty"),
        (["kalo " * 80], "a picture holds 60"),
        (["kalo", "--decoding", "beam"], "no rounds to show"),
        (["kalo", "--block-size", "3"], "--block-size is not for jacobi"),  # this bundle has no drafter
    ],
)
def test_unsupported_pictures_are_refused(arguments: list[str], words: str, bundle_folder: Path) -> None:
    result = run(*arguments, "-m", bundle_folder)
    assert (result.exit_code, words in result.stderr) == (2, True), result.output


@pytest.mark.parametrize("decoding", ["greedy", "lookup", "gs-jacobi"])
def test_pictures_have_the_probabilities_of_the_native_engine(decoding: str, bundle_folder: Path, tmp_path: Path) -> None:
    asked = DecodingOptions(decoding="greedy", with_scores=True, max_length=LONGEST)
    opened = open_engine(ModelChoice(str(bundle_folder)), MachineOptions(engine="native", threads=1), asked)
    tokenizer = opened.bundle.tokenizer
    (expected,) = opened.engine.decode([Sentence(0, tokenizer.add_special_tokens(tokenizer.encode("kalo mita")))])
    assert run("kalo mita", "-m", bundle_folder, "--decoding", decoding, "-o", tmp_path / "picture.json").exit_code == 0
    picture = json.loads((tmp_path / "picture.json").read_text())
    assert picture["target"] == tokenizer.pieces(expected.ids)
    columns = ([cell["probability"] for cell in column if cell] for column in zip(*picture["rows"], strict=True))
    found = [[each for each in column if each is not None][-1] for column in columns]
    assert found == pytest.approx([exp(value) for value in expected.log_probabilities], abs=1e-4)


@pytest.mark.parametrize(("error", "said"), [(LibraryError("none"), "the native engine is missing: none"), (UnsupportedModel("odd"), "")])
def test_pictures_need_no_native_engine(error: Exception, said: str, bundle_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise error

    monkeypatch.setattr("specdec_cli.opening.machine._native_network", missing)
    result = run("kalo mita", "-m", bundle_folder)
    assert (result.exit_code, said in result.stderr, bool(result.stderr)) == (0, True, bool(said))
    assert " tokens in " in result.stdout
