"""The worker process is replaced when a line stops it, and no other request is lost."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.server import front as front_module
from specdec_cli.server.front import Front
from specdec_cli.server.guard import Gate, Limits
from specdec_cli.server.monitoring import Log, RequestMetrics
from specdec_cli.server.run import listen_tcp, make_server
from specdec_cli.server.worker_process import Start
from tests.faults.process_tree import descendants, wait_for_end
from tests.server.conftest import Answer, Running, end_with_parent, leave, wait_until
from tests.server.faulty_worker import load

FAULTS_THAT_STOP = ("do sleep", "do backtrack", "In the loop do sleep", "In the loop do backtrack")


@contextmanager
def fronted(seconds: float = 20.0) -> Iterator[tuple[Running, Front]]:
    """A server whose worker process is that of `faulty_worker`."""
    log, metrics = Log(quiet=True), RequestMetrics()
    own = listen_tcp("127.0.0.1", 0)
    with own, Front(Start(load, (Limits(seconds=seconds),)), seconds, log, metrics) as front:
        server = make_server(Gate(front, log, metrics, front.paths), 5, front.connect, front.disconnect)
        thread = threading.Thread(target=server.run, args=([own],))
        thread.start()
        try:
            yield Running(own.getsockname()[1]), front
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def faulty() -> Iterator[tuple[Running, Front]]:
    """A server that waits 1 second for a process that does not answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front_module, "_LEAST_SECONDS", 1.0)
        patch.setattr(front_module, "_SHARE", 0.0)
        with fronted() as started:
            yield started


def asked(server: Running, *texts: str) -> list[Answer]:
    """The answers to requests that are sent at the same time, each with a text."""
    answers: dict[int, Answer] = {}
    threads = [
        threading.Thread(target=lambda number=number, text=text: answers.update({number: server.translate(text)}))
        for number, text in enumerate(texts)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(len(texts))]


def restarts(server: Running) -> int:
    """The number of processes that were replaced."""
    text = server.ask("GET", "/metrics").body.decode()
    return int(float(text.split("\nspecdec_restarts_total ")[1].split()[0]))


@pytest.mark.parametrize("fault", FAULTS_THAT_STOP)
def test_a_line_that_stops_the_process_fails_its_request_alone(faulty: tuple[Running, Front], fault: str) -> None:
    server, front = faulty
    before, number = restarts(server), front._worker.number
    statuses: list[Answer] = []
    thread = threading.Thread(target=lambda: statuses.append(server.translate(fault)))
    thread.start()
    wait_until(lambda: any(front._worker.board.is_at_work(each) for each in front._exchanges))
    assert server.ask("GET", "/health").status == 200
    assert front._worker.number == number  # the process that does not answer is still there
    assert server.translate("hello").json == {"translatedText": "HELLO"}
    thread.join()
    assert statuses[0].status == 503 and "stopped to answer" in statuses[0].json["error"] and statuses[0].headers["retry-after"] == "1"
    assert before < restarts(server) <= before + 2  # 2 where the process had begun to work on the other request, too
    wait_for_end([number])


@pytest.mark.parametrize("fault", ["do kill", "do crash"])
def test_a_process_that_ends_is_replaced(faulty: tuple[Running, Front], fault: str) -> None:
    server, _ = faulty
    before = restarts(server)
    assert server.translate(fault).status == 503
    assert server.translate("hello").json == {"translatedText": "HELLO"}
    assert restarts(server) == before + 1


def test_of_the_requests_of_a_batch_only_the_cause_fails(faulty: tuple[Running, Front]) -> None:
    server, _ = faulty
    first = threading.Thread(target=server.translate, args=("do wait",))
    first.start()
    texts = ["good", "do sleep", "do wait, then good", "In the loop", "two"]
    answers = asked(server, *texts)
    first.join()
    assert [answer.status for answer in answers] == [200, 503, 200, 200, 200]
    assert [answer.json["translatedText"] for answer in answers if answer.status == 200] == [
        text.upper() for text in texts if text != "do sleep"
    ]


def test_bodies_are_sent_to_the_second_process_too(faulty: tuple[Running, Front]) -> None:
    server, front = faulty
    text = "This is a sentence. " * 1000
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(server.translate("do wait" + text)))
    thread.start()
    wait_until(lambda: any(front._worker.board.is_at_work(each) for each in front._exchanges))
    os.kill(front._worker.number, signal.SIGSTOP)  # a process of which nothing is known but that it does not answer
    other = server.translate("hello")
    thread.join()
    assert other.json == {"translatedText": "HELLO"}
    assert answers[0].status == 503 or answers[0].json == {"translatedText": ("do wait" + text).upper()}


def test_a_thread_that_never_ends_is_ended() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front_module, "_LEAST_SECONDS", 0.5)
        with fronted(1.0) as (server, front):
            number = front._worker.number
            answer = server.translate("do for ever")
            assert answer.status == 503 and "1 second" in answer.json["error"]
            wait_until(lambda: front._worker.number != number)
            wait_until(lambda: server.translate("hello").status == 200)


def test_the_time_limit_holds_while_the_process_does_not_answer() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front_module, "_LEAST_SECONDS", 60.0)
        with fronted(1.0) as (server, front):
            answers = asked(server, "do sleep", "hello")
            assert [answer.status for answer in answers] == [503, 503]
            assert "not done within 1 second" in answers[0].json["error"]
            assert server.ask("GET", "/health").status == 200
            number = front._worker.number
    wait_for_end([number])


def test_a_client_that_leaves_is_noted() -> None:
    with fronted() as (server, front):
        own = leave(server.port, "/translate", b"q=do%20wait&source=en&target=de", shut=False)
        wait_until(lambda: len(front._exchanges) == 1)
        own.close()
        wait_until(lambda: not front._exchanges)
        wait_until(lambda: b'specdec_requests_total{path="/translate",status="499"} 1.0' in server.ask("GET", "/metrics").body)
        text = server.ask("GET", "/metrics").body.decode()
        assert "specdec_requests_in_progress 0.0" in text
        assert server.ask("GET", "/nothing").status == 404


def test_the_error_for_which_models_cannot_be_loaded_is_that_of_the_server() -> None:
    front = Front(Start(load, (Limits(), "these models do not go together")), 1, Log(quiet=True), RequestMetrics())
    with pytest.raises(UsageError, match="do not go together"), front:
        pass
    wait_for_end([front._worker.number])


SERVER = """
import sys
from specdec_cli.server.front import Front
from specdec_cli.server.guard import Gate, Limits
from specdec_cli.server.monitoring import Log, RequestMetrics
from specdec_cli.server.run import listen_tcp, serve
from specdec_cli.server.worker_process import Start
from tests.server.faulty_worker import load

log, metrics = Log(), RequestMetrics()
with Front(Start(load, (Limits(seconds=20),)), 20, log, metrics) as front, listen_tcp("127.0.0.1", 0) as own:
    serve(front, Gate(front, log, metrics, front.paths), [own], 20, log)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("fault", ["do sleep", "do backtrack"])
def test_signals_end_a_server_whose_process_does_not_answer(number: signal.Signals, fault: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", SERVER], stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
    assert process.stderr is not None
    events = (json.loads(line) for line in process.stderr)
    listening: Any = next(event for event in events if event["event"] == "listening")
    server = Running(int(listening["addresses"][0].rpartition(":")[2]))
    workers = descendants(process.pid)
    assert any("server.worker" in command for command in workers.values())
    left = leave(server.port, "/translate", f"q={fault.replace(' ', '+')}&source=en&target=de".encode(), shut=False)
    time.sleep(0.5)
    process.send_signal(number)
    code = process.wait(60)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    answer = left.recv(1000)
    assert answer == b"" if number == signal.SIGKILL else b" 503 " in answer
    left.close()
    process.stderr.close()
    wait_for_end(workers)
