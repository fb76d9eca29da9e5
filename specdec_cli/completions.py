"""Shell completions for bash, zsh and fish, generated from the commands: `specdec --show-completion SHELL`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from typer import Typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from specdec_cli.benchmark.rows import OTHER_TOOLKITS
from specdec_cli.brief_help import first_sentence
from specdec_cli.decoding.methods import DECODINGS
from specdec_cli.opening.models import shipped_bundles
from specdec_cli.recipe import RECIPES

Value = Literal["none", "text", "choice", "file", "folder"]
_MADE = "made by `make completions`; do not edit"


@dataclass(frozen=True)
class CompletedOption:
    """An option for completion: its names, its help, and the kind of its `value`, with the `choices` that are
    offered.

    If `value` is "file" or "folder", files or folders are offered together with the choices; "choice" offers the
    choices only, "text" is a value for which nothing is offered, and "none" is an option without a value.
    """

    names: tuple[str, ...]
    help: str
    value: Value
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompletedCommand:
    """A command for completion: its name, help and options; its arguments are files (`takes_files`) or one of
    `words`.
    """

    name: str
    help: str
    options: tuple[CompletedOption, ...]
    takes_files: bool
    words: tuple[str, ...] = ()


def read_commands(app: Typer) -> list[CompletedCommand]:
    """Read from `app` the program itself, with an empty name, then its commands in the order of the help, then the
    command `help`.
    """
    group = get_group(app)
    context = group.context_class(group, **group.context_settings)
    commands: Mapping[str, Any] = group.commands
    helped = CompletedCommand("help", "Show the help of a command", (), False, tuple(commands))
    return [_command(group, ""), *(_command(command, name, context) for name, command in commands.items()), helped]


def bash(commands: Sequence[CompletedCommand]) -> str:
    """Return the completion script for bash."""
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
    """Return the completion script for zsh."""
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
    """Return the completion script for fish."""
    root, *others = commands
    lines = [f"# fish completion for specdec; {_MADE}", "complete -c specdec -f"]
    lines += [f"complete -c specdec -n __fish_use_subcommand {_fish_option(option)}" for option in root.options]
    lines += [f"complete -c specdec -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}" for command in others]
    for command in others:
        condition = f"complete -c specdec -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{condition} -F"] * command.takes_files + [f"{condition} -a {_quoted(' '.join(command.words))}"] * bool(command.words)
        lines += [f"{condition} {_fish_option(option)}" for option in command.options]
    return "\n".join(lines) + "\n"


SHELLS: Mapping[str, Callable[[Sequence[CompletedCommand]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
"""The function that returns the completion script, by the name of the shell."""


def _command(command: TyperCommand | TyperGroup, name: str, parent: Any = None) -> CompletedCommand:
    # The context has the names of the help option, -h and --help.
    context = command.context_class(command, parent=parent, **command.context_settings)
    parameters = [parameter for parameter in command.get_params(context) if not getattr(parameter, "hidden", False)]
    options = tuple(_option(parameter) for parameter in parameters if isinstance(parameter, TyperOption))
    takes_files = any(_files(parameter) != "text" for parameter in parameters if isinstance(parameter, TyperArgument))
    return CompletedCommand(name, first_sentence(command.help or ""), options, takes_files)


def _option(parameter: TyperOption) -> CompletedOption:
    # The names of --help have no fixed order.
    names = tuple(sorted(parameter.opts, key=len))
    help_text, metavar = first_sentence(parameter.help or ""), parameter.metavar or ""
    if parameter.is_flag:
        return CompletedOption(names, help_text, "none")
    # The lower-case words of a metavar such as N|auto are literal values.
    words = [word for word in metavar.split("|") if word.islower()] if "|" in metavar else []
    choices = tuple(map(str, parameter.type_descriptor.choices or words))
    if choices:
        return CompletedOption(names, help_text, "choice", choices)
    return CompletedOption(names, help_text, _files(parameter), _shipped(metavar))


def _shipped(metavar: str) -> tuple[str, ...]:
    """Names of shipped bundles, decodings or recipes that are offered for a value, by its metavar."""
    if metavar in ("MODEL", "BUNDLE"):
        return tuple(shipped_bundles())
    if metavar.startswith("DECODING"):
        return (*DECODINGS, *OTHER_TOOLKITS)
    return tuple(sorted(path.stem for path in RECIPES.glob("*.toml"))) if metavar.startswith("NAME|TOML") else ()


def _files(parameter: TyperOption | TyperArgument) -> Literal["file", "folder", "text"]:
    """Whether a value is a file, a folder or other text, by its type or the words of its metavar."""
    annotation, words = parameter.type_descriptor.annotation, set(re.findall("[A-Z]+", parameter.metavar or ""))
    if words & {"BUNDLE", "FOLDER", "MODEL"}:
        return "folder"
    return "file" if annotation is Path or Path in get_args(annotation) or words & {"FILE", "TSV", "TOML"} else "text"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _bash_case(command: CompletedCommand) -> str:
    lines = [f"        {command.name})", "            case $previous in"]
    actions = {"file": "compopt -o default; ", "folder": "compopt -o plusdirs; "}
    for option in command.options:
        if option.value != "none":
            action = actions.get(option.value, "") + (f'words="{" ".join(option.choices)}"' if option.choices else "return")
            lines.append(f"                {'|'.join(option.names)}) {action} ;;")
    names = " ".join([*command.words, *(name for option in command.options for name in option.names)])
    if command.takes_files:
        lines.append("                *) [[ $current == -* ]] || { compopt -o default; return; }")
        lines.append(f'                    words="{names}" ;;')
    else:
        lines.append(f'                *) words="{names}" ;;')
    return "\n".join([*lines, "            esac", "            ;;"]) + "\n"


def _zsh_arguments(command: CompletedCommand) -> str:
    rows = [_zsh_option(option) for option in command.options] + ["'*:file:_files'"] * command.takes_files
    rows += [_quoted(f"*:word:({' '.join(command.words)})")] * bool(command.words)
    return "                    _arguments \\\n" + " \\\n".join(f"                        {row}" for row in rows) + "\n"


def _zsh_option(option: CompletedOption) -> str:
    action = {"none": "", "text": ":value: ", "choice": "", "file": ":file:_files", "folder": ":folder:_files -/"}[option.value]
    if option.choices:
        names = f"({' '.join(option.choices)})"
        beside = f'{{_alternative "names:name:{names}" "{option.value}s{action}"}}'
        action = f":value:{beside if option.value in ('file', 'folder') else names}"
    explanation = option.help.replace("[", "\\[").replace("]", "\\]")
    rows = []
    for name in option.names:
        # The value may also be joined to the name: --name=value or -nvalue.
        joined = "" if option.value == "none" else "=" if name.startswith("--") else "+"
        rows.append(_quoted(f"*{name}{joined}[{explanation}]{action}"))
    return " ".join(rows)


def _fish_option(option: CompletedOption) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = {"none": "", "text": " -x", "choice": " -x", "file": " -r -F", "folder": " -x"}[option.value]
    words = [*option.choices, *["(__fish_complete_directories)"] * (option.value == "folder")]
    offered = f" -a {_quoted(' '.join(words))}" if words else ""
    return f"{names}{value}{offered} -d {_quoted(option.help)}"
