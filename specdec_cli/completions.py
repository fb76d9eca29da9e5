"""Static completions for bash, zsh and fish, made from the command line itself: `python -m specdec_cli.completions FOLDER`."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from specdec_cli.app import app
from specdec_cli.files import write_atomically

Value = Literal["none", "text", "choice", "file", "folder"]
_MADE = "made by `make completions`; do not edit"


@dataclass(frozen=True)
class CompletedOption:
    """An option: its names, what its value is, and the choices where that is a closed set."""

    names: tuple[str, ...]
    help: str
    value: Value
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompletedCommand:
    """A command: its options, and whether its arguments are files."""

    name: str
    help: str
    options: tuple[CompletedOption, ...]
    takes_files: bool


def read_commands() -> list[CompletedCommand]:
    """What there is to complete, in the order of the help; the first, without a name, is `specdec` itself."""
    group = get_group(app)
    context = group.context_class(group, **group.context_settings)
    commands: Mapping[str, Any] = group.commands
    return [_command(group, ""), *(_command(command, name, context) for name, command in commands.items())]


def bash(commands: Sequence[CompletedCommand]) -> str:
    """The script for bash."""
    root, *others = commands
    names = " ".join([command.name for command in others] + [name for option in root.options for name in option.names])
    cases = "".join(_bash_case(command) for command in others)
    return f"""\
# bash completion for specdec; {_MADE}
_specdec() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command="" word words=""
    # Bash takes the = of --option=value for a word.
    if [[ $current == = ]]; then
        current=""
    elif [[ $previous == = ]]; then
        previous=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    COMPREPLY=()
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ $word == -* ]] || {{ command=$word; break; }}
    done
    case $command in
        "") words="{names}" ;;
{cases}    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -F _specdec specdec
"""


def zsh(commands: Sequence[CompletedCommand]) -> str:
    """The function for zsh."""
    root, *others = commands
    described = "".join(f"                {_quoted(f'{command.name}:{command.help}')}\n" for command in others)
    cases = "".join(f"                {command.name})\n{_zsh_arguments(command)}                    ;;\n" for command in others)
    return f"""\
#compdef specdec
# zsh completion for specdec; {_MADE}
_specdec() {{
    local curcontext="$curcontext" state line
    typeset -A opt_args
    _arguments -C \\
        {" ".join(_zsh_option(option) for option in root.options)} \\
        '1:command:->command' '*::argument:->argument'
    case $state in
        command)
            local -a commands=(
{described}            )
            _describe command commands
            ;;
        argument)
            case $words[1] in
{cases}            esac
            ;;
    esac
}}
_specdec "$@"
"""


def fish(commands: Sequence[CompletedCommand]) -> str:
    """The script for fish."""
    root, *others = commands
    lines = [f"# fish completion for specdec; {_MADE}", "complete -c specdec -f"]
    lines += [f"complete -c specdec -n __fish_use_subcommand {_fish_option(option)}" for option in root.options]
    lines += [f"complete -c specdec -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}" for command in others]
    for command in others:
        condition = f"complete -c specdec -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{condition} -F"] * command.takes_files
        lines += [f"{condition} {_fish_option(option)}" for option in command.options]
    return "\n".join(lines) + "\n"


def write_completions(folder: Path) -> None:
    """Write the three files into `folder`."""
    commands = read_commands()
    for name, text in (("specdec.bash", bash(commands)), ("_specdec", zsh(commands)), ("specdec.fish", fish(commands))):
        write_atomically(folder / name, lambda partial, text=text: partial.write_text(text, encoding="utf-8"))  # type: ignore[misc]


def _command(command: TyperCommand | TyperGroup, name: str, parent: Any = None) -> CompletedCommand:
    # A context knows that -h is --help.
    context = command.context_class(command, parent=parent, **command.context_settings)
    parameters = [parameter for parameter in command.get_params(context) if not getattr(parameter, "hidden", False)]
    options = tuple(_option(parameter) for parameter in parameters if isinstance(parameter, TyperOption))
    takes_files = any(_files(parameter) != "text" for parameter in parameters if isinstance(parameter, TyperArgument))
    return CompletedCommand(name, _first_sentence(command.help or ""), options, takes_files)


def _option(parameter: TyperOption) -> CompletedOption:
    # The names of --help come in no order.
    names = tuple(sorted(parameter.opts, key=len))
    help_text, metavar = _first_sentence(parameter.help or ""), parameter.metavar or ""
    if parameter.is_flag:
        return CompletedOption(names, help_text, "none")
    # Of a metavar such as N|auto, the words in small letters stand for themselves.
    words = [word for word in metavar.split("|") if word.islower()] if "|" in metavar else []
    choices = tuple(map(str, parameter.type_descriptor.choices or words))
    if choices:
        return CompletedOption(names, help_text, "choice", choices)
    return CompletedOption(names, help_text, _files(parameter))


def _files(parameter: TyperOption | TyperArgument) -> Literal["file", "folder", "text"]:
    """What the value names, by its type or the words of its metavar."""
    annotation, words = parameter.type_descriptor.annotation, set(re.findall("[A-Z]+", parameter.metavar or ""))
    if words & {"BUNDLE", "FOLDER"}:
        return "folder"
    return "file" if annotation is Path or Path in get_args(annotation) or words & {"FILE", "TSV", "TOML"} else "text"


def _first_sentence(text: str) -> str:
    return text.split("\n")[0].split(". ")[0].split("; ")[0].rstrip(".")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _bash_case(command: CompletedCommand) -> str:
    lines = [f"        {command.name})", "            case $previous in"]
    actions = {"file": "compopt -o default; return", "folder": "compopt -o dirnames; return", "text": "return"}
    for option in command.options:
        if option.value != "none":
            action = actions.get(option.value) or f'words="{" ".join(option.choices)}"'
            lines.append(f"                {'|'.join(option.names)}) {action} ;;")
    names = " ".join(name for option in command.options for name in option.names)
    if command.takes_files:
        lines.append("                *) [[ $current == -* ]] || { compopt -o default; return; }")
        lines.append(f'                    words="{names}" ;;')
    else:
        lines.append(f'                *) words="{names}" ;;')
    return "\n".join([*lines, "            esac", "            ;;"]) + "\n"


def _zsh_arguments(command: CompletedCommand) -> str:
    rows = [_zsh_option(option) for option in command.options] + ["'*:file:_files'"] * command.takes_files
    return "                    _arguments \\\n" + " \\\n".join(f"                        {row}" for row in rows) + "\n"


def _zsh_option(option: CompletedOption) -> str:
    action = {
        "none": "",
        "text": ":value: ",
        "choice": f":value:({' '.join(option.choices)})",
        "file": ":file:_files",
        "folder": ":folder:_files -/",
    }[option.value]
    explanation = option.help.replace("[", "\\[").replace("]", "\\]")
    rows = []
    for name in option.names:
        # Where the value may stand: --name=value or -nvalue, besides a word of its own.
        joined = "" if option.value == "none" else "=" if name.startswith("--") else "+"
        rows.append(_quoted(f"*{name}{joined}[{explanation}]{action}"))
    return " ".join(rows)


def _fish_option(option: CompletedOption) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = {
        "none": "",
        "text": " -x",
        "choice": f" -x -a {_quoted(' '.join(option.choices))}",
        "file": " -r -F",
        "folder": " -x -a '(__fish_complete_directories)'",
    }[option.value]
    return f"{names}{value} -d {_quoted(option.help)}"


if __name__ == "__main__":
    write_completions(Path(sys.argv[1]))
