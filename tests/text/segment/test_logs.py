"""Lines of logs and of data: times, levels, threads and keys are no text."""

import random

import pytest

from specdec_cli.text.segment.layout import Passthrough, segment_line, split_marks
from tests.tables import tables

CASES = tables(__file__)

THREADS = ("main", "worker-1", "http-nio-8080-exec-3", "Thread-12", "GC", "reactor-http-epoll-2")
LEVELS = ("INFO", "WARN", "ERROR", "DEBUG", "FATAL", "WARNING", "TRACE", "NOTICE")
LOGGERS = ("com.example.App", "app.server", "root", "o.s.b.w.e.tomcat.TomcatWebServer", "django.request", "c.e.Main")
MESSAGES = ("The server was started.", "Connection refused by the remote host.", "Could not open the file.", "Retrying in 5 seconds.")


@pytest.mark.parametrize("seed", range(2))
def test_only_the_message_of_a_drawn_log_line_is_text(seed: int) -> None:
    draw = random.Random(seed)
    for number in range(60):
        fields = {"n": draw.randrange(1, 9), "level": draw.choice(LEVELS), "thread": draw.choice(THREADS), "logger": draw.choice(LOGGERS)}
        head, message = CASES.heads[number % len(CASES.heads)].format(**fields), draw.choice(MESSAGES)
        assert split_marks(head + message) == (head, message, "")


@pytest.mark.parametrize(("line", "head", "body"), CASES.keys_stay_and_words_are_text)
def test_keys_stay_and_words_are_text(line: str, head: str, body: str) -> None:
    assert split_marks(line)[:2] == (head, body)


@pytest.mark.parametrize("line", ['  "main": 16,', '"on": true', "[main.section]", "[userName]", "menu-open=18 user=main status=ok"])
def test_data_without_text_is_copied(line: str) -> None:
    assert segment_line(line, 100, len, Passthrough("en", "de")).texts == ()


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("Coffee,5.5 km,the house", ("Coffee", "the house")),
        ('Tea,3,"the old, green garden"', ("Tea", "the old, green garden")),
        ("He ran 5,5 km, then slept.", ("He ran 5,5 km, then slept.",)),
    ],
)
def test_a_row_with_a_quantity_has_cells(line: str, texts: tuple[str, ...]) -> None:
    assert segment_line(line, 100, len, Passthrough("en", "de")).texts == texts
