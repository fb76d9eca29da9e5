"""Names and variants of languages."""

NAMES = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
_VARIANTS = {
    "de": {"de-DE": "German (Germany)", "de-AT": "German (Austria)", "de-CH": "German (Swiss)"},
    "en": {"en-US": "English (US)", "en-GB": "English (GB)", "en-AU": "English (Australian)", "en-CA": "English (Canadian)"},
    "pt": {"pt-PT": "Portuguese (Portugal)", "pt-BR": "Portuguese (Brazil)"},
    "zh": {"zh-CN": "Chinese"},
}


def name_of(language: str) -> str:
    """The English name of a language; its code if that is not known."""
    return NAMES.get(language, language)


def variants_of(language: str) -> dict[str, str]:
    """The names of a language and of its regional variants, by their codes; the language itself comes first."""
    return {language: name_of(language)} | _VARIANTS.get(language, {})
