"""The options of a request to /v2/check that say which matches the client wants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specdec_cli.server.fields import text_of
from specdec_cli.server.request_error import RequestError

_LEVELS = ("default", "picky")
_TEXT_LEVEL = "textLevelOnly"
_MODES = ("all", "allButTextLevelOnly", _TEXT_LEVEL)
_BOOLEANS = {"": False, "false": False, "no": False, "true": True, "yes": True}


@dataclass(frozen=True)
class CheckOptions:
    """The rules and categories that a client turned off, and those to which it limits the matches (`only`, None without a limit).

    With `is_text_level`, it asks only for matches of rules that compare several sentences, of which there are none: clients send a second
    request for all other matches.
    """

    disabled: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    is_text_level: bool = False

    def wants(self, match: Mapping[str, Any]) -> bool:
        """Whether the client wants a match."""
        names = {match["rule"]["id"], match["rule"]["category"]["id"]}
        return not names & self.disabled and (self.only is None or bool(names & self.only))


def read_options(fields: Mapping[str, Any]) -> CheckOptions:
    """Read the options from the fields of a request. Raises RequestError for values that are not known, as LanguageTool does."""
    _chosen(fields, "level", _LEVELS)
    only = _names(fields, "enabledRules", "enabledCategories") if _is_true(fields, "enabledOnly") else None
    if only is not None and not only:
        raise RequestError(400, "Invalid request: enabledOnly needs enabledRules or enabledCategories")
    disabled = _names(fields, "disabledRules", "disabledCategories")
    return CheckOptions(disabled, only, _chosen(fields, "mode", _MODES) == _TEXT_LEVEL)


def _chosen(fields: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    """The value of a field, one of `known`; without one, their first."""
    value = text_of(fields, name, "") or known[0]
    if value not in known:
        raise RequestError(400, f"Invalid request: {name} is '{value}'; known values are {', '.join(known)}")
    return value


def _is_true(fields: Mapping[str, Any], name: str) -> bool:
    found = _BOOLEANS.get(str(fields.get(name, "")).lower())
    if found is None:
        raise RequestError(400, f"Invalid request: {name} is neither true nor false")
    return found


def _names(fields: Mapping[str, Any], *names: str) -> frozenset[str]:
    """The values of the fields `names`, each a text with commas or a list of such texts."""
    given = [fields.get(name, "") for name in names]
    texts = [str(text) for value in given for text in (value if isinstance(value, list) else [value])]
    return frozenset(one.strip() for text in texts for one in text.split(",")) - {""}
