"""The pairs of languages that a server translates, and the language of a text among them."""

from typing import Any

from specdec_cli.server.service import Service
from specdec_cli.text.locale.languages import guess_language


def codes_of(service: Service) -> list[str]:
    """The codes of all languages from which or into which a service translates."""
    return list(dict.fromkeys(code for pair in service.translators for code in pair))


def guessed(service: Service, text: str, target: str = "") -> dict[str, Any]:
    """The most likely language of a text among those of `codes_of`; without a sign of one, the first that has this target.

    The result has the keys of LibreTranslate: `language`, and `confidence` in percent.
    """
    language, share = guess_language(text, codes_of(service))
    if language is None:
        language = next((one for one, other in service.translators if target in ("", other)), "en")
    return {"confidence": round(100 * share, 1), "language": language}


def unsupported(service: Service, source: str, target: str) -> str:
    """The message for a pair of languages that no model translates."""
    known = ", ".join(f"{one} to {other}" for one, other in service.translators) or "none"
    return f"{source} to {target} is not supported; this server translates: {known}"
