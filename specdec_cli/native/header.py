"""The interface of the native engine, read from its C header: constants, structures and functions in ctypes."""

import ctypes
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

_TYPES: dict[str, type] = {
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
_PREFIX = "SPECDEC_"


@dataclass(frozen=True)
class Header:
    """What a header declares.

    - `checksum`: the CRC-32 of the file, which a compiled library was built with, too.
    - `constants`: the values of `#define SPECDEC_NAME NUMBER`, by NAME.
    - `enums`: the values of each `enum specdec_name`, by name. Its constant SPECDEC_NAME_SOME_VALUE is "some-value".
    - `structs`: each `struct specdec_name` with its fields, by name. Pointers are addresses.
    - `functions`: the types of the arguments and of the result of each function, by its full name; the type of `void` is None.
    """

    checksum: int
    constants: Mapping[str, int]
    enums: Mapping[str, Mapping[str, int]]
    structs: Mapping[str, type[Any]]
    functions: Mapping[str, tuple[list[type], type | None]]


def read_header(path: Path) -> Header:
    """The interface that the header at `path` declares. It is written as `specdec.h` is: each declaration ends with a semicolon, an
    enumeration has no value that a macro or an expression gives.
    """
    content = path.read_bytes()
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", content.decode(), flags=re.S)
    constants = {name: int(value) for name, value in re.findall(rf"^#define {_PREFIX}(\w+) (\d+)\s*$", text, re.M)}
    enums = {name: _values(name, body) for name, body in re.findall(r"\benum specdec_(\w+) \{(.*?)\};", text, re.S)}
    structs: dict[str, type[Any]] = {}
    for name, body in re.findall(r"\bstruct specdec_(\w+) \{(.*?)\};", text, re.S):
        structs[name] = type(name, (ctypes.Structure,), {"_fields_": tuple(_fields(body, structs))})
    functions = {}
    for result, name, arguments in re.findall(rf"{_PREFIX}API\s+([\w\s*]*?)\b(specdec_\w+)\(([^)]*)\);", text):
        types = [_type(argument) for argument in arguments.split(",") if argument.strip() != "void"]
        functions[name] = types, None if result.strip() == "void" else _type(result)
    return Header(crc32(content), constants, enums, structs, functions)


def fill(struct: Any, record: Any, enums: Mapping[str, Mapping[str, int]]) -> Any:
    """Set the fields of `struct` that `record` has as attributes of the same names, nested ones too, and return it.

    Text is a name of the enumeration that the field is called after. Addresses and None are not set.
    """
    for name, kind in struct._fields_:
        value = getattr(record, name, None)
        if kind is ctypes.c_void_p:
            continue
        if hasattr(kind, "_fields_"):
            fill(getattr(struct, name), value, enums)
        elif isinstance(value, str):
            setattr(struct, name, enums[name][value])
        elif isinstance(value, int | float):
            setattr(struct, name, value)
    return struct


def _values(enum: str, body: str) -> dict[str, int]:
    values, value = {}, -1
    for constant in filter(None, map(str.strip, body.split(","))):
        name, _, number = constant.partition("=")
        value = int(number) if number else value + 1
        values[name.strip().removeprefix(_PREFIX).removeprefix(f"{enum.upper()}_").lower().replace("_", "-")] = value
    return values


def _fields(body: str, structs: Mapping[str, type[Any]]) -> Iterator[tuple[str, type]]:
    for declaration in filter(None, map(str.strip, body.split(";"))):
        kind, names = re.fullmatch(r"((?:const )?(?:struct )?\w+)\s+(.*)", declaration, re.S).groups()  # type: ignore[union-attr]
        for declared in map(str.strip, names.split(",")):
            name, *sizes = re.findall(r"\w+", declared.removeprefix("*"))
            field: Any = ctypes.c_void_p if declared.startswith("*") else _field_type(kind, structs)
            for size in reversed(sizes):
                field = field * int(size)
            yield name, field


def _field_type(kind: str, structs: Mapping[str, type[Any]]) -> type[Any]:
    return structs[kind.removeprefix("struct specdec_")] if kind.startswith("struct ") else _TYPES[kind]


def _type(declaration: str) -> type:
    """The type of an argument or a result: text for `char *`, an address for any other pointer."""
    if "*" in declaration:
        return ctypes.c_char_p if re.search(r"\bchar \*(?!\*)", declaration) else ctypes.c_void_p
    return _TYPES[declaration.split()[0]]
