"""The languages that a document states, and those of its translation."""

from specdec_cli.documents.document import Document
from specdec_cli.errors import InputError
from specdec_cli.text.locale.languages import short_code


def check_languages(document: Document, name: str, source: str, target: str) -> None:
    """Tell a document the languages of the model, of which "" is unknown. Raises InputError if it names others; regions are ignored."""
    for stated in document.languages:
        for side, found, own in zip(("source", "target"), stated, (source, target), strict=True):
            if found and own and short_code(found) != short_code(own):
                raise InputError(f"{name}: its {side} language is {found}, but that of the model is {own}")
    document.direction = source, target
