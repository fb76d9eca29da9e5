"""A program that prints the patterns of the packages: those that are compiled as modules are imported and as tables of patterns are read,
and for the calls inside of functions those of their arguments.
"""

import ast
import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_FLAGS_THIRD = ("match", "search", "fullmatch", "finditer", "findall")
"""Functions whose third argument are the flags."""
ROOT = Path(__file__).parents[2]
_seen: dict[tuple[str, int, str, int], None] = {}
_compile: Any = re._compile  # type: ignore[attr-defined]  # every function of `re` calls it


def _recorded(pattern: Any, flags: Any) -> Any:
    """Compile a pattern, and record it with the line that asked for it."""
    if not isinstance(pattern, re.Pattern):
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename == re.__file__:
            frame = frame.f_back
        _record(frame.f_code.co_filename, frame.f_lineno, pattern, int(flags))
    return _compile(pattern, flags)


def _record(file: str, line: int, pattern: str | bytes, flags: int) -> None:
    text, flags = (pattern, flags) if isinstance(pattern, str) else (pattern.decode("latin-1"), flags | int(re.ASCII))
    _seen[file, line, text, flags] = None


def _read_tables() -> None:
    """Compile what is kept as text and compiled when it is first needed."""
    from specdec_cli.text import quotations
    from specdec_cli.text.locale import amounts, dates, languages, other_dates, quantities
    from specdec_cli.text.locale.languages import _conventions
    from specdec_cli.text.protect import spans
    from specdec_cli.text.protect.stand_ins import rules
    from specdec_cli.text.spelling.constructions import constructions
    from specdec_cli.text.spelling.kept_words import forms

    for kind in spans.RECOGNISERS:
        spans._compiled(kind.pattern)
    quotations._marks_inside("de")
    assert forms()
    for rule in constructions():
        assert rule.pattern
    for stand_in in (*rules("en", "de"), *rules("de", "en")):
        assert stand_in.pattern
    dates._before_noun("en")
    for code in dates.DATE_WORDS:
        for build in (
            dates._weekday_without_comma,
            dates._small_weekday,
            dates._weekday,
            dates._listed_weekdays,
            dates._has_names,
            dates._month_pattern,
        ):
            build(code)
        for any_case in (False, True):
            dates._patterns(code, any_case)
    for convention in _conventions().values():
        quantities._number_pattern(convention)
    for code in other_dates._PATTERNS:
        other_dates._patterns(code)
    for code in languages.SCALES:
        amounts._pattern(code)
    for code in languages.ABBREVIATIONS:
        amounts._abbreviations(code)
    for pair in languages.REFERENCES:
        amounts._references(tuple(pair))


def _variables() -> dict[str, list[dict[str, Any]]]:
    """Values of the variables of functions in whose calls a pattern is put together, by module and function, or module and line."""
    from specdec_cli.text.locale import amounts, dates, languages
    from specdec_cli.text.locale.languages import CURRENCY_CODES
    from specdec_cli.text.protect import characters, spans
    from specdec_cli.text.protect.stand_ins import name_pattern, read_rules, read_text, rules

    name = {"name": "X1"}
    stand_ins = {rf" ?{name_pattern('X1')} ?", r"(?<!\d)37\.", r"(?<![\d.,])2,000\s?\$(?![\d])"}
    for rule in read_rules()["stand-in"]:
        for text, *_ in rule["cases"]:
            source, target = rule["between"][0].split("-")
            read = read_text(text, (source, target))
            assert read is not None
            stand_ins |= {each.pattern for each in read.stand_ins}
    signs = {"sign": r"\s?\$?\s?", "first": "(?:1,000|1\\.000)", "last": "(?:2,000|2\\.000)", "each": SimpleNamespace(sign="$")}
    scaled = [{"each": each} for code in languages.SCALES for each in languages.SCALES[code]]
    currencies = [
        {"names": languages.currency_names(sign, code) or "euros?", "named": rf"{amounts._NAME_START}(?:euros?|{each})(?!\w)"}
        for sign, each in CURRENCY_CODES.items()
        for code in ("en", "de")
    ]
    both = [{"own": own, "other": other} for each in dates.DATE_WORDS.values() for own, other in each.before_both.items()]
    texts: dict[str, list[dict[str, Any]]] = {
        "cluster.inputs:is_pattern": [{"name": "a"}, {"name": "http://a"}],
        "documents.markdown:_find": [{"pattern": r"a \\?\| b"}],
        "documents.tables:_cells": [{"delimiter": each} for each in ",;\t"],
        "documents.xliff:with_attributes": [{"name": "state"}],
        "files:_remove_partial_folders": [{"output": Path("a.b")}],
        "pipeline.ignored_edits:_spans": [{"bound": r"(?<!\w)"}, {"bound": r"(?!\w)"}],
        "pipeline.term_placing:restore": [name | {"self": SimpleNamespace(leftover=each)} for each in (r"Ab\d*", r"\d{4,}")],
        "pipeline.term_placing:replaced_sources": [{"leftover": each} for each in (r"Ab\d*", r"\d{4,}")],
        "pipeline.text_variants:_with_escapes": [{"marks": "*_"}],
        "pipeline.text_variants:_in_capitals": [{"pattern": r"<b>|\{x\}"}],
        "text.checks:_differs": [{"span": "a.b"}, {"span": "<b>"}],
        "text.locale.dates:_is_odd": both,
        "text.locale.dates:_has_digits": [{"forms": r"0?1\.\s?0?2\.|0?2/0?1(?!\d)|0?1/0?2(?!\d)|\d{4}-02-01"}],
        "text.locale.dates:_has_weekday": [{"names": list(dates._forms(code, "weekdays"))} for code in dates.DATE_WORDS],
        "text.locale.quantities:with_written": [{"pattern": r"1\.000|2 \$"}],
        "text.locale.amounts:with_ranges": [signs],
        "text.locale.amounts:_has": [
            signs | {"between": r"(?:[-\u2013]|\s(?:bis|to)\s)"},
            signs | {"between": r"(?:-|.{0,30}\b[^\W\d_]{2,}.{0,10}?)"},
        ],
        "text.locale.amounts:lost_letters": [{"each": "5 m"}],
        "text.locale.amounts:lost_scales": scaled,
        "text.locale.amounts:lost_currencies": currencies,
        "text.locale.amounts:_amounts_with": currencies,
        "text.locale.amounts:_amounts": scaled,
        "text.locale.other_dates:_places": [name | {"language": code} for code in dates.DATE_WORDS],
        "text.protect.characters:lacking_spans": [
            {"amount": amount, "inner": inner, "sign": "[~\u20ac]"}
            for amount in ("", rf"[\u20ac]\s?{characters._NUMBER}|(?<![\w.,]){characters._NUMBER}\s?[\u20ac]|")
            for inner in (r"(?<=\w)[*_]+(?=\w)", r"(?:(?:~|\u20ac)+|(?<=\w)[*_]+(?=\w))")
        ],
        "text.people:_has": [{"stem": "Zeit"}],
        "text.protect.spans:is_number": [{"kind": kind} for kind in spans.RECOGNISERS if kind.number],
        "text.protect.stand_ins:restored": [{"pattern": each} for each in stand_ins],
        "text.protect.stand_ins:read_text": [{"each": SimpleNamespace(pattern=each)} for each in stand_ins],
        "text.protect.stand_ins:stand_ins": [{"self": each} for each in rules("en", "de") if each.beside],
        "text.protect.stand_ins:with_names": [{"span": "a.b"}],
        "text.quotations:_number_with_mark": [{"forms": r"5\.3|5,3"}],
        "text.shape:fit_neighbours": [{"text": "a.b"}],
        "text.shape:with_first_capital": [{"first": "aab"}],
        "text.shape:with_small_beginning": [{"first": "aab"}],
        "text.view:_with_words": [{"shown": "a.b"}],
    }
    return {f"specdec_cli.{key}": values for key, values in texts.items()}


def _evaluated() -> Iterator[str]:
    """Evaluate the arguments of calls that were not recorded; yield those that could not be."""
    from tests.patterns.sites import sites
    from tests.source import modules

    lines = {(file, line) for file, line, *_ in _seen}
    variables = _variables()
    for site in sites():
        file = str(modules()[site.module])
        if (file, site.line) in lines:
            continue
        module = sys.modules.get(site.module)
        arguments = [site.call.args[0], *(each.value for each in site.call.keywords if each.arg == "flags")]
        arguments += site.call.args[1:2] if ast.unparse(site.call.func) == "re.compile" else []
        arguments += (
            site.call.args[2:3]
            if ast.unparse(site.call.func) in ("re.match", "re.search", "re.fullmatch", "re.finditer", "re.findall")
            else []
        )
        for values in variables.get(site.key, [{}]):
            try:
                pattern, *flags = (eval(ast.unparse(each), vars(module) | values) for each in arguments)
            except NameError as error:
                yield f"{site.key}:{site.line}: {error}: {ast.unparse(site.call)[:100]}"
                break
            _record(file, site.line, pattern, int(flags[0]) if flags else 0)


def main() -> None:
    """Import all modules, read the tables, and print a record for each pattern, and what lacks one."""
    re._compile = _recorded  # type: ignore[attr-defined]
    from tests.source import modules

    for name in modules():
        if not name.endswith("__main__"):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                if (error.name or "").startswith(("specdec_cli", "converters")):
                    raise
    _read_tables()
    lacking = list(_evaluated())
    own = [(str(Path(file).relative_to(ROOT)), *rest) for file, *rest in _seen if Path(file).is_relative_to(ROOT)]
    print(json.dumps({"patterns": own, "lacking": lacking}))


if __name__ == "__main__":
    main()
