"""The options of `specdec serve` about words: a glossary for its translators, and edits that its corrector does not make."""

from collections.abc import Sequence
from dataclasses import replace

from specdec_cli.commands.options.glossary import GlossaryOptions
from specdec_cli.commands.options.ignoring import IgnoreOptions
from specdec_cli.errors import UsageError
from specdec_cli.opening.models import ModelChoice, bundle_direction, bundle_order, bundle_task
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


def words_of_models(words: Words, models: Sequence[ModelChoice]) -> list[Words]:
    """Check `words` against the descriptions of the models, before these are loaded, and return those of each model.

    A glossary has the direction of the first model that translates; the model of the opposite direction gets it with its sides exchanged.
    Raises UsageError for words that none of the models takes, for a glossary if models of other directions translate or if one cannot use
    it, and ModelError as `bundle_task` does.
    """
    exchanged: set[ModelChoice] = set()
    if words.glossary is not None:
        translators = [each for each in models if bundle_task(each) == "translate"]
        directions = [bundle_direction(each) for each in translators]
        if not directions or directions[1:] not in ([], [directions[0][::-1]]):
            found = ", ".join(each.name for each in translators) or "none"
            what = "one model that translates, or one for each direction"
            raise UsageError(f"--glossary and --keep are for {what}; the models here that translate: {found}")
        for each in translators:
            check_order(bundle_order(each))
        exchanged.update(translators[1:])
    if (words.ignored != NOTHING_IGNORED or words.listed is not None) and not any(bundle_task(each) == "correct" for each in models):
        raise UsageError("--words, --ignore, --ignore-file and --ignore-category need a model that corrects")
    opposite = words if words.glossary is None else replace(words, glossary=words.glossary.exchanged())
    return [opposite if each in exchanged else words for each in models]
