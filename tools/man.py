"""`python -m tools.man FOLDER`: write a man page for specdec and one for each command, from their help texts."""

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from typer.main import get_group

from specdec_cli.app import app
from specdec_cli.brief_help import BRIEF
from specdec_cli.files import write_text
from specdec_cli.version import __version__

_PROJECT = "Speculative decoding"
_EXIT_CODES = {
    "0": "Done.",
    "1": "correct --check found something, or a comparison failed.",
    "2": "Wrong use: options that do not exist or do not go together.",
    "3": "Input or a model that cannot be used; the message names file, line and cause. Finished lines have been written.",
    "130": "Interrupted.",
}


def man_pages() -> dict[str, str]:
    """The pages in the language of troff's man macros, by their file names."""
    group: Any = get_group(app)
    context = group.context_class(group, info_name="specdec", **group.context_settings)
    commands = {f"specdec-{name}": command for name, command in group.commands.items()}
    listed = [line for name, command in group.commands.items() for line in (".TP", _bold(f"specdec {name}"), _text(_summary(command)))]
    pages = {"specdec.1": _page("specdec", group, context, [".SH COMMANDS", *listed, *_see_also(commands)])}
    for name, command in commands.items():
        own = command.context_class(command, info_name=name.removeprefix("specdec-"), parent=context)
        pages[f"{name}.1"] = _page(name, command, own, _see_also(["specdec"]))
    return pages


def _page(name: str, command: Any, context: Any, rest: Sequence[str]) -> str:
    brief = BRIEF.get(command.name)
    paragraphs = (command.help or "").split("\n\n")[: None if brief is None else -1]
    lines = [
        '.\\" Made from the help texts by `make man`.',
        f'.TH {name.upper()} 1 "" "specdec {__version__}" "{_PROJECT}"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{name} \\- {_text(_summary(command).rstrip('.'))}",
        ".SH SYNOPSIS",
        _bold(context.command_path),
        _text(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *(line for paragraph in paragraphs for line in (".PP", _text(paragraph))),
    ]
    if brief is not None:
        lines += [".SH EXAMPLES", *(part for line, does in brief.examples.items() for part in (".TP", _bold(line), _text(does)))]
    lines += [*_parameters(command, context), ".SH EXIT STATUS"]
    lines += [line for code, meaning in _EXIT_CODES.items() for line in (".TP", code, _text(meaning))]
    return "\n".join([*lines, *rest]) + "\n"


def _parameters(command: Any, context: Any) -> Iterator[str]:
    """The options and arguments, under the headings of the panels of the help."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            is_option = parameter.param_type_name == "option"
            if not is_option:
                record = (parameter.metavar or parameter.name, record[1])
            title = getattr(parameter, "rich_help_panel", None) or ("Options" if is_option else "Arguments")
            panels.setdefault(title, []).append(record)
    for title in sorted(panels, key=lambda title: (title != "Arguments", title == "Options")):
        yield f".SH {_text(title.upper())}"
        for names, description in panels[title]:
            yield from (".TP", _bold(names), _text(description))


def _summary(command: Any) -> str:
    return re.split(r"(?<=[.:])\s", command.help or "", maxsplit=1)[0].rstrip(":")


def _see_also(names: Collection[str]) -> list[str]:
    last = len(names) - 1
    return [".SH SEE ALSO", *(f".BR {_text(name)} (1){',' * (number < last)}" for number, name in enumerate(names))]


def _text(text: str) -> str:
    """`text` with the characters escaped that troff reads as commands."""
    escaped = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _bold(text: str) -> str:
    return f"\\fB{_text(text)}\\fR"


def main() -> None:
    """Run the program: write the pages to the folder that is its argument."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in man_pages().items():
        write_text(folder / name, text)


if __name__ == "__main__":
    main()
