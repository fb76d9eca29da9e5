"""What `specdec serve` is told about words: a glossary for its translator, and edits that its corrector does not make."""

from specdec_cli.commands.options.glossary import GlossaryOptions
from specdec_cli.commands.options.ignoring import IgnoreOptions
from specdec_cli.errors import UsageError
from specdec_cli.pipeline.corrector import NOTHING_IGNORED
from specdec_cli.server.models import Words
from specdec_cli.server.service import Service
from specdec_cli.text.glossary import Glossary


def read_words(glossary: GlossaryOptions, ignoring: IgnoreOptions) -> Words:
    """Read what the options say. Raises InputError for a file that cannot be read, and UsageError for values that are not valid."""
    terms = glossary.read(n_best=1)
    return Words(None if terms is None else Glossary(terms), ignoring.ignored())


def check_words(words: Words, service: Service) -> None:
    """Raise UsageError for words that no model of `service` takes, and for a glossary if several models translate."""
    if words.glossary is not None and len(service.translators) != 1:
        found = ", ".join(f"{source} to {target}" for source, target in service.translators) or "none"
        raise UsageError(f"--glossary and --keep are for one model that translates; the models here translate: {found}")
    if words.ignored != NOTHING_IGNORED and not service.correctors:
        raise UsageError("--ignore, --ignore-file and --ignore-category need a model that corrects")
