"""Several translations of a text: /translate with `alternatives`."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.pipeline.translator import Translation
from specdec_cli.server.queue import BatchDecoder
from specdec_cli.server.service import variants
from tests.server.conftest import Running, running

OUTPUTS = st.lists(st.lists(st.text(st.sampled_from("ab"), max_size=2), min_size=1, max_size=4), max_size=4)


def several(lines: Sequence[str]) -> list[Translation]:
    """Four outputs for each line, of which the first is that of `shout`; those of "same" are equal."""
    found = [[line.upper(), line.upper() + "1", line.upper() + "2", line] if line != "same" else [line.upper()] * 4 for line in lines]
    return [Translation(texts[0], len(texts[0]), 1, hypotheses=tuple((text, -1.0) for text in texts)) for texts in found]


def ask(server: Running, q: object, **fields: object) -> object:
    """The alternatives for a text."""
    body = json.dumps({"q": q, "source": "en", "target": "de"} | fields)
    return server.ask("POST", "/translate", body).json.get("alternatives")


def test_alternatives_are_other_texts_than_the_translation() -> None:
    with running() as (server, service):
        assert ask(server, "a", alternatives=3) == []  # no model finds any
        service.alternatives["en", "de"] = BatchDecoder(several, service.pool)
        assert ask(server, "a", alternatives=2) == ["A1", "A2"]
        assert ask(server, "a", alternatives="9") == ["A1", "A2", "a"]
        assert ask(server, "a", alternatives=0) is ask(server, "a") is ask(server, "a", alternatives=-1) is None
        assert ask(server, ["a\nb", "same", ""], alternatives=1) == [["A1\nB1"], [], []]
        assert ask(server, "<p>a</p><p>same</p>", alternatives=1, format="html") == ["<p>A1</p><p>SAME</p>"]
        assert ask(server, "das ist nicht gut", alternatives=1, source="auto") == []
        assert server.translate("a", alternatives="2").json["translatedText"] == "A"


@given(OUTPUTS)
def test_variants_begin_with_the_best_outputs_and_differ(outputs: list[list[str]]) -> None:
    found = variants("|".join, outputs)
    assert found[0] == "|".join(each[0] for each in outputs) and len(set(found)) == len(found)
    assert all(part in each for text in found for part, each in zip(text.split("|"), outputs, strict=False))
    assert len(found) == max((len(set(each)) for each in outputs), default=1)


def test_variants_differ_in_more_than_punctuation() -> None:
    assert variants("".join, [["Hallo.", "Hallo!", "Hallo,", "Guten Tag.", "hallo."]]) == ["Hallo.", "Guten Tag.", "hallo."]
    assert variants("".join, [["?", "!"]]) == ["?", "!"]


def test_beam_search_finds_alternatives(shipped: Running) -> None:
    text = "The old house is red. It is late."
    found = ask(shipped, text, alternatives=3)
    assert isinstance(found, list) and len({*found, shipped.translate(text).json["translatedText"]}) == 4
