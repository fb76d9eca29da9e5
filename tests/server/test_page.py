"""The page shows rounds and results, in a browser too; its events add up."""

import json
import re
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.server.guard import Limits
from specdec_cli.server.page import Emit, Stopped
from tests.server.browser import CHROMIUM, Browser
from tests.server.conftest import Running, leave, running, wait_until

ENGLISH = {"task": "correct", "source": "en"}
GERMAN = {"task": "translate", "source": "en", "target": "de"}


def events(server: Running, **fields: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a text."""
    answer = server.post("/show", **fields)
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream")
    return [(event[7:], json.loads(data[6:])) for event, data in (block.split("\n") for block in answer.body.decode().split("\n\n")[:-1])]


@pytest.mark.parametrize(
    ("text", "task"),
    [("She don't like coffee. 😀 He have no tea, and it is good.", ENGLISH), ("The old house is red.\nIt is late.", GERMAN)],
)
def test_rounds_add_up_to_the_result(shipped: Running, text: str, task: dict[str, str]) -> None:
    *rounds, (last, result) = events(shipped, text=text, **task)
    assert last == "result" and {event for event, _ in rounds} == {"round"}
    assert sum(len(values["tokens"]) for _, values in rounds) == result["tokens"] and len(rounds) == result["rounds"]
    assert all(values["accepted"] <= len(values["tokens"]) for _, values in rounds)
    assert any(values["accepted"] for _, values in rounds) and result["sameAsGreedy"]
    assert result["milliseconds"] > 0 and result["greedyMilliseconds"] > 0
    spoken = "".join(token for _, values in rounds for token in values["tokens"])
    if task is ENGLISH:
        assert [text[edit["start"] : edit["end"]] for edit in result["edits"]][:1] == ["don't"]
    else:
        assert spoken == result["text"].replace("\n", "")


def test_errors_of_the_page_and_texts_without_words(shipped: Running) -> None:
    assert shipped.post("/show", text="a", task="translate", source="en", target="fr").status == 400
    assert shipped.post("/show", text="a" * 2001, **ENGLISH).status == 413
    ((event, result),) = events(shipped, text="123\n", **GERMAN)
    assert (event, result["text"], result["rounds"]) == ("result", "123\n", 0)


class Answering:
    """Shows a result without rounds."""

    def show(self, text: str, emit: Emit, _: Callable[[], bool]) -> None:
        """Emit the result."""
        emit("result", {"text": text.upper(), "edits": None, "tokens": 0, "rounds": 0})


class Endless:
    """Shows one round, and decodes until nobody waits for the result."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def show(self, _: str, emit: Emit, is_stopped: Callable[[], bool]) -> None:
        """Emit a round and wait."""
        emit("round", {})
        wait_until(is_stopped)
        self.ended.set()
        raise Stopped


def test_a_reader_that_leaves_ends_the_decoding() -> None:
    endless = Endless()
    with running(showings={"correct en": endless}) as (server, service):
        with leave(server.port, "/show", b"task=correct&source=en&text=a", shut=False) as own:
            wait_until(lambda: b"event: round" in own.recv(65536))
            assert service.in_progress == 1 and not endless.ended.is_set()
        assert endless.ended.wait(60)
        wait_until(lambda: service.in_progress == 0)


def test_texts_that_wait_for_the_page_leave_threads_for_others() -> None:
    with running(showings={"correct en": Endless()}) as (server, service), ExitStack() as opened:
        for _ in range(40):  # more than the threads of asyncio
            opened.enter_context(leave(server.port, "/show", b"task=correct&source=en&text=a", shut=False))
        wait_until(lambda: service.in_progress == 40)
        assert server.translate("long " * 1000).status == 200


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_works_in_a_browser(shipped: Running, tmp_path: Path, width: int) -> None:
    with Browser(tmp_path, width) as browser:
        browser.call("Page.navigate", url=f"{shipped.url}/")
        browser.wait_for("document.activeElement?.id === 'text'")
        browser.call("Input.insertText", text="Good morning!")
        browser.wait_for("document.getElementById('result').textContent === 'Guten Morgen!'")
        browser.wait_for("document.querySelectorAll('#rounds .token').length > 2 && !document.querySelector('#rounds .rejected')")
        assert browser.value("document.getElementById('rounds').textContent") == "Guten Morgen!"
        assert "times as fast as greedy decoding, with the same output." in browser.value("document.getElementById('speed').textContent")
        browser.wait_for("!document.getElementById('open').hidden")
        # By keyboard alone to the other task: back over the buttons to the radio buttons, and to the last one, left of the first.
        buttons = browser.value("document.querySelectorAll('#exchange:not([hidden]), #open:not([hidden])').length")
        for key, code, modifiers in [("Tab", 9, 8)] * (buttons + 1) + [("ArrowLeft", 37, 0)]:
            for kind in ("rawKeyDown", "keyUp"):
                browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers)
        browser.wait_for("document.querySelector('#tasks input:checked').value === 'correct en'")
        browser.value("document.getElementById('text').select()")
        browser.call("Input.insertText", text="She don't like coffee. 😀 He have no tea, and it is good.")
        browser.wait_for("document.querySelectorAll('#result ins').length > 1")
        assert browser.value("document.querySelector('#result del').textContent") == "don't"
        browser.value("location.hash = '%'")  # not the code of a character
        browser.wait_for("document.getElementById('problem').textContent.includes('after #')")
        browser.value("location.hash = 'He%20have%20no%20tea.'")
        browser.wait_for("document.querySelector('#result ins')?.textContent === 'has'")
        assert browser.value("document.documentElement.scrollWidth") <= width
        assert browser.problems == []


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_the_page_waits_for_slow_and_busy_servers(tmp_path: Path) -> None:
    endless = Endless()
    showings = {"correct en": endless, "translate en de": Answering()}
    with running(limits=Limits(requests=0), showings=showings) as (server, service), Browser(tmp_path, 390) as browser:
        browser.call("Page.navigate", url=f"{server.url}/")
        browser.wait_for("document.activeElement?.id === 'text'")
        browser.call("Input.insertText", text="a")
        browser.wait_for("document.getElementById('problem').textContent === 'The server is busy; trying again in 1 second.'")
        service.limits = Limits()
        browser.wait_for("document.getElementById('problem').hidden && !document.getElementById('result').textContent")
        browser.wait_for("document.getElementById('result').textContent === 'Correcting…'")
        browser.value("document.querySelectorAll('#tasks input')[1].click()")
        browser.wait_for("document.getElementById('result').textContent === 'A'")
        assert endless.ended.wait(60)
        browser.value("document.getElementById('text').value = ''")
        browser.value("document.getElementById('text').dispatchEvent(new Event('input'))")
        browser.wait_for("document.getElementById('result').textContent === 'The translation appears here.'")
        assert browser.value("document.getElementById('speed').textContent").startswith("Type a text")
    assert browser.problems == [] or all("429" in str(each) for each in browser.problems)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_the_page_translates_documents(shipped: Running, tmp_path: Path) -> None:
    good, bad = tmp_path / "grüße 😀.md", tmp_path / "a.md"
    good.write_text("# Good morning!\n", encoding="utf-8")
    bad.write_bytes(b"\xff")
    with Browser(tmp_path / "browser", 390) as browser:
        browser.call("Page.navigate", url=f"{shipped.url}/")
        browser.wait_for("!document.getElementById('open').hidden && document.getElementById('file').accept.includes('.docx')")
        place = browser.call("Runtime.evaluate", expression="document.getElementById('file')")["result"]["objectId"]
        browser.call("DOM.setFileInputFiles", objectId=place, files=[str(good)])
        browser.wait_for("document.querySelector('#result a')?.textContent === 'grüße 😀_de.md'")
        assert browser.value("document.activeElement.textContent") == "grüße 😀_de.md"
        assert browser.value("document.documentElement.scrollWidth") <= 390
        answer = shipped.ask("GET", "/" + browser.value("document.querySelector('#result a').getAttribute('href')"))
        assert answer.body.decode() == "# Guten Morgen!\n"
        assert browser.problems == []
        browser.call("DOM.setFileInputFiles", objectId=place, files=[str(bad)])
        browser.wait_for("document.getElementById('problem').textContent.includes('a.md, line 1: not valid UTF-8')")
        browser.value("document.querySelector('#tasks input[value^=correct]').click()")
        assert browser.value("document.getElementById('open').hidden") is True


def test_the_page_loads_nothing_from_elsewhere(shipped: Running) -> None:
    answer = shipped.ask("GET", "/")
    page = answer.body.decode()
    assert re.findall(r"(?:src|href|url)\s*[=(]|https?:|@import", page) == []
    assert "default-src 'none'" in answer.headers["content-security-policy"] and "unsafe" not in answer.headers["content-security-policy"]
    named = set(re.findall(r' for="(\w+)"', page)) | set(re.findall(r'labelledby="(\w+)"', page))
    assert named <= set(re.findall(r' id="(\w+)"', page))


def test_colours_of_the_page_have_contrast() -> None:
    from specdec_cli.server import page

    text = (Path(page.__file__).parent / "page.html").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", text, re.DOTALL))
    pairs = [("ink", "paper"), ("ink", "ground"), ("faint", "paper"), ("accent", "paper"), ("on-accent", "accent"), ("ink", "accepted")]
    pairs += [("ink", "own"), ("rejected", "paper"), ("ink", "removed"), ("bad", "ground")]
    for colours in (light, dark):
        assert {pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5} == set()


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
