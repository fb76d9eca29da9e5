"""Sampling for a request: the fields `temperature`, `top_k` and `seed` of /translate."""

import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.decoding.options import Decoding, DecodingOptions, Exact, Sampled, Tolerant
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import EngineName, MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.pipeline.translator import Translation
from specdec_cli.server.guard import RequestError
from specdec_cli.server.libretranslate import sampling_rule
from specdec_cli.server.service import make_decode
from specdec_cli.server.texts import Manner, Piece, numbered, split_pieces
from tests.command_line import done, run
from tests.server.conftest import Running, running, shout

LETTER = ["The old house is red.", "", "My brother has two cats and a dog.", "It is late. We are going home now.", "I like tea."]


def ask(server: Running, q: object, **fields: object) -> Any:
    """The answer to a request for a translation from English to German."""
    return server.ask("POST", "/translate", json.dumps({"q": q, "source": "en", "target": "de"} | fields))


def drawn_by_command(lines: list[str], *options: str) -> list[str]:
    """The translations that `specdec translate --sample` draws of a file with `lines`."""
    command = ["translate", "--quiet", "--threads", "1", "--sample", *options]
    result = done(run(*command, text="".join(f"{line}\n" for line in lines).encode()))
    return result.stdout.splitlines()


def test_a_request_draws_what_the_command_draws(shipped: Running) -> None:
    wishes: list[dict[str, object]] = [
        {"temperature": 0.7, "seed": 3},
        {"temperature": 1.5},
        {"temperature": "1.2", "top_k": 4, "seed": "7"},
    ]
    for fields in wishes:
        options = [word for name, value in fields.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        expected = drawn_by_command(LETTER, *options)
        assert ask(shipped, "\n".join(LETTER), **fields).json["translatedText"].split("\n") == expected
        assert ask(shipped, LETTER, **fields).json["translatedText"] == expected
    greedy = ask(shipped, LETTER).json["translatedText"]
    assert greedy not in (expected, drawn_by_command(LETTER))
    assert ask(shipped, LETTER, temperature=0, seed=3).json["translatedText"] == greedy


def test_requests_of_other_clients_change_no_draw(shipped: Running) -> None:
    wishes: list[dict[str, object]] = [{}, {}]
    wishes += [{"temperature": heat, "seed": seed} for heat in (0.5, 1.2) for seed in (1, 2)]
    requests = [(line, wish) for line in LETTER if line for wish in wishes]
    alone = [ask(shipped, line, **wish).json for line, wish in requests]
    order = [*range(len(requests))] * 2
    random.Random(1).shuffle(order)
    with ThreadPoolExecutor(12) as clients:
        together = list(clients.map(lambda place: ask(shipped, requests[place][0], **requests[place][1]).json, order))
    assert together == [alone[place] for place in order]
    assert len({answer["translatedText"] for answer in alone}) > len(LETTER)


@pytest.mark.parametrize(
    ("engine", "decoding"),
    [("native", "auto"), ("native", "lookup"), ("reference", "gs-jacobi"), ("auto", "jacobi"), ("native", "ngram-memory")],
)
def test_lines_of_several_rules_are_decoded_as_each_alone(engine: EngineName, decoding: str, bundle_folder: Path) -> None:
    machine = MachineOptions(engine=engine, precision="int8", threads=1)
    opened = open_engine(ModelChoice(str(bundle_folder)), machine, DecodingOptions(decoding=decoding, batch_size=4))
    decode = make_decode(opened.bundle, opened.engine)
    rules = [None, Sampled(0.8, 0, 5), Exact(), Sampled(0.8, 3, 5), Sampled(3.0)]
    texts = [f"{word} kalo mita resu nope" for word in ("di", "fo", "ta", "re")]
    pieces = [piece for rule in rules for piece in numbered(map(split_pieces, texts), Manner(rule))]
    alone = [next(iter(decode([piece]))).text for piece in pieces]
    random.Random(2).shuffle(order := list(range(len(pieces))))
    assert [each.text for each in decode([pieces[place] for place in order])] == [alone[place] for place in order]
    assert alone[:4] == alone[8:12] and len({*alone}) > 8


@given(st.lists(st.lists(st.sampled_from(["", "a", "b c", " "]), min_size=1, max_size=4), max_size=4))
def test_pieces_have_the_numbers_of_lines_of_a_file(texts: list[list[str]]) -> None:
    expected = [(line, number) for number, line in enumerate((line for text in texts for line in text), start=1) if line.strip()]
    found = numbered([split_pieces("\r\n".join(text)) for text in texts])
    assert [(str(piece), piece.number) for piece in found] == expected


def test_parts_of_a_long_line_have_numbers_of_their_own() -> None:
    long = "A sentence of a very long line. " * 50
    pieces = list(numbered([split_pieces(f"first\n{long}\nlast")]))
    assert len(pieces) > 4 and len({piece.number for piece in pieces}) == len(pieces)
    assert [(str(pieces[place]), pieces[place].number) for place in (0, -1)] == [("first", 1), ("last", 3)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"temperature": 2000}, "temperature: a number from 1e-06 to 1000.0, or 0, is expected"),
        ({"temperature": -0.5}, "temperature: a number"),
        ({"temperature": "warm"}, "temperature: a number"),
        ({"temperature": True}, "temperature: a number"),
        ({"temperature": [1]}, "temperature: a number"),
        ({"temperature": float("nan")}, "temperature: a number"),
        ({"temperature": 1, "top_k": 0}, "top_k: a number from 1 to 1024 is expected"),
        ({"temperature": 1, "top_k": 2.5}, "top_k: a number"),
        ({"temperature": 1, "seed": -1}, "seed: a number from 0 to 4294967295 is expected"),
        ({"temperature": 1, "seed": 2**32}, "seed: a number"),
        ({"temperature": 1, "seed": "x"}, "seed: a number"),
        ({"seed": 3}, "seed is only for requests with a temperature"),
        ({"top_k": 3}, "top_k is only for requests with a temperature"),
    ],
)
def test_wrong_values_are_refused_by_name(fields: dict[str, object], message: str, server: Running) -> None:
    answer = ask(server, "a", **fields)
    assert answer.status == 400
    assert answer.json["error"].startswith(f"Invalid request: {message}")


def test_the_rule_of_a_request_depends_on_that_of_the_server() -> None:
    own = Decoding(acceptance=Sampled(0.5, 10, 2))
    assert sampling_rule({}, own) is sampling_rule({}, Decoding()) is sampling_rule({"temperature": 0}, Decoding()) is None
    assert sampling_rule({"temperature": 0.7}, Decoding()) == Sampled(0.7, 0, 1)
    assert sampling_rule({"seed": 9}, own) == Sampled(0.5, 10, 9)
    assert sampling_rule({"temperature": "2"}, own) == Sampled(2.0, 10, 2)
    assert sampling_rule({"temperature": 0}, own) == Exact()
    tolerant = Decoding(method="specdec++", acceptance=Tolerant(3, 1.0))
    assert sampling_rule({"temperature": 0}, tolerant) is None
    with pytest.raises(RequestError, match="temperature: sampling is for decodings that give greedy's output, not for specdec"):
        sampling_rule({"temperature": 1}, tolerant)


def test_lines_come_to_the_decoder_with_their_rules() -> None:
    seen: list[tuple[str, int, Exact | Sampled | None]] = []

    def translate(lines: Sequence[str]) -> list[Translation]:
        seen.extend((line, line.number, line.manner.rule) for line in lines if isinstance(line, Piece))
        return shout(lines)

    with running(translate) as (server, _):
        assert ask(server, ["a\n\nb", "c"], temperature=0.5, seed=4).json == {"translatedText": ["A\n\nB", "C"]}
        assert ask(server, "<p>d</p>", format="html").json == {"translatedText": "<p>D</p>"}
    rule = Sampled(0.5, 0, 4)
    assert sorted(seen, key=lambda each: each[0]) == [("a", 1, rule), ("b", 3, rule), ("c", 4, rule), ("d", 1, None)]


def test_a_line_is_not_taken_for_code_because_of_that_of_another_request(shipped: Running) -> None:
    bundle = open_engine(ModelChoice("en-de"), MachineOptions(threads=1), DecodingOptions())
    decode = make_decode(bundle.bundle, bundle.engine)
    lines = ["Title: the red house", "if (a == b) { return c; }"]
    assert [each.text for each in decode(lines)] == ["Titel: das rote Haus", lines[1]]
    assert ask(shipped, lines[0]).json["translatedText"] == "Titel: das rote Haus"
    assert ask(shipped, "\n".join(lines)).json["translatedText"] == "\n".join(lines)  # in one text, it is beside code
