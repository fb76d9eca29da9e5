"""The short help: `--help` shows examples and the options that people use, `--help-all` every option."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperOption

_ALL = "specdec.help-all"
"""The key in `meta` of click's context that `--help-all` sets, so that `shortened` hides nothing."""


@dataclass(frozen=True)
class Brief:
    """The short help of a command: command lines with what they do, the options that it shows, without "--", and shorter texts of some."""

    examples: Mapping[str, str]
    options: str
    texts: Mapping[str, str]


_CHANGES = "Change the recipe, as in run.seed=2"
_DECODING = "How to decode, as greedy, beam, lookup or auto"
_DRAFT_MODEL = "A smaller model that drafts; the output stays greedy's"
_FORMAT = "Format of the input, if not by the ending of FILE"
_INIT = "Begin with the weights of this bundle"
_MODEL = "A bundle, or another toolkit's model: folder, file or hub name"

BRIEF: Mapping[str, Brief] = {
    "translate": Brief(
        {
            "specdec translate letter.txt -o brief.txt": "line by line",
            "specdec translate --target-language en < brief.txt": "into English",
            "specdec translate a.docx b.html --output-dir de": "documents",
            "specdec translate -m Helsinki-NLP/opus-mt-en-fr a.txt": "another model",
            "specdec translate --tm old.tmx --keep specdec a.md": "earlier work, terms",
        },
        "model source-language target-language draft-model decoding beam-size format raw output output-dir json stats trace quiet "
        "tm glossary keep device threads",
        {
            "model": _MODEL,
            "source-language": "Language of the text, where the model leaves a choice",
            "target-language": "Language to translate to, likewise",
            "draft-model": _DRAFT_MODEL,
            "decoding": _DECODING,
            "beam-size": "Beam search with N hypotheses",
            "format": _FORMAT,
            "raw": "The model's own output: nothing is split or repaired",
            "output-dir": "Folder to write a file to for each FILE",
            "stats": "Print tokens per round, time and memory to stderr",
            "trace": "Print each round of drafting to stderr",
            "tm": "Translation memory (.tmx, .po, .tsv) that drafts",
            "glossary": "Terms and their translations, a pair a line (TSV)",
        },
    ),
    "correct": Brief(
        {
            "specdec correct letter.txt": "the corrected text",
            "specdec correct --diff letter.txt": "its edits in the lines",
            "specdec correct --check *.md": "a report, exit code 1",
            "specdec correct --in-place thesis.docx": "the file itself",
            "specdec correct -m FOLDER --instruction 'grammar: '": "a model of the T5 family",
        },
        "model instruction draft-model diff check mode ignore words format output output-dir in-place json stats trace quiet threads",
        {
            "model": _MODEL,
            "instruction": "Words in front of each source",
            "draft-model": _DRAFT_MODEL,
            "check": "Report each edit, and write no text",
            "mode": "How many edits to make",
            "words": "Your list of words to leave as they are",
            "format": _FORMAT,
            "output-dir": "Folder to write a file to for each FILE",
            "in-place": "Replace each FILE by its corrected text",
            "stats": "Print tokens per round, time and memory to stderr",
            "trace": "Print each round of drafting to stderr",
        },
    ),
    "serve": Brief(
        {
            "specdec serve": "the shipped models",
            "specdec serve -m en-de -m en-gec --port 8081": "these, on that port",
            "specdec serve --host 0.0.0.0 --keys keys.txt": "for other machines",
        },
        "model draft-model host port unix keys max-requests time-limit glossary words memory device threads quiet",
        {"draft-model": _DRAFT_MODEL, "words": "Your list of words that correction leaves as they are"},
    ),
    "bench": Brief(
        {
            "specdec bench dev.tsv": "the usual decodings",
            "specdec bench dev.tsv --row greedy --row auto": "these",
            "specdec bench dev.tsv -m FOLDER --draft-model en-de": "another model",
            "specdec bench dev.m2 --task correct": "a corrector",
            "specdec bench --synthetic --geometry opus-mt": "no model, a size",
        },
        "model draft-model row sweep repetitions profile task limit json markdown synthetic geometry batch-size precision device threads "
        "quiet",
        {
            "draft-model": _DRAFT_MODEL,
            "row": "A decoding to measure, such as greedy or specdec++:exact",
            "sweep": "Rows for several values of an option",
            "repetitions": "Runs of every row, of which medians are reported",
            "profile": "Print the time by module and that of a round",
            "task": "Task, which decides the scores",
            "synthetic": "Measure random weights of common shapes",
            "geometry": "With --synthetic: this shape or size, such as base",
            "batch-size": "Largest number of sentences decoded together",
            "precision": "Number format of the arithmetic",
        },
    ),
    "prepare": Brief(
        {
            "specdec prepare data pairs.tsv": "clean text, a vocabulary",
            "specdec prepare data --source a.en --target a.de": "two aligned files",
            "specdec prepare data pairs.tsv --held-out dev.tsv": "without test sentences",
        },
        "source target vocabulary-size tokenizer max-characters max-ratio same-numbers held-out source-language target-language force "
        "quiet",
        {
            "max-ratio": "Drop pairs whose sides differ more in length",
            "held-out": "Drop pairs with a sentence of this dev or test set",
            "source-language": "For the rules of numbers and times",
            "target-language": "Likewise",
        },
    ),
    "train-verifier": Brief(
        {
            "specdec prepare data pairs.tsv": "clean text",
            "specdec train-verifier run --data data --dev dev.tsv": "train or resume",
            "specdec translate -m run < in.txt": "its best state",
        },
        "data dev tokenizer recipe set init source-language target-language task devices device threads quiet",
        {
            "data": "TSV, or an output folder of prepare",
            "tokenizer": "SentencePiece model, if not beside the first --data",
            "set": _CHANGES,
            "init": _INIT,
        },
    ),
    "train-drafter": Brief(
        {
            "specdec train-drafter run -m M --source a.en --dev dev.en": "train or resume",
            "specdec train-drafter run --dev dev.en --simulate": "its tokens a round",
            "specdec bench -m run --row specdec dev.tsv": "what it saves",
        },
        "dev model data source recipe set init simulate devices device threads quiet",
        {
            "dev": "Held-out source text that selects the best state",
            "data": "TSV of sources and the verifier's own greedy output",
            "source": "Source text that the verifier decodes first, instead of --data",
            "set": _CHANGES,
            "init": "Begin with the drafter of this bundle",
            "simulate": "Do not train; print tokens per round",
        },
    ),
    "distill": Brief(
        {
            "specdec distill TEACHER out a.en": "beam search",
            "specdec distill TEACHER out a.en --sample --draft-model en-de": "drafts",
            "specdec distill TEACHER out a.en --ray": "a cluster",
        },
        "with instruction draft-model beam-size max-length quantization sample temperature seed batch-tokens device threads quiet ray "
        "workers",
        {
            "draft-model": _DRAFT_MODEL,
            "quantization": "Number format of the arithmetic, as float32 or int8",
            "sample": "Draw each token at random",
            "ray": "Work in shards on a Ray cluster, here or at HOST:PORT",
        },
    ),
    "corrupt": Brief(
        {
            "specdec corrupt clean.txt -o pairs.tsv": "a pair of each line",
            "specdec corrupt clean.txt --copies 3 --set clean=0.2": "more of them",
            "specdec corrupt < clean.txt": "to stdout, for a look",
        },
        "column recipe set copies seed processes output quiet ray workers",
        {"ray": "Work in shards on a Ray cluster, here or at HOST:PORT"},
    ),
    "visualize": Brief(
        {
            'specdec visualize "Good morning!"': "the rounds of drafts",
            'specdec visualize "Good morning!" --decoding jacobi': "what depends on what",
            "specdec visualize --file dev.en -o corpus.html": "iterations of a corpus",
        },
        "model source-language target-language decoding block-size file limit output device threads",
        {
            "model": _MODEL,
            "source-language": "Language of the sentence, where the model leaves a choice",
            "target-language": "Language to translate to, likewise",
            "decoding": "A decoding with drafts, or jacobi",
            "block-size": "Largest number of tokens drafted in a round",
        },
    ),
    "convert": Brief(
        {
            "specdec convert Helsinki-NLP/opus-mt-en-fr fr": "from the hub into a bundle",
            "specdec convert model.npz fr --target-language fr": "a file of Marian",
            "specdec convert fr ct2 --to ctranslate2": "a bundle for CTranslate2",
        },
        "from to source-language target-language task instruction storage quantization force offline quiet",
        {},
    ),
}
"""The short help by the name of the command. For a command that is not here, `--help` shows every option."""


def help_text(name: str, described: str) -> str:
    """The help of the command `name` that its docstring, `described`, begins: each paragraph without line breaks, then its examples."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in described.split("\n\n")]
    if name in BRIEF:
        width = max(map(len, BRIEF[name].examples))
        paragraphs.append("\n".join(f"{line:{width}}  {does}" for line, does in BRIEF[name].examples.items()))
    return "\n\n".join(paragraphs)


def with_help_all(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap the function of a command for typer: it has the option `--help-all` too."""

    @wraps(command)
    def wrapped(**values: Any) -> None:
        values.pop("help_all")
        command(**values)

    added = Parameter("help_all", Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, _HELP_ALL])
    own = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in signature(command).parameters.values()]
    wrapped.__signature__ = signature(command).replace(parameters=[*own, added])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {**get_type_hints(command, include_extras=True), "help_all": added.annotation}
    return wrapped


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[_ALL] = True
        typer.echo(context.get_help(), color=context.color)
        raise typer.Exit


_HELP_ALL = typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show every option and exit.", show_default=False)


@contextmanager
def shortened(command: Any, context: Any) -> Iterator[None]:
    """In this context, `command` has its short help if it has one: few options in one panel, each with one sentence and no default."""
    brief = BRIEF.get(command.name)
    if brief is None or _ALL in context.meta:
        yield
        return
    options = [each for each in command.get_params(context) if isinstance(each, TyperOption)]
    before = [dict(vars(each)) for each in options]
    try:
        for option in options:
            names = {each.removeprefix("--") for each in option.opts}
            option.hidden = names.isdisjoint((*brief.options.split(), "help", "help-all"))
            option.help = next((brief.texts[name] for name in names & brief.texts.keys()), first_sentence(option.help or ""))
            option.show_default, option.rich_help_panel = False, None
        yield
    finally:
        for option, values in zip(options, before, strict=True):
            vars(option).update(values)


def first_sentence(text: str) -> str:
    """The first sentence of a help text, or the part of it before a semicolon, without its full stop."""
    return text.split("\n")[0].split(". ")[0].split("; ")[0].rstrip(".")
