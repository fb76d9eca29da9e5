"""A CTranslate2 teacher, from the side of the process that asks it."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from specdec_cli.distillation.teacher import Resources, Search, Translation
from specdec_cli.errors import ModelError

_PATIENCE = 10.0
_LAST_WORDS = 500


class TeacherProcess:
    """A Teacher that runs the CTranslate2 model in `folder`, in a process of its own, inside a `with` block.

    Of its own because torch and CTranslate2 bring a thread pool each, and on some systems cannot share a process.
    Raises ModelError for a folder that cannot be used, and when the process fails or dies.
    """

    def __init__(self, folder: Path, search: Search, resources: Resources) -> None:
        self.folder, self.search, self.resources = folder, search, resources

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            # -P: a file of the working folder that is named like a module must not be run.
            [sys.executable, "-P", "-m", "specdec_cli.distillation.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="ascii",
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            self._ask([str(self.folder), asdict(self.search), asdict(self.resources)])
            self._answer()
        except BaseException:
            self._end(at_once=True)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._end(at_once=kind is not None)

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        """The translation of every source line with its index, as batches get ready. Raises ModelError."""
        self._ask(list(sources))
        for _ in sources:
            index, text, source_tokens, tokens, finished = self._answer()
            yield index, Translation(text, source_tokens, tokens, finished)

    def _ask(self, question: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._death() from error

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise self._death()
        answer = json.loads(line)
        if isinstance(answer, dict) and "error" in answer:
            raise ModelError(f"{self.folder}: {answer['error']}")
        return answer

    def _death(self) -> ModelError:
        code = self._process.wait()
        cause = f"was killed by signal {-code} (out of memory?)" if code < 0 else f"ended with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read()[-_LAST_WORDS:].decode("utf-8", "replace").strip()
        return ModelError(f"{self.folder}: the teacher's process {cause}" + (f": {words}" if words else ""))

    def _end(self, at_once: bool) -> None:
        if at_once:
            self._process.kill()
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()
