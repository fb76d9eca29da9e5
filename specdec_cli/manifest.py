"""Manifests: the settings of a run whose output folder is filled step by step, so that only the same run resumes it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError, UsageError
from specdec_cli.files import read_json, write_json

MANIFEST = "manifest.json"
_DIGESTS = {"model": "another model", "sources": "other source text", "targets": "other target text", "teacher": "another teacher"}
"""The settings that are digests: what it means, in words, if such a setting differs."""


def check_manifest(folder: Path, settings: Mapping[str, Any], advice: str = "use the same settings or a new folder") -> None:
    """Write the manifest of a new run in `folder`, or compare `settings` with that of an earlier one.

    Raises UsageError if the manifest has other settings, naming them, with `advice`, and for a folder with files but no manifest. Of
    settings that are digests (of models and texts), the message says only that the thing is another one.
    """
    path = folder / MANIFEST
    # Converted to JSON and back, as the stored values are, so that the two compare equal.
    values = json.loads(json.dumps(settings))
    if path.exists():
        stored = read_json(path, InputError)
        keys = sorted(key for key in stored.keys() | values if stored.get(key) != values.get(key))
        if different := [_DIGESTS.get(key) or f"{key} {stored.get(key)!r}, not {values.get(key)!r}" for key in keys]:
            raise UsageError(f"{path}: started with {'; '.join(different)}; {advice}")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: exists and has no {MANIFEST}; give a new folder, or that of an earlier run")
    else:
        write_json(path, values)
