"""Files that are whole or not there."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from specdec_cli.errors import SpecdecError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then move it into place; a crash leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.touch()
        usual = partial.stat().st_mode
        write(partial)
        partial.chmod(usual)  # safetensors makes files that only their owner can read
        with partial.open("rb") as stream:
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def read_json(path: Path, failure: type[SpecdecError]) -> dict[str, Any]:
    """The object in a JSON file. Raises `failure`, naming the file, where there is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise failure(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(value, dict):
        raise failure(f"{path}: expected an object")
    return value
