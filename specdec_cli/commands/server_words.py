"""The options of `specdec serve` about words: a glossary for its translator, and edits that its corrector does not make."""

from collections.abc import Sequence
from dataclasses import replace

from specdec_cli.commands.options.glossary import GlossaryOptions
from specdec_cli.commands.options.ignoring import IgnoreOptions
from specdec_cli.errors import UsageError
from specdec_cli.opening.models import ModelChoice, bundle_order, bundle_task
from specdec_cli.pipeline.corrector import NOTHING_IGNORED
from specdec_cli.server.models import Words
from specdec_cli.text.glossary import Glossary, check_order
from specdec_cli.text.spelling.word_list import WordList


def read_words(glossary: GlossaryOptions, ignoring: IgnoreOptions) -> Words:
    """Read what the options say. Raises InputError for a file that cannot be read, and UsageError for values that are not valid."""
    terms = glossary.read(n_best=1)
    listed = None if ignoring.words is None else WordList.of_file(ignoring.words, may_be_missing=True)
    ignored = replace(ignoring, words=None).ignored()
    return Words(None if terms is None else Glossary(terms), ignored, not glossary.no_labels, listed)


def check_words(words: Words, models: Sequence[ModelChoice]) -> None:
    """Check `words` against the descriptions of the models, before these are loaded.

    Raises UsageError for words that none of the models takes, for a glossary if several models translate or if the one that does
    cannot use it, and ModelError as `bundle_task` does.
    """
    if words.glossary is not None:
        translators = [each for each in models if bundle_task(each) == "translate"]
        if len(translators) != 1:
            found = ", ".join(each.name for each in translators) or "none"
            raise UsageError(f"--glossary and --keep are for one model that translates; the models here that translate: {found}")
        check_order(bundle_order(translators[0]))
    if (words.ignored != NOTHING_IGNORED or words.listed is not None) and not any(bundle_task(each) == "correct" for each in models):
        raise UsageError("--words, --ignore, --ignore-file and --ignore-category need a model that corrects")
