"""A CTranslate2 teacher in a subprocess: the client side."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from specdec_cli.distillation.teacher import Resources, Search, Translation
from specdec_cli.processes import Process


class TeacherProcess:
    """A Teacher that runs the CTranslate2 model in `folder` in a subprocess, from entering to leaving its `with` block.

    CTranslate2 runs in a subprocess because on some systems it cannot be loaded together with torch. Entering the block raises
    ModelError if the model cannot be loaded or the subprocess fails.
    """

    def __init__(self, folder: Path, search: Search, resources: Resources) -> None:
        self._opening = str(folder), asdict(search), asdict(resources)
        self.process = Process("specdec_cli.distillation.worker", f"{folder}: teacher")

    def __enter__(self) -> Self:
        self.process.__enter__()
        try:
            self.process.call("open", *self._opening)
        except BaseException as error:
            self.process.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.__exit__(kind, error, trace)

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        """Yield the index in `sources` and the translation of every source line, in order of completion.

        Raises ModelError if CTranslate2 or the tokenizer reports an error, or if the subprocess ends.
        """
        for index, text, source_tokens, tokens, finished in self.process.stream("translate", list(sources)):
            yield index, Translation(text, source_tokens, tokens, finished)
