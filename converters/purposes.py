"""The task and the instruction of a model of the T5 family, from a table of known models or from its config.json."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specdec_cli.model.bundle_info import Task
from specdec_cli.text.tokenize.converted import SOURCE, TARGET


@dataclass(frozen=True)
class Purpose:
    """The task of a model, the words in front of its sources, and the language of both sides ("": not known).

    `names` are what the instruction calls the languages of a model of several of them, by their codes; `generation` are settings of
    decoding for this task.
    """

    task: Task
    instruction: str = ""
    language: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    generation: dict[str, Any] = field(default_factory=dict)


KNOWN: Mapping[str, Purpose] = {
    "coedit": Purpose("correct", "Fix grammatical errors in this sentence: ", "en"),
    "t5-base-grammar-correction": Purpose("correct", "grammar: ", "en"),
    "grammar-synthesis": Purpose("correct", "", "en"),
}
"""Correctors by a part of their names, with the instruction of their descriptions: grammarly/coedit-large, -xl and -xxl,
vennify/t5-base-grammar-correction, and pszemraj's grammar-synthesis.
"""
_PAIR = re.compile(r"translation_([a-z]{2,3})_to_([a-z]{2,3})")
_TRANSLATION = re.compile(r"translate (\w+) to (\w+): ?")
_IN_HUB = re.compile(r"models--[\w.-]+")


def find_purpose(folder: Path, config: Mapping[str, Any], task: Task | None, languages: tuple[str, str] = ("", "")) -> Purpose | None:
    """What the model in `folder` is for: a known model, or the requested `task`. Languages alone ask for a translation between them, if
    config.json describes one. None if nothing says what it is for.
    """
    if (known := _known(folder)) is not None and task in (None, known.task):
        return known
    described = _described(config, languages)
    if task is None and any(languages) and "translate" in described:
        task = "translate"
    return None if task is None else described.get(task, Purpose(task))


def _known(folder: Path) -> Purpose | None:
    """The purpose of a model whose folder, or that of its repository in the hub's cache, has the name of a known one."""
    path = folder.resolve()
    names = [path.name, *(parent.name for parent in path.parents if _IN_HUB.fullmatch(parent.name))]
    return next((each for part, each in KNOWN.items() if any(part in name.lower() for name in names)), None)


def _described(config: Mapping[str, Any], languages: tuple[str, str]) -> dict[Task, Purpose]:
    """The tasks of the setting `task_specific_params`, which the first T5 models and those that were trained from them have."""
    params = config.get("task_specific_params")
    described = {name: values for name, values in params.items() if isinstance(values, Mapping)} if isinstance(params, Mapping) else {}
    found: dict[Task, Purpose] = {}
    if "summarization" in described:
        settings = dict(described["summarization"])
        found["summarise"] = Purpose("summarise", str(settings.pop("prefix", "")), generation=settings)
    names: dict[str, str] = {}
    settings = {}
    for key, values in described.items():
        pair, words = _PAIR.fullmatch(key), _TRANSLATION.fullmatch(str(values.get("prefix", "")))
        if pair is not None and words is not None:
            names |= dict(zip(pair.groups(), words.groups(), strict=True))
            if not settings or pair.groups() == languages:
                settings = {name: value for name, value in values.items() if name != "prefix"}
    if names:
        found["translate"] = Purpose("translate", f"translate {SOURCE} to {TARGET}: ", names=names, generation=settings)
    return found
