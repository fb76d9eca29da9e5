"""Files of values, drawn: the values that are language change, and all else stays, to the byte; what is written can be read again."""

import csv
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from specdec_cli.documents.document import Source, check_languages
from specdec_cli.documents.formats import Format, format_of, read_document
from specdec_cli.documents.segments import is_decoded
from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.edits import Edit
from tests.documents.helper import parse, texts, unchanged

WORDS = [
    *("house", "green", "friend", "the", "old", "apples", "it's", '"fine"', "a,", "one: two", "x # y", "50%", "\u00fcber", "\U0001f600"),
    *("C:\\new", "{name}", "%s", "- no", "yes", "[a]", "it''s", "tab\there", "a;b", "a|b", "=", "\u201cso\u201d"),
]
SEEDS = range(60)


def words(draw: random.Random, least: int = 1, most: int = 9) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(least, most))).strip()


def tree(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.randrange(8) if depth < 3 else 7
    if kind < 3 or not depth:
        return {
            f"{draw.choice(['menu', 'error text', 'a.b', 'x: y'])}{number}": tree(draw, depth + 1) for number in range(draw.randint(2, 5))
        }
    if kind == 3:
        return [tree(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    return draw.choice([words(draw), words(draw), words(draw), "\n".join(words(draw) for _ in range(3)), "", 12, 3.5, True, None, "42"])


def output(text: str) -> str:
    """What stands for a translation."""
    return f"Q {text.swapcase()} q"


def changed(value: Any) -> Any:
    """The tree with an output for each line of a value that is language."""
    if isinstance(value, dict):
        return {key: changed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [changed(each) for each in value]
    if not isinstance(value, str):
        return value
    return "\n".join(re.sub(r"\S.*\S|\S", lambda found: output(found[0]), line) if is_decoded(line) else line for line in value.split("\n"))


def translated(data: bytes, format: Format, *, redo: bool = False) -> bytes:
    """The document with outputs; checks that without a change, and with no edits, it has the same bytes."""
    document = parse(data, format, redo=redo)
    texts = [segment.text for segment in document.segments]
    assert document.translated(texts) == document.corrected([[] for _ in texts]) == data
    return document.translated([output(text) for text in texts])


@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_json_change(seed: int) -> None:
    draw = random.Random(f"json {seed}")
    before = {"$schema": "https://a.org/x", **tree(draw), "@menu": {"description": "about the menu"}}
    content = json.dumps(
        before, ensure_ascii=draw.random() < 0.4, indent=draw.choice([None, 2, "\t"]), separators=draw.choice([None, (",", ":")])
    )
    mark = draw.choice([b"", b"\xef\xbb\xbf"])
    found = translated(mark + content.replace("\n", draw.choice(["\n", "\r\n"])).encode(), "json").removeprefix(mark)
    kept = {key: before[key] for key in ("$schema", "@menu")}
    assert json.loads(found) == changed(before) | kept
    if content.isascii() and "\\u" in content:
        assert found.isascii()


@pytest.mark.parametrize("style", [None, "'", '"', "|", ">"])
@pytest.mark.parametrize("seed", range(30))
def test_values_of_yaml_change(seed: int, style: str | None) -> None:
    draw = random.Random(f"yaml {seed}")
    before = tree(draw)
    if style != '"':
        before = flat(before)
    options: dict[str, Any] = {"width": draw.choice([30, 80, 1000]), "indent": draw.choice([2, 4]), "allow_unicode": draw.random() < 0.5}
    options |= {"default_flow_style": draw.choice([None, False, True]), "default_style": style, "sort_keys": False}
    content = "# A comment\n" + yaml.safe_dump(before, **options)
    data = content.replace("\n", draw.choice(["\n", "\r\n"])).encode()
    found = yaml.safe_load(translated(data, "yaml"))
    assert flat(found) == flat(changed(yaml.safe_load(data)))


def flat(value: Any) -> Any:
    """The tree with single spaces for all white space, since paragraphs are wrapped anew."""
    if isinstance(value, dict):
        return {key: flat(each) for key, each in value.items()}
    if isinstance(value, list):
        return [flat(each) for each in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def rows(draw: random.Random) -> list[list[str]]:
    columns = draw.randint(2, 5)
    cells = [
        [draw.choice([words(draw, 1, 4), words(draw, 1, 4), "5", "", "id_12", "two\nlines"]) for _ in range(columns)] for _ in range(5)
    ]
    return [[f"column {number}" for number in range(columns)], *cells]


@pytest.mark.parametrize("delimiter", ",;\t|")
@pytest.mark.parametrize("seed", SEEDS)
def test_cells_of_tables_change(seed: int, delimiter: str) -> None:
    draw = random.Random(f"csv {seed}")
    before, stream = rows(draw), io.StringIO()
    ending = draw.choice(["\n", "\r\n"])
    csv.writer(stream, delimiter=delimiter, quoting=draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), lineterminator=ending).writerows(
        before
    )
    data = stream.getvalue().encode()
    for redo in (False, True):
        found = list(csv.reader(io.StringIO(translated(data, "csv", redo=redo).decode(), newline=""), delimiter=delimiter))
        first = changed(before[0]) if redo else before[0]
        assert found == [first, *(changed(row) for row in before[1:])]


def parsed_properties(content: str) -> dict[str, str]:
    """Keys and values as Java reads them."""
    joined = re.sub(r"(?<!\\)((?:\\\\)*)\\(?:\r\n|\n)[ \t]*", r"\1", content)
    pairs = {}
    for line in joined.splitlines():
        found = re.match(r"\s*(?![#!])((?:[^\\:=\s]|\\.)+)[ \t]*[:=]?[ \t]*(.*)", line)
        if found:
            text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda each: chr(int(each[1], 16)), found[2])
            text = re.sub(r"\\(.)", lambda each: {"n": "\n", "t": "\t"}.get(each[1], each[1]), text)
            pairs[found[1]] = text.encode("utf-16", "surrogatepass").decode("utf-16")
    return pairs


@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_properties_change(seed: int) -> None:
    draw = random.Random(f"properties {seed}")
    before, lines = {}, ["# A comment = x", "! another: one", ""]
    escapes = draw.random() < 0.5
    for number in range(draw.randint(3, 8)):
        key, value = f"menu.item{number}", draw.choice([words(draw), words(draw), "\n".join([words(draw), words(draw)])])
        written = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
        if escapes:
            written = "".join(each if each.isascii() else "".join(f"\\u{unit:04x}" for unit in units(each)) for each in written)
        if draw.random() < 0.3 and "\\" not in written:
            written = written.replace(" ", " \\\n      ", 1)
        before[key] = value
        lines.append(f"{draw.choice(['', '  '])}{key}{draw.choice(['=', ' = ', ': ', ' '])}{written}")
    before = parsed_properties("\n".join(lines))
    found = translated("\n".join(lines).replace("\n", draw.choice(["\n", "\r\n"])).encode(), "properties").decode()
    assert {key: " ".join(value.split(" ")) for key, value in parsed_properties(found).items()} == changed(before)
    assert found.isascii() or not escapes or not any("\\u" in line for line in lines)


def units(character: str) -> list[int]:
    data = character.encode("utf-16-be")
    return [int.from_bytes(data[place : place + 2]) for place in range(0, len(data), 2)]


@pytest.mark.parametrize("format", ["json", "yaml", "csv", "properties", "ini"])
@pytest.mark.parametrize("seed", range(30))
def test_edits_give_what_changed_texts_give(seed: int, format: Format) -> None:
    draw = random.Random(f"edits {format} {seed}")
    texts = [words(draw, 2) for _ in range(6)]
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([["text"], *([text] for text in texts)])
    content = {
        "json": json.dumps(texts),
        "yaml": yaml.safe_dump(texts, width=1000, default_style=draw.choice([None, "'", '"'])),
        "csv": stream.getvalue(),
        "properties": "".join(f"key{number} = {text}\n" for number, text in enumerate(text.replace("\\", "\\\\") for text in texts)),
        "ini": "".join(f"key{number} = {text}\n" for number, text in enumerate(texts)),
    }[format]
    document = parse(content, format, purpose="correct")
    edits, outputs = list[list[Edit]](), list[str]()
    for segment in document.segments:
        found = draw.choice(list(re.finditer(r"\S+", segment.text)))
        new = draw.choice(["house,", "it: is", '"so"', "#", "don't", "caf\u00e9", "a\\b"])
        edits.append([Edit(*found.span(), found.group(), new)])
        outputs.append(segment.text[: found.start()] + new + segment.text[found.end() :])
    corrected, translated = document.corrected(edits), document.translated(outputs)
    assert yaml.safe_load(corrected) == yaml.safe_load(translated) if format == "yaml" else corrected == translated


def test_apostrophes_of_messages_with_arguments_are_doubled() -> None:
    data = b"a=It''s {0} of ''{1}''\nb=It's plain\n"
    document = parse(data, "properties")
    assert texts(document) == ["It's {0} of '{1}'", "It's plain"]
    assert document.translated(["C'est {0}", "C'est"]) == b"a=C''est {0}\nb=C'est\n"
    assert parse("a=Stra\u00dfe\n".encode("latin-1"), "properties").translated(["Gr\u00fc\u00dfe \u20ac"]) == b"a=Gr\xfc\xdfe \\u20ac\n"


def test_settings_that_are_no_text_are_kept() -> None:
    data = b"; a comment = here\n[Main part]\nlevel = debug\nactive = Yes\npath=/usr/lib\n"
    data += b'title = The old house ; note\nhint="Say \\"yes\\""  # a note\nn = 5\nempty = ; no value\n'
    document = parse(data, "ini")
    assert texts(document) == ["The old house", 'Say "yes"']
    found = document.translated(["Das alte Haus", 'Sag "ja"'])
    assert found == data.replace(b"The old house", b"Das alte Haus").replace(b'Say \\"yes\\"', b'Sag \\"ja\\"')


def test_only_the_forms_of_a_message_are_texts() -> None:
    data = b'{"n": "{count, plural, one {# old file} other {# old files}}", "@n": {"description": "x y"}, "t": "Hello {{name}}"}'
    document = parse(data, "json")
    assert texts(document) == ["# old file", "# old files", "Hello {{name}}"]


def test_values_without_quotation_marks_get_those_that_they_need() -> None:
    document = parse(b"a: &x Hello\nb: [red, green]\nc: !t Kept\nd: *x\ne: !!str Word\n", "yaml")
    assert texts(document) == ["Hello", "red", "green", "Word"]
    outputs = ["Hallo: du", "rot, sehr", "gr\u00fcn", "no"]
    assert document.translated(outputs).decode() == 'a: &x "Hallo: du"\nb: ["rot, sehr", gr\u00fcn]\nc: !t Kept\nd: *x\ne: !!str "no"\n'


def test_a_correction_of_a_cell_gets_quotation_marks_too() -> None:
    data = b'id,text\n1,However he came\n2,"However, she came"\n'
    document = parse(data, "csv", purpose="correct")
    assert texts(document) == ["However he came", "However, she came"]
    edits = [Edit(0, 7, "However", "However,")], [Edit(9, 12, "she", '"she"')]
    assert document.corrected(edits) == b'id,text\n1,"However, he came"\n2,"However, ""she"" came"\n'
    assert document.corrected([[Edit(8, 10, "he", "she")], []]) == data.replace(b"he came", b"she came", 1)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.json", b'{"a": "x",\n "b" 5}', "line 2: not JSON: Expecting ':' delimiter"),
        ("a.json", b'{"a": "x"}\n]', "line 2: not JSON: Extra data"),
        ("a.json", b"[" * 100_000, "a.json: nested too deeply"),
        ("a.json", b'{"a": "\xff"}', "line 1: not valid UTF-8"),
        ("a.yaml", b"a: b\n c: d: e\n", "line 2: not YAML"),
        ("a.yaml", b"a: 'open\nb: c\n", "not YAML: found unexpected end of stream"),
        ("a.yaml", b"a: \x07\n", "a.yaml: not YAML"),
        ("a.yaml", b"[" * 20_000, "not YAML"),
        ("a.csv", b'a,b\nc,"d\n', "line 2: a quotation mark that is not closed"),
        ("a.csv", b'a,b\nc,"d"e\n', "line 2: text after a closing quotation mark"),
    ],
)
def test_malformed_files_are_errors_that_name_the_line(name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_document(Source(data, name), format_of(Path(name)))


WORST: dict[Format, Callable[[int], bytes]] = {
    "json": lambda size: b'["' + b"\\\\" * size + b'"' + b',"a"' * size + b"]",
    "yaml": lambda size: b"a: " + b"'" + b"''" * size + b"'\nb:" + b" x\n " * size,
    "properties": lambda size: b"a=" + b"\\\\" * size + b"\nb = c \\\n" * size + b"\nx" * size,
    "ini": lambda size: b"a = " + b'"' * size + b"\n" + b"a = \t " * size + b"\n" + b'a="' + b"\\" * size + b"\na = x" + b" " * size + b"y",
    "csv": lambda size: b'a,"' + b'""' * size + b'"\n' + b"," * size + b"\n" + b"a;b|c,\t" * size,
}


@pytest.mark.parametrize("format", WORST)
def test_long_values_are_read(format: Format) -> None:
    document = parse(WORST[format](20_000), format)
    assert unchanged(document) == WORST[format](20_000)


DATA = (
    *('=A1&" apples"', '=IF(A2>5,"Good","Bad")', '=VLOOKUP("red",A1:B2,2,FALSE)', "=SUM(B2:B9)", "+A1*2", "@SUM(A1)", "-B2+(C3)"),
    *("5.99", "1,299.00", "-3", "12 000", "true", "FALSE", "null", "None", "app.title", "activerecord.models.house", "AB-12", "SW1A"),
    *("images/old table.png", "/usr/share", "./a/b", "a@example.org", "https://example.org/a", "image/png", "DD.MM.YYYY", "h:mm a"),
)
"""Cells that are no text."""
TEXTS = ("Red chair", "Call back", "well-known", "= yes", "See example.org.", "and/or", "Good. Better.", "A-level", "50% more", "+ tax")


@pytest.mark.parametrize("seed", SEEDS)
def test_data_in_tables_stays(seed: int) -> None:
    draw, stream = random.Random(f"data {seed}"), io.StringIO()
    columns = draw.randint(2, 6)
    body = [[draw.choice(draw.choice([DATA, TEXTS])) for _ in range(columns)] for _ in range(draw.randint(1, 6))]
    csv.writer(stream, lineterminator="\n").writerows([["name"] * columns, *body])
    found = list(csv.reader(io.StringIO(translated(stream.getvalue().encode(), "csv").decode(), newline="")))
    slugs = {place for place in range(columns) if {row[place] for row in body} == {"well-known"}}
    expected = [[cell if cell in DATA or place in slugs else changed(cell) for place, cell in enumerate(row)] for row in body]
    assert found[1:] == expected


@pytest.mark.parametrize(
    ("cells", "stay"), [(["red-chair", "table", "blue-lamp-2"], True), (["red-chair", "Red chair"], False), (["red"], False)]
)
def test_a_column_of_names_for_addresses_stays(cells: list[str], stay: bool) -> None:
    found = translated("".join(f"{cell},A house\n" for cell in ["slug", *cells]).encode(), "csv").decode().splitlines()[1:]
    assert [row.split(",")[0] for row in found] == (cells if stay else list(map(changed, cells)))


@pytest.mark.parametrize("seed", SEEDS)
def test_only_the_columns_that_are_named_are_translated(seed: int) -> None:
    draw, stream = random.Random(f"columns {seed}"), io.StringIO()
    columns = draw.randint(2, 6)
    names = draw.sample(["title", "note", "red, blue", 'the "key"', "7", "Name", "slug"], columns)
    body = [[draw.choice(TEXTS) for _ in range(columns)] for _ in range(draw.randint(1, 4))]
    csv.writer(stream, lineterminator="\n").writerows([names, *body])
    chosen = draw.sample(range(columns), draw.randint(1, columns))
    numbers = [str(place + 1) for place in chosen if str(place + 1) not in names]
    named = [names[place] for place in chosen if str(place + 1) in names or draw.random() < 0.5]
    own = tuple(dict.fromkeys([*numbers[: len(chosen) // 2], *named])) or (names[chosen[0]],)
    places = {names.index(each) if each in names else int(each) - 1 for each in own}
    document = read_document(Source(stream.getvalue().encode(), "a.csv", columns=own), "csv")
    found = list(csv.reader(io.StringIO(document.translated([changed(each.text) for each in document.segments]).decode(), newline="")))
    assert found[1:] == [[changed(cell) if place in places else cell for place, cell in enumerate(row)] for row in body]


def test_data_in_a_named_column_stays_and_names_for_addresses_are_translated() -> None:
    data = b"slug,price\nred-chair,5.99\nold-table,=A1*2\n"
    document = read_document(Source(data, "a.csv", columns=("slug", "2")), "csv")
    assert texts(document) == ["red-chair", "old-table"]


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_that_are_called_data_stay(seed: int) -> None:
    draw = random.Random(f"names of columns {seed}")
    kept = draw.sample(["first_name", "Last name", "key", "ID", "sku", "email", "E-mail", "username", "url", "surname"], 3)
    names = draw.sample([*kept, "title", "note", "city"], 6)
    rows = [[draw.choice(["Will", "Mark", "page not found", "Rose Brown", "open door"]) for _ in names] for _ in range(4)]
    data = "\n".join(map(",".join, [names, *rows])).encode()
    expected = [cell for row in rows for name, cell in zip(names, row, strict=True) if name not in kept]
    assert texts(parse(data, "csv")) == expected
    chosen = read_document(Source(data, "a.csv", columns=(kept[0],)), "csv")
    assert texts(chosen) == [row[names.index(kept[0])] for row in rows]


@pytest.mark.parametrize("name", ["x", "0", "3", "Title"])
def test_a_column_that_a_table_lacks_is_refused_with_the_names_of_all(name: str) -> None:
    with pytest.raises(UsageError, match=rf"--columns: a\.csv has no column '{name}'; it has title, note"):
        read_document(Source(b"title,note\na,b\n", "a.csv", columns=(name,)), "csv")


@pytest.mark.parametrize(("stated", "target", "written"), [("en_GB", "de", "de"), ("fr", "de", "fr"), ("en", "", "en")])
def test_the_language_that_messages_state_becomes_the_target_language(stated: str, target: str, written: str) -> None:
    document = parse(f'{{"@@locale" : "{stated}", "a": "A house"}}', "json")
    check_languages(document, "a.arb", "en", target)
    assert document.translated(["Ein Haus"]).decode() == f'{{"@@locale" : "{written}", "a": "Ein Haus"}}'
