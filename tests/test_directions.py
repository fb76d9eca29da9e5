"""Both directions of a pair of languages: the choice of the model, the check of the text, the sample, memories."""

import json
from pathlib import Path

import pytest

from specdec_cli import Translator, UsageError
from specdec_cli.benchmark.inputs import read_sample
from specdec_cli.memories.readers import read_po
from specdec_cli.opening import models
from specdec_cli.opening.models import SHIPPED, ModelChoice, chosen_translator, served_bundles
from specdec_cli.text.corpus.parallel import Pair
from tests.command_line import Result, run
from tests.tables import tables

CASES = tables(__file__)

GERMAN = "Das ist ein Satz, der nicht zu kurz ist, weil er sehr viele Wörter hat.\n"
ENGLISH = "This is a sentence that is not too short, because it has very many words.\n"


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shipped bundles of both directions, of which de-en has the weights of en-de, and labels of its own."""
    folder = tmp_path / "bundles"
    (folder / "de-en").mkdir(parents=True)
    for name in ("en-de", "en-gec"):
        (folder / name).symlink_to(SHIPPED / name)
    for name in ("verifier", "drafter", "tokenizer.model"):
        (folder / "de-en" / name).symlink_to(SHIPPED / "en-de" / name)
    described = json.loads((SHIPPED / "en-de" / "bundle.json").read_text(encoding="utf-8"))
    described |= {"source_language": "de", "target_language": "en"}
    (folder / "de-en" / "bundle.json").write_text(json.dumps(described), encoding="utf-8")
    (folder / "de-en" / "labels.tsv").write_text("Einstellungen\tSettings\n", encoding="utf-8")
    monkeypatch.setattr(models, "SHIPPED", folder)


def translate(*options: str, text: str = "") -> Result:
    return run("translate", "--threads", "1", *options, text=text.encode())


@pytest.mark.parametrize(("options", "name"), CASES.languages_choose_a_shipped_bundle)
@pytest.mark.usefixtures("both")
def test_languages_choose_a_shipped_bundle(options: list[str], name: str) -> None:
    assert chosen_translator(None, *options) == ModelChoice(name)
    assert served_bundles() == ["en-de", "de-en", "en-gec"]


@pytest.mark.usefixtures("both")
def test_the_command_and_the_api_translate_in_both_directions() -> None:
    for options in (("-m", "de-en"), ("--target-language", "en"), ("--source-language", "de")):
        assert translate(*options, text="Einstellungen\n").stdout == "Settings\n"
    assert translate("--target-language", "de", text="Settings\n").stdout == "Einstellungen\n"
    with Translator(target_language="en", threads=1) as translator:
        assert translator.translate("Einstellungen") == "Settings"
        assert (translator.info.source_language, translator.info.target_language) == ("de", "en")


@pytest.mark.usefixtures("both")
def test_a_direction_without_a_model_is_an_error() -> None:
    result = translate("--source-language", "de", "--target-language", "fr", text="a\n")
    assert result.exit_code == 2 and "translates from de to fr" in result.stderr and "de-en from de to en" in result.stderr
    with pytest.raises(UsageError, match="translates from de to de"):
        chosen_translator(None, "de", "de")
    assert translate("-m", "de-en", "--target-language", "de", text="a\n").exit_code == 2


@pytest.mark.usefixtures("both")
def test_a_text_in_another_language_gives_a_warning(tmp_path: Path) -> None:
    result = translate(text=3 * GERMAN)
    assert result.stdout == 3 * GERMAN and result.exit_code == 0
    said = "stdin, line 3: the text looks like de, and the model translates from en; --source-language de chooses de-en"
    assert result.stderr.count("looks like") == 1 and said in result.stderr
    assert translate(text=2 * GERMAN).stderr == ""
    assert "looks like" not in translate("--quiet", text=3 * GERMAN).stderr
    assert "--source-language en chooses en-de" in translate("-m", "de-en", text=3 * ENGLISH).stderr
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file, text in zip(files, (ENGLISH + 2 * GERMAN, 4 * GERMAN), strict=True):
        file.write_text(text, encoding="utf-8")
    warned = translate(*map(str, files)).stderr
    assert warned.count("looks like") == 1 and f"{files[1]}, line 3" in warned


@pytest.mark.usefixtures("both")
def test_documents_state_their_languages_in_both_directions(tmp_path: Path) -> None:
    header = 'msgid ""\nmsgstr "Language: {}\\nContent-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "Einstellungen"\nmsgstr ""\n'
    file = tmp_path / "a.po"
    for language, code in (("en_GB", 0), ("de", 3)):
        file.write_text(header.format(language), encoding="utf-8")
        result = translate("-m", "de-en", str(file))
        assert result.exit_code == code
        assert ('msgstr "Settings"' in result.stdout) == (code == 0)
    xliff = '<xliff version="1.2"><file source-language="{}" target-language="{}"><body><trans-unit id="1"><source>Einstellungen</source>'
    file = tmp_path / "a.xliff"
    for languages, code in ((("de-DE", "en-US"), 0), (("en", "de"), 3)):
        file.write_text(xliff.format(*languages) + "</trans-unit></body></file></xliff>", encoding="utf-8")
        result = translate("-m", "de-en", str(file))
        assert result.exit_code == code and ("Settings</target>" in result.stdout) == (code == 0)


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(("tag", "expected"), CASES.pages_state_the_language_of_the_translation)
def test_pages_state_the_language_of_the_translation(tag: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(f'{tag}<p lang="de">Einstellungen</p></html>\n', encoding="utf-8")
    assert translate("-m", "de-en", str(file)).stdout == f'{expected}<p lang="de">Settings</p></html>\n'


def test_catalogues_of_the_opposite_direction_are_memories(tmp_path: Path) -> None:
    file = tmp_path / "a.po"
    file.write_text('msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "rain"\nmsgstr "Regen"\n', encoding="utf-8")
    assert list(read_po(file, "en", "de")) == [Pair("rain", "Regen")]
    assert list(read_po(file, "de", "en")) == [Pair("Regen", "rain")]
    assert list(read_po(file, "fr", "en")) == []


def test_the_sample_has_both_directions() -> None:
    usual, other = read_sample(3), read_sample(3, ("de", "en"))
    assert (other.sources, other.references, other.languages) == (usual.references, usual.sources, ("de", "en"))
    assert read_sample(3, ("fr", "en")) == usual
