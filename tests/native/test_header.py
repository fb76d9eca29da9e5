"""The reader of the header finds the sizes, offsets, numbers and functions that a C compiler finds; its checksum is in the library."""

import ctypes
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import pytest

from specdec_cli.native.header import Header, read_header
from specdec_cli.native.library import HEADER, load_library
from tests.native.conftest import SOURCES

PATH = SOURCES / "specdec.h"
OTHER = """
#define SPECDEC_MOST 7 // a comment with #define SPECDEC_LEAST 1
#define SPECDEC_API
enum specdec_kind { SPECDEC_KIND_FIRST_ONE, SPECDEC_KIND_THIRD = 5, SPECDEC_FOURTH };
struct specdec_inner { int32_t a; double b[2][3]; }; // struct specdec_none { int32_t x; };
struct specdec_outer {
    int32_t first, second;
    struct specdec_inner inner, others[2]; // nested
    const float *scales, *more; /* two */
    int64_t last[3];
};
struct specdec_opaque;
SPECDEC_API int64_t specdec_some(const struct specdec_outer *outer, int32_t count, const char *name,
                                 double *to, const char **names);
SPECDEC_API void specdec_end(void);
SPECDEC_API const char *specdec_name(float x);
"""


def fields(header: Header) -> list[tuple[str, str, int, int]]:
    """The structure, name, offset and size of each field."""
    return [
        (struct, name, getattr(kind, name).offset, getattr(kind, name).size)
        for struct, kind in header.structs.items()
        for name, _ in kind._fields_
    ]


def compiled(path: Path, header: Header, folder: Path) -> dict[str, int]:
    """What a C compiler says of the offsets and sizes of fields, the sizes of structures, and the values of constants."""
    of_struct = [f"sizeof(struct specdec_{name})" for name in header.structs]
    of_field = [
        text for struct, name, *_ in fields(header) for text in (f"offsetof(struct specdec_{struct}, {name})", f"SIZE({struct}, {name})")
    ]
    expressions = [*of_struct, *of_field, *(f"SPECDEC_{name}" for name in header.constants)]
    lines = "".join(f'    printf("%s=%lld\\n", "{text}", (long long)({text}));\n' for text in expressions)
    program = f"""#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "{path}"
#define SIZE(name, field) sizeof(((struct specdec_##name *)0)->field)
int main(void) {{
{lines}    return 0;
}}
"""
    (folder / "main.c").write_text(program, encoding="utf-8")
    subprocess.run(["cc", str(folder / "main.c"), "-o", str(folder / "main")], check=True)
    output = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, _, value in (line.rpartition("=") for line in output.splitlines())}


def read(header: Header) -> Mapping[str, int]:
    found = {f"sizeof(struct specdec_{name})": ctypes.sizeof(kind) for name, kind in header.structs.items()}
    for struct, name, offset, size in fields(header):
        found |= {f"offsetof(struct specdec_{struct}, {name})": offset, f"SIZE({struct}, {name})": size}
    return found | {f"SPECDEC_{name}": value for name, value in header.constants.items()}


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("name", ["specdec.h", "other.h"])
def test_a_compiler_finds_the_same_layout(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(OTHER if name == "other.h" else PATH.read_text(encoding="utf-8"), encoding="utf-8")
    header = read_header(path)
    assert compiled(path, header, tmp_path) == read(header)


def test_every_declaration_of_the_header_is_read() -> None:
    text = PATH.read_text(encoding="utf-8")
    assert len(HEADER.functions) == text.count("SPECDEC_API ") - text.count("#define SPECDEC_API")
    assert len(HEADER.structs) == sum(line.startswith("struct ") and line.endswith("{") for line in text.splitlines())
    assert len(HEADER.enums) == sum(line.startswith("enum ") for line in text.splitlines())
    assert {"LANES", "MULTIPLE", "MOST_BEAM", "MOST_CANDIDATES"} <= HEADER.constants.keys()


def test_enumerations_and_functions(tmp_path: Path) -> None:
    (tmp_path / "other.h").write_text(OTHER, encoding="utf-8")
    header = read_header(tmp_path / "other.h")
    assert dict(header.constants) == {"MOST": 7}
    assert dict(header.enums) == {"kind": {"first-one": 0, "third": 5, "fourth": 6}}
    assert set(header.structs) == {"inner", "outer"}
    pointer = ctypes.c_void_p
    assert dict(header.functions) == {
        "specdec_some": ([pointer, ctypes.c_int32, ctypes.c_char_p, pointer, pointer], ctypes.c_int64),
        "specdec_end": ([], None),
        "specdec_name": ([ctypes.c_float], ctypes.c_char_p),
    }


def test_the_library_has_the_checksum_of_its_header() -> None:
    load_library.cache_clear()
    assert load_library().specdec_interface() == HEADER.checksum == crc32(PATH.read_bytes())
