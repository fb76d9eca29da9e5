"""Footers of Word documents with numbers that Word computes, drawn from templates and translated by the shipped bundle."""

import random
import re
import zipfile
from io import BytesIO

import pytest

from specdec_cli.documents.document import Source
from specdec_cli.documents.packages.office import read_word
from specdec_cli.pipeline.translator import LineTranslator
from tests.stored_engine import opened
from tests.tables import tables

TEXTS = tables(__file__)

BOLD = "<w:rPr><w:b/></w:rPr>"


def _run(text: str, bold: str = "") -> str:
    return f'<w:r>{bold}<w:t xml:space="preserve">{text}</w:t></w:r>'


def _field(number: int, bold: str, *, simple: bool) -> str:
    if simple:
        return f'<w:fldSimple w:instr="PAGE">{_run(str(number), bold)}</w:fldSimple>'
    begin, separate, end = (f'<w:r>{bold}<w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
    return f"{begin}<w:r><w:instrText> PAGE </w:instrText></w:r>{separate}{_run(str(number), bold)}{end}"


def _document(paragraphs: list[str]) -> bytes:
    buffer = BytesIO()
    body = "".join(f"<w:p>{each}</w:p>" for each in paragraphs)
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("word/document.xml", f'<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>')
    return buffer.getvalue()


@pytest.mark.long
@pytest.mark.parametrize("seed", [21, 22])
def test_numbers_of_footers_stay_in_their_fields(seed: int, pytestconfig: pytest.Config) -> None:
    draw = random.Random(seed)
    paragraphs, numbers = [], []
    for _ in range(60):
        texts = draw.choice(TEXTS.footers).split("{}")
        own = [draw.randrange(1, 400) for _ in texts[1:]]
        bold, simple = draw.choice(("", BOLD)), draw.random() < 0.5
        fields = [_field(number, bold, simple=simple) for number in own]
        runs = [_run(text) if text else "" for text in texts]
        paragraphs.append("".join(run + field for run, field in zip(runs, [*fields, ""], strict=True)))
        numbers.append([str(number) for number in own])
    bundle, engine = opened("en-de", pytestconfig.cache)
    document = read_word(Source(_document(paragraphs), "a.docx"))
    outputs = LineTranslator(engine, bundle.tokenizer, languages=("en", "de")).translate(
        [each.text for each in document.segments], separate=True
    )
    changed = zipfile.ZipFile(BytesIO(document.translated([each.text for each in outputs]))).read("word/document.xml").decode()
    in_fields = [
        re.findall(r'(?:"separate"/></w:r>|w:instr="PAGE">)<w:r>(?:<w:rPr><w:b/></w:rPr>)?<w:t[^>]*>([^<]*)<', each)
        for each in changed.split("</w:p>")[:60]
    ]
    faults = [pair for pair in zip(numbers, in_fields, strict=True) if pair[0] != pair[1]]
    print(f"\nfooters   seed {seed}: {60 - len(faults)} of 60")
    assert len(faults) <= 1, faults
