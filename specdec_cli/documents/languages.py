"""The check of the languages that a document states."""

from specdec_cli.documents.document import Document
from specdec_cli.errors import InputError
from specdec_cli.text.locale.languages import short_code


def check_languages(document: Document, name: str, source: str, target: str) -> None:
    """Raise InputError if a document names another language than the model's. Regions are ignored; "" means that none is named."""
    for stated in document.languages:
        for side, found, own in zip(("source", "target"), stated, (source, target), strict=True):
            if found and own and short_code(found) != short_code(own):
                raise InputError(f"{name}: its {side} language is {found}, but that of the model is {own}")
