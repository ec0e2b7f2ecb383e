"""The texts of witnesses, and the facts that a compiler put into their object files."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from abistore.extract.elf.container import ElfFile
from abistore.model.declarations import Name
from abistore.model.names.symbols import file_local
from abistore.model.shapes import Symbol
from abistore.model.snapshot import Snapshot
from abistore.witness.facts import OWN, Fact
from abistore.witness.uses import PLAIN_SYMBOL

INCLUDED: Final = {True: ("<stddef.h>", "<stdio.h>", "<string.h>"), False: ("<cstddef>", "<cstdio>", "<cstring>")}

NUMBERS: Final = "facts"
"""The array of all facts that are numbers."""


def layout_program(headers: Iterable[str], facts: Sequence[Fact], *, c: bool) -> str:
    """A program that prints what it was compiled with."""
    numbers = [each for each in facts if each.sort == "number"]
    lines = [f"#include {each}" for each in INCLUDED[c]]
    lines += [*(f'#include "{each}"' for each in headers), ""]
    lines += dict.fromkeys(each.needs for each in facts if each.needs)
    if numbers:
        lines += [f"static const volatile long long {NUMBERS}[] = {{"]
        lines += [f"    {each.expression}," for each in numbers]
        lines.append("};")
    lines += [_object(number, each) for number, each in enumerate(facts) if each.sort != "number"]
    lines += ["", f"int main({'void' if c else ''}) {{"]
    lines += [f"    {line}" for line in _printing(facts)]
    lines += ["    return 0;", "}"]
    return "".join(f"{line}\n" for line in lines)


def symbol_of(number: int, fact: Fact) -> str:
    """The object that holds a fact which is no number: ``slot3``, ``bytes4``."""
    return f"{fact.sort}{number}"


def _object(number: int, fact: Fact) -> str:
    symbol = symbol_of(number, fact)
    if fact.sort == "slot":
        return f"static const auto {symbol} = {fact.expression};"
    if fact.type == "char []":
        return f"static const char {symbol}[] = {fact.expression};"
    return f"static const {fact.type} {symbol} = {fact.expression};"


def _printing(facts: Sequence[Fact]) -> Iterator[str]:
    place = 0
    for number, each in enumerate(facts):
        label, symbol = _quoted(each.label), symbol_of(number, each)
        if each.sort == "number":
            yield f'printf("{label} = %lld\\n", {NUMBERS}[{place}]);'
            place += 1
        elif each.sort == "slot":
            yield f"long {symbol}_place;"
            yield f"memcpy(&{symbol}_place, &{symbol}, sizeof {symbol}_place);"
            yield f'printf("{label} = %ld\\n", {symbol}_place / (long)sizeof(void *));'
        elif each.type == "char []":
            yield f'printf("{label} = %s\\n", {symbol});'
        else:
            yield f'printf("{label} =");'
            yield f"for (size_t i = 0; i < sizeof {symbol}; i++)"
            yield f'    printf(" %02x", ((const unsigned char *)&{symbol})[i]);'
            yield 'printf("\\n");'


def values(object_file: Path, facts: Sequence[Fact]) -> dict[str, object]:
    """The facts that an object file holds, by their labels: nothing of it is started."""
    elf = ElfFile(object_file)

    def contents(symbol: str) -> bytes:
        endings = (f".{symbol}", f".{file_local(symbol)}")
        section = next((each for each in elf.sections if each.name.endswith(endings)), None)
        return elf.contents(section) if section else b""

    data = contents(NUMBERS)
    numbers = iter(struct.unpack_from(f"{'<' if elf.little else '>'}{len(data) // 8}q", data))
    return {
        each.label: next(numbers, None)
        if each.sort == "number"
        else _value(contents(symbol_of(place, each)), each, elf)
        for place, each in enumerate(facts)
    }


def asks_for(object_file: Path, symbols: Iterable[str]) -> bool:
    """Whether an object file names all of these symbols."""
    named = set(ElfFile(object_file).section(".strtab").split(b"\0"))
    return all(any(each in (name, name.partition(b"@")[0]) for name in named) for each in map(str.encode, symbols))


def _value(data: bytes, fact: Fact, elf: ElfFile) -> object:
    if fact.sort == "slot":
        size = elf.bits // 8
        return int.from_bytes(data[:size], "little" if elf.little else "big") // size
    if fact.type == "char []":
        return data.rstrip(b"\0").decode(errors="replace")
    return data.hex(" ")


def faulty(program: str, facts: Sequence[Fact], lines: Iterable[int]) -> set[Fact]:
    """The facts that a program asks for on some of its lines."""
    texts = program.splitlines()
    wrong = {texts[each - 1].strip() for each in lines if 0 < each <= len(texts)}
    return {
        each
        for number, each in enumerate(facts)
        if {each.needs, f"{each.expression},"} & wrong
        or any(symbol_of(number, each) in line for line in wrong if each.sort != "number")
    }


def using_program(headers: Iterable[str], code: str, *, c: bool) -> str:
    """A program that names a declaration; it does nothing else."""
    lines = [
        *(f'#include "{each}"' for each in headers),
        *(["", code] if code else []),
        "",
        f"int main({'void' if c else ''}) {{ return 0; }}",
    ]
    return "\n".join(lines).lstrip("\n") + "\n"


def all_uses(headers: Iterable[str], codes: Sequence[str]) -> tuple[str, list[range]]:
    """One source with several codes, each with functions of its own, and the lines of each."""
    lines = [f'#include "{each}"' for each in headers]
    places = []
    for number, code in enumerate(codes):
        own = re.sub(rf"\b{OWN}\b", f"{OWN}{number}_", code).splitlines()
        places.append(range(len(lines) + 1, len(lines) + len(own) + 1))
        lines += own
    return "".join(f"{line}\n" for line in lines), places


def instructions(assembly: str) -> dict[int, list[str]]:
    """The instructions of each code of a source with several, by its number."""
    found: dict[int, list[str]] = {}
    number = None
    for line in assembly.splitlines():
        if label := re.match(r"([A-Za-z_$][\w.$]*):", line):
            own = re.search(rf"{OWN}(\d+)_", label[1])
            number = int(own[1]) if own else None
        elif number is not None and re.match(r"\t[a-z]", line):
            text = re.sub(rf"({OWN})\d+_", r"\1", " ".join(line.split()))
            found.setdefault(number, []).append(re.sub(r"\.L\w+", ".L", text))
    return found


def stub_library(snapshot: Snapshot) -> tuple[str, str]:
    """A library with the exports that a snapshot records: its assembly, and its version script."""
    exports = snapshot.entries.get("symbol", {})
    symbols = [
        (name, each)
        for name, found in sorted(exports.items())
        for each in found
        if isinstance(each, Symbol) and PLAIN_SYMBOL.fullmatch(f"{name.spelling}{each.version or ''}")
    ]
    lines = [line for number, (name, each) in enumerate(symbols) for line in _export(f"stub{number}", name, each)]
    versions = sorted({each.version for _, each in symbols if each.version is not None})
    plain = " ".join(f'"{name.spelling}";' for name, each in symbols if each.version is None)
    script = [f"{version} {{ }};" for version in versions] or [f"{{ global: {plain} local: *; }};"]
    return "".join(f"{line}\n" for line in lines), "".join(f"{line}\n" for line in script)


def _export(label: str, name: Name, symbol: Symbol) -> Iterator[str]:
    yield from (_SECTIONS[symbol.type], f".globl {label}", f".type {label}, {_TYPES[symbol.type]}")
    yield from (f".size {label}, {symbol.size}", f"{label}:", f".zero {max(1, symbol.size)}")
    if symbol.version is None:
        yield from (f'.globl "{name.spelling}"', f'.set "{name.spelling}", {label}')
    else:
        yield f".symver {label}, {name.spelling}{'@@' if symbol.default else '@'}{symbol.version}"


_SECTIONS: Final = {
    **{"function": ".text", "data": ".data", "thread_local": '.section .tdata,"awT",@progbits', "unknown": ".data"},
}
_TYPES: Final = {"function": "@function", "data": "@object", "thread_local": "@tls_object", "unknown": "@notype"}


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def lines_with(program: str, words: Iterable[str]) -> tuple[int, ...]:
    """The numbers of the lines that have one of the words, counted from 1."""
    wanted = [each for each in words if each]
    return tuple(number for number, line in enumerate(program.splitlines(), 1) if any(each in line for each in wanted))
