"""Command-line options that mean the same in every command: one type and one help text each, and groups of them that one parameter of a
command stands for.

A default of None leaves a value to the bundle; `auto` chooses one for the model and the machine.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias, get_args, get_type_hints

import typer

from specdec_cli.cluster.jobs import SHARD_LINES
from specdec_cli.cluster.run import RETRIES
from specdec_cli.cluster.session import LOCAL
from specdec_cli.console.code_files import marked
from specdec_cli.console.input_output import Input, Outputs, open_outputs
from specdec_cli.decoding.methods import DECODINGS, OPTIONS, SEARCHES
from specdec_cli.decoding.options import DecodingOptions, alternatives, flags, ranges, words
from specdec_cli.devices import by_device
from specdec_cli.documents.formats import FORMATS, LINES, TEXT, Format, format_of
from specdec_cli.documents.unread import unstructured
from specdec_cli.errors import UsageError
from specdec_cli.memories.found import SIMILARITY
from specdec_cli.opening.machine import MOST_THREADS, Device, MachineOptions
from specdec_cli.opening.models import TRANSLATOR
from specdec_cli.text.io.lines import STDIO, Line, name_of, read_lines
from specdec_cli.text.segment.long_lines import in_parts
from specdec_cli.text.segment.paragraphs import join_paragraphs, join_wrapped

if TYPE_CHECKING:
    from specdec_cli.pipeline.ignored_edits import IgnoredEdits
    from specdec_cli.text.glossary import Term

    DecodingName: TypeAlias = str
else:
    DecodingName = Literal[DECODINGS]


class OptionGroup:
    """Base of dataclasses whose fields are options of the command line, as FLAGS or `own_flags` of the class says, or further groups."""

    own_flags: ClassVar[dict[str, Any]] = {}
    """The option of the command line for each field that FLAGS does not have."""

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """A keyword-only parameter for each option of the group, in the order of the fields, as typer reads it."""
        found: list[Parameter] = []
        for name, kind, default in cls._fields():
            if _is_group(kind):
                found += kind.parameters()
            else:
                flag = (FLAGS | cls.own_flags)[name]
                read: Any = kind if flag.parser is None else Any
                found.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[read, flag]))
        return found

    @classmethod
    def build(cls, values: dict[str, Any]) -> Self:
        """Make the group from the values of its options in `values`, by name, and remove them from `values` in place."""
        return cls(**{name: kind.build(values) if _is_group(kind) else values.pop(name) for name, kind, _ in cls._fields()})

    @classmethod
    def _fields(cls) -> list[tuple[str, Any, Any]]:
        """Name, type and default of each field; the type without ranges, which typer does not read."""
        hints = get_type_hints(cls)
        return [(each.name, hints[each.name], each.default) for each in fields(cls)]  # type: ignore[arg-type]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap `command` for typer: in the signature of the wrapper, the options of a group replace each parameter that is a group.

    A parameter of the command itself takes the place of an option of the same name, which then has its default in the group.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints[name] for name in signature(command).parameters if _is_group(hints[name])}
    own = signature(command).parameters.keys() - groups.keys()
    replaced = {each.name: each.default for group in groups.values() for each in group.parameters() if each.name in own}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            parameters += [each for each in groups[name].parameters() if each.name not in own]
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def expanded(**values: Any) -> None:
        given = {name: values.pop(name) for name in own}
        values |= replaced
        command(**{name: group.build(values) for name, group in groups.items()}, **given)

    expanded.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    return expanded


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, OptionGroup)


decoding_option = partial(typer.Option, rich_help_panel="Model and decoding")
machine_option = partial(typer.Option, rich_help_panel="Machine")
output_option = partial(typer.Option, rich_help_panel="Input and output")
_draft_option = partial(typer.Option, rich_help_panel="Earlier translations")
_glossary_option = partial(typer.Option, rich_help_panel="Glossary")
_edits_option = partial(typer.Option, rich_help_panel="Edits")
_cluster_option = partial(typer.Option, rich_help_panel="Cluster")


def number_or(*words: str) -> Callable[[Any], Any]:
    """Make the parser of an option that takes a whole number from 1 or one of `words`.

    It raises typer.BadParameter (exit code 2) for anything else.
    """
    wrong = "is not a number from 1" if not words else f"is neither a number from 1 nor {' nor '.join(map(repr, words))}"

    def parse(value: Any) -> Any:
        if isinstance(value, int | None) or value in words:
            return value
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            raise typer.BadParameter(f"{value!r} {wrong}")
        return int(value)

    return parse


def not_nan(value: float | None) -> float | None:
    """Return `value`, the value of an option. Raises typer.BadParameter (exit code 2) for NaN, which no range of typer excludes."""
    if value != value:
        raise typer.BadParameter("nan is not a number")
    return value


FLAGS: dict[str, Any] = {
    "source_language": decoding_option(
        "--source-language",
        metavar="CODE",
        help="Source language: without -m chooses a shipped bundle; else for a model of many languages.",
        show_default="the bundle's",
    ),
    "target_language": decoding_option("--target-language", metavar="CODE", help="Target language, likewise.", show_default="the bundle's"),
    "instruction": decoding_option(
        "--instruction",
        metavar="TEXT",
        help="Words in front of each source, for a model that was trained with them; drafts are of the text without them.",
        show_default="the bundle's",
    ),
    "batch_size": machine_option(
        "--batch-size",
        metavar="N|auto",
        parser=number_or("auto"),
        help=f"Largest number of sentences decoded together (auto: {by_device('sentences')}).",
    ),
    "memory": machine_option(
        "--memory",
        metavar="MB",
        min=1,
        help="Memory for batches and for lines that are read but not yet written, besides the model.",
        show_default="half of what is free",
    ),
    "device": machine_option("--device", help="Device to compute on."),
    "precision": machine_option(
        "--precision",
        help="Number format of the arithmetic; auto takes the fastest in which the output is still greedy's at that precision.",
    ),
    "engine": machine_option(
        "--engine",
        help="What computes: native (int8 on a CPU; without PyTorch for most decodings) or reference (PyTorch). auto is native where model "
        "and machine allow it.",
    ),
    "threads": machine_option("--threads", metavar="N", min=1, max=MOST_THREADS, help="Threads to compute with.", show_default="all cores"),
    "seed": machine_option("--seed", metavar="N", min=0, max=2**32 - 1, help="Seed of all random numbers."),
    "offline": machine_option("--offline", help="Never use the network."),
    "format": output_option(
        "--format",
        metavar="FORMAT",
        help=f"Format of the input: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
        show_default="by the ending of each FILE; lines otherwise",
    ),
    "no_split": output_option("--no-split", help="Take each line as one sentence instead of splitting it."),
    "raw": output_option(
        "--raw",
        help="Write the model's own output, line by line: nothing is split, kept, repaired or filtered. Longer lines than the model's are "
        "cut, with a warning.",
    ),
    "without": output_option(
        "--without",
        metavar="NAME",
        help="Turn a rule off that changes what the model reads or writes, by its name, as --trace shows it; a wrong name lists all. "
        "Repeatable.",
        show_default=False,
    ),
    "unwrap": output_option(
        "--unwrap",
        help="Join the lines of a wrapped paragraph, decode it as one, and wrap it again; --json writes an object for each paragraph.",
    ),
    "front_matter": output_option("--front-matter", help="Decode title and description in the front matter of Markdown files, too."),
    "columns": output_option(
        "--columns",
        metavar="NAMES",
        help="Decode these columns of CSV alone: their names in the first row, or their numbers from 1, with commas between them.",
        show_default="all",
    ),
    "max_line_bytes": output_option("--max-line-bytes", metavar="N", min=1, help="Refuse longer lines."),
    "output": output_option("--output", "-o", metavar="FILE", help="File to write to; .gz and .xz are compressed.", show_default="stdout"),
    "output_dir": output_option(
        "--output-dir",
        metavar="FOLDER",
        help="Folder to write a file of the same name to for each FILE; compressed input becomes plain output.",
        show_default=False,
    ),
    "as_json": output_option("--json", help="Write a JSON object for each line instead of text."),
    "stats": output_option("--stats", help="At the end, print tokens per round, time and memory to stderr."),
    "trace": output_option(
        "--trace",
        help="Print each round to stderr: draft, accepted tokens, first disagreement. Always drafts, even where greedy decoding is faster.",
    ),
    "quiet": output_option("--quiet", "-q", help="Print only errors to stderr."),
    "tm": _draft_option(
        "--tm",
        metavar="FILE",
        help="Translation memory (.tmx, .po, or source and target in a TSV file) whose most similar entry is the draft of a sentence. "
        "Drafts are verified: the output stays greedy's.",
        show_default=False,
    ),
    "previous": _draft_option(
        "--previous",
        metavar="OLD_SOURCE OLD_TARGET",
        help="Earlier version of the text or document and its translation; unchanged and similar sentences get their old translation "
        "as draft.",
        show_default=False,
    ),
    "similarity": _draft_option(
        "--similarity",
        "-s",
        metavar="PERCENT",
        min=0.0,
        max=100.0,
        help="Least similarity of sources for a draft; 100 is for equal ones.",
        show_default=f"{SIMILARITY:.0f}",
    ),
    "exact_matches": _draft_option(
        "--exact-matches",
        metavar="draft|copy",
        help="Equal sources: verify their translation like other drafts, or copy it to the output as it is.",
        show_default="draft",
    ),
    "glossary": _glossary_option(
        "--glossary",
        metavar="FILE",
        help="Terms with the translation that they must have: source, tab, target on each line; lines that begin with # are comments. "
        "Repeatable.",
        show_default=False,
    ),
    "keep": _glossary_option("--keep", metavar="WORD", help="A term that stays as it is; repeatable.", show_default=False),
    "no_labels": _glossary_option(
        "--no-labels",
        help="Translate labels such as Home with the model too, instead of by the bundle's list of labels.",
    ),
    "ray": _cluster_option(
        "--ray",
        metavar="[HOST:PORT]",
        help="Process the input in shards with workers of the Ray cluster whose head is at HOST:PORT; with auto, of one that runs on "
        "this machine; without an address, of one that is started here. A worker with a model has --threads threads (1 unless given), "
        "or a GPU. Repeat a stopped run to resume it.",
        show_default=False,
    ),
    "workers": _cluster_option(
        "--workers", metavar="N", min=1, help="With --ray: number of workers.", show_default="all processors, or GPUs"
    ),
    "retries": _cluster_option("--retries", metavar="N", min=1, help="With --ray: tries of a shard, and of a line that fails alone."),
    "shard_lines": _cluster_option(
        "--shard-lines", metavar="N", min=1, help="With --ray: lines in a shard; a stopped run loses those under way."
    ),
    "ignore": _edits_option("--ignore", metavar="WORD", help="Leave this word as it is; in lower case, also with capitals. Repeatable."),
    "ignore_file": _edits_option(
        "--ignore-file",
        metavar="FILE",
        help="File of words to leave as they are, one a line; lines that begin with # are comments. Repeatable.",
    ),
    "ignore_category": _edits_option(
        "--ignore-category",
        metavar="NAME",
        help="Make no edits whose errors are all of this type of ERRANT, such as PUNCT, VERB or R:VERB:SVA. Repeatable.",
    ),
    "words": _edits_option(
        "--words",
        metavar="FILE",
        help="Your list of words to leave as they are, one a line; a server's /v2/words adds words to it and removes them.",
        show_default=False,
    ),
    "diff": _edits_option("--diff", help="Mark the edits in the line, word by word."),
    "m2": _edits_option("--m2", help="Write tokens, and their edits with types of ERRANT, in M2 format."),
    "check": _edits_option("--check", help="Report each edit, with its place and reason, as --format says; exit code 1 if there is any."),
    "mode": _edits_option(
        "--mode",
        help="How many edits to make: only sure ones, those that are probably right, or doubtful ones too.",
        show_default="balanced",
    ),
    "min_score": _edits_option(
        "--min-score",
        metavar="X",
        callback=not_nan,
        help="Reject edits whose score is below X, such as -0.5; the model is surer of a higher one.",
        show_default="the mode's",
    ),
    "max_edit_ratio": _edits_option(
        "--max-edit-ratio",
        metavar="X",
        min=0.0,
        callback=not_nan,
        help="Leave a sentence unchanged if more than this share of its words would change.",
        show_default="0.6; no limit if the bundle does not correct",
    ),
}
"""The option of the command line for each field of a group of options, by the name of the field. Those of one command alone stand in its
file, because they take names and limits from modules that the other commands do not load.
"""


def _file(name: str) -> Path:
    """The path of an input file. Raises BadParameter for an empty name, which would stand for the current folder."""
    if not name:
        raise typer.BadParameter("the name of a file is empty")
    return Path(name)


FilesArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE", help="Text files and documents, .gz and .xz too; stdin if there are none.", parser=_file),
]
DeviceOption = Annotated[Device, FLAGS["device"]]
OfflineOption = Annotated[bool, FLAGS["offline"]]
OutputOption = Annotated[Path | None, FLAGS["output"]]
QuietOption = Annotated[bool, FLAGS["quiet"]]
SeedOption = Annotated[int, FLAGS["seed"]]
ThreadsOption = Annotated[int | None, FLAGS["threads"]]


MODEL_HELP = "A bundle (folder or name), or another toolkit's model (folder, file or hub name)."

ModelOption = Annotated[str, decoding_option("--model", "-m", metavar="MODEL", help=MODEL_HELP)]
TranslatorOption = Annotated[
    str | None,
    decoding_option(
        "--model", "-m", metavar="MODEL", help=MODEL_HELP, show_default=f"{TRANSLATOR}, or the shipped bundle of the languages"
    ),
]
SourceLanguageOption = Annotated[str, FLAGS["source_language"]]
TargetLanguageOption = Annotated[str, FLAGS["target_language"]]
InstructionOption = Annotated[str | None, FLAGS["instruction"]]


class MachineFlags(MachineOptions, OptionGroup):
    """The options of the machine, of the commands that decode text."""


@dataclass(frozen=True, kw_only=True)
class TextOptions(OptionGroup):
    """The options of input and output, of the commands that decode text line by line."""

    format: Format | None = None
    no_split: bool = False
    raw: bool = False
    without: list[str] | None = None
    unwrap: bool = False
    front_matter: bool = False
    columns: str | None = None
    max_line_bytes: int = 2**20
    output: Path | None = None
    output_dir: Path | None = None
    as_json: bool = False
    stats: bool = False
    trace: bool = False
    quiet: bool = False

    def check_without(self, rules: Collection[str]) -> None:
        """Raise UsageError for a name of --without that is none of the `rules`."""
        if unknown := [name for name in self.without or () if name not in rules]:
            raise UsageError(f"--without {unknown[0]!r}: no rule; the rules are {', '.join(rules)}")

    def check_raw(self, given: Mapping[str, object]) -> None:
        """Raise UsageError if --raw is given with an option of what it turns off: `given` has the values by the names of options."""
        if self.raw and (named := [name for name, value in given.items() if value]):
            raise UsageError(f"--raw is the model's own output and does not go with {' and '.join(named)}")

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns of --columns. Raises UsageError if it names none."""
        names = tuple(filter(None, map(str.strip, (self.columns or "").split(","))))
        if self.columns is not None and not names:
            raise UsageError("--columns names no column")
        return names

    def check_columns(self, files: Sequence[Path]) -> None:
        """Raise UsageError if --columns is given and names no column, or one of `files` (stdin without any) is not read as CSV."""
        for path in (files or (STDIO,)) if self.named_columns else ():
            found = self.format or (LINES if path == STDIO else format_of(path))
            if found != "csv":
                raise UsageError(f"--columns is for the format csv; {name_of(path)} is read as {found}")

    def read(self, files: Sequence[Path], *, writes: bool = True, divides: bool = False) -> Iterator[Line]:
        """The lines of files (`-` is stdin), with the code of programs marked, joined as `join` says. If the command `writes` text, and no
        format is given, InputError is raised for XML and JSON from stdin. If it `divides` lines, long ones are in parts.
        """
        lines = read_lines(() if files == (STDIO,) else files, self.max_line_bytes)
        joined = self.join(marked(unstructured(lines) if writes and self.format is None else lines))
        return in_parts(joined) if divides and not (self.as_json or self.raw or self.no_split) else joined

    def join(self, lines: Iterator[Line]) -> Iterator[Line]:
        """Join the lines of wrapped paragraphs to one line: those of text files, or of all files with --unwrap."""
        return join_paragraphs(lines) if self.unwrap else join_wrapped(lines, self._is_text)

    def _is_text(self, line: Line) -> bool:
        return (self.format or (LINES if line.file is None else format_of(line.file))) == TEXT

    def open_outputs(self, inputs: Sequence[Input], *, one_stream: bool, in_place: bool = False) -> Outputs:
        """Open the output: a file, stdout, a folder with a file for each input, or with `in_place` the inputs themselves.

        With `one_stream`, what is written is a line for each line or segment. Raises UsageError if both --output and
        --output-dir are given, for an output that would overwrite an input, and for a document among several files that have one
        output.
        """
        if self.output_dir is not None and self.output is not None:
            raise UsageError("--output and --output-dir are alternatives; give one")
        if in_place and (self.output_dir is not None or self.output is not None):
            raise UsageError("--in-place and --output are alternatives; give one")
        return open_outputs(inputs, self.output, self.output_dir, one_stream=one_stream, in_place=in_place)


def option(name: str, help_text: str = "", default: str = "") -> Any:
    """The option of the command line for a field of DecodingOptions; with another help, or another default in it.

    The words of a number stand beside it, as in N|auto.
    """
    flag = flags()[name][1]
    values: dict[str, Any] = {"metavar": flag.metavar or None, "help": help_text or flag.help}
    if shown := default or flag.default:
        values["show_default"] = shown
    if _is_parsed(name):
        values["parser"] = number_or(*words(name))
    elif name in ranges() and ranges()[name].low >= 0:  # resolve() checks all ranges
        values["min"] = ranges()[name].low
    return decoding_option(f"--{name.replace('_', '-')}", **values)


def _is_parsed(name: str) -> bool:
    """Whether a value is a number from 1 or a word, which `number_or` parses."""
    return name in ranges() and (bool(words(name)) or name in OPTIONS)


def _type(name: str) -> Any:
    """The type of an option for typer, which knows neither ranges nor unions."""
    kind, _ = flags()[name]
    optional = type(None) in alternatives(kind)
    if _is_parsed(name):
        return Any
    if kind is bool:
        return bool
    read: Any = Literal[words(name)] if words(name) else next((get_args(each)[0] for each in alternatives(kind) if get_args(each)), str)
    return read | None if optional else read


class DecodingFlags(OptionGroup):
    """The options of decoding, of the commands that decode text: `given` has those that the user gave, by the name of the field."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    @classmethod
    def parameters(cls) -> list[Parameter]:
        defaults = DecodingOptions()
        return [
            Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=Annotated[_type(name), option(name)])
            for name in flags()
        ]

    @classmethod
    def build(cls, values: dict[str, Any]) -> Self:
        given = {name: values.pop(name) for name in flags()}
        return cls({name: value for name, value in given.items() if value is not None})

    @property
    def search(self) -> str | None:
        """The search that these options ask for, by its name or by a setting of beam search; None if they ask for none."""
        if self.given["decoding"] in SEARCHES:
            return str(self.given["decoding"])
        return "beam" if self.given.keys() & {"beam_size", "length_penalty"} else None

    def options(self, machine: MachineOptions, *, with_scores: bool, trace: bool, n_best: int = 1, mode: str = "") -> DecodingOptions:
        """These options and those of `machine` for the engine; `with_scores`: the tokens get log probabilities; `mode`: that of a
        correction.

        With `trace`, sentences are decoded one by one, and always with drafts.
        """
        return DecodingOptions(
            **self.given,
            n_best=n_best,
            batch_size=1 if trace else machine.rows,
            memory=machine.batch_memory,
            with_scores=with_scores,
            always_draft=trace,
            seed=machine.seed,
            mode=mode,
        )


@dataclass(frozen=True, kw_only=True)
class DraftOptions(OptionGroup):
    """The options of drafts from earlier translations."""

    tm: list[Path] | None = None
    previous: tuple[Path, Path] | None = None
    similarity: float | None = None
    exact_matches: Literal["draft", "copy"] | None = None

    @property
    def given(self) -> bool:
        """Whether there is a memory or an earlier version."""
        return bool(self.tm) or self.previous is not None

    @property
    def least_similarity(self) -> float:
        """The least similarity in percent: the value that was given, else SIMILARITY."""
        return SIMILARITY if self.similarity is None else self.similarity

    def check(self) -> None:
        """Raise UsageError for options that do not go together."""
        if self.tm and len(self.tm) > 1:
            raise UsageError("--tm is given twice; join the memories in one file")
        if self.tm and self.previous is not None:
            raise UsageError("--tm and --previous are alternatives; give one")
        for option, value in (("--similarity", self.similarity), ("--exact-matches", self.exact_matches)):
            if value is not None and not self.given:
                raise UsageError(f"{option} is for drafts from --tm or --previous")


@dataclass(frozen=True, kw_only=True)
class GlossaryOptions(OptionGroup):
    """The options of glossaries and of the bundle's labels."""

    glossary: list[Path] | None = None
    keep: list[str] | None = None
    no_labels: bool = False

    def read(self, *, n_best: int) -> "Sequence[Term] | None":
        """Read the terms of all --glossary files, and add the words of --keep. Returns None if neither option is given.

        Raises InputError for a file that cannot be read, and UsageError for a term with two targets, and with `n_best` above 1.
        """
        if not self.glossary and not self.keep:
            return None
        from specdec_cli.text.glossary import read_glossaries, with_kept

        if n_best > 1:
            raise UsageError("--n-best gives hypotheses as they are found and does not go with --glossary and --keep")
        return with_kept(read_glossaries(self.glossary or ()), self.keep or ())


@dataclass(frozen=True, kw_only=True)
class IgnoreOptions(OptionGroup):
    """The options that name edits which `correct` does not make."""

    ignore: list[str] | None = None
    ignore_file: list[Path] | None = None
    ignore_category: list[str] | None = None
    words: Path | None = None

    def ignored(self) -> "IgnoredEdits":
        """The edits that are not made. Raises what `IgnoredEdits.of` and `WordList.of_file` raise."""
        from specdec_cli.pipeline.ignored_edits import IgnoredEdits
        from specdec_cli.text.io.word_list import WordList

        listed = () if self.words is None else WordList.of_file(self.words).words
        return IgnoredEdits.of((*(self.ignore or ()), *listed), self.ignore_file or (), self.ignore_category or ())


@dataclass(frozen=True, kw_only=True)
class EditOptions(OptionGroup):
    """The options of `correct` about edits."""

    diff: bool = False
    m2: bool = False
    check: bool = False
    mode: Literal["careful", "balanced", "thorough"] | None = None
    min_score: float | None = None
    max_edit_ratio: float | None = None
    ignoring: IgnoreOptions


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(OptionGroup):
    """The options of runs on a cluster, of all commands that have --ray."""

    ray: str | None = None
    workers: int | None = None
    retries: int = RETRIES

    def __post_init__(self) -> None:
        """Raise UsageError for a setting of runs on a cluster without --ray."""
        for each in fields(self):
            if self.ray is None and getattr(self, each.name) != each.default:
                raise UsageError(f"--{each.name.replace('_', '-')} is for runs with --ray")

    @property
    def address(self) -> str:
        """The address of the cluster, or LOCAL. Raises UsageError for one that Ray's clients connect to."""
        address = self.ray or LOCAL
        if address.startswith("ray://"):
            raise UsageError(f"--ray {address}: run the command on a machine of the cluster, and give HOST:PORT or auto")
        return address


@dataclass(frozen=True, kw_only=True)
class ShardOptions(ClusterOptions):
    """The options of runs on a cluster, of the commands that have no shards without it."""

    shard_lines: int = SHARD_LINES


_ADDRESS = re.compile(r"auto|local|ray://.*|\S+:\d+")


def with_ray_address(arguments: Sequence[str]) -> list[str]:
    """Command-line arguments in which --ray has a value: LOCAL if no address (auto, or HOST:PORT) follows it."""
    completed = list(arguments)
    for index, argument in enumerate(arguments):
        if argument == "--":
            break
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        if argument == "--ray" and (not _ADDRESS.fullmatch(following) or Path(following).exists()):
            completed[index] = f"--ray={LOCAL}"
    return completed
