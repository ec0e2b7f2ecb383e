"""GNU ld scripts that stand where a library is expected: ``INPUT(...)`` and ``GROUP(... AS_NEEDED(...))``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from abistore.confinement import is_file
from abistore.errors import ExtractError
from abistore.patterns import pattern

MOST_BYTES = 1 << 20
_COMMENT = pattern(r"/\*.*?(\*/|\Z)", re.DOTALL)
_TOKEN = pattern(r'"[^"]*"|[(),;]|[^\s(),;"]+')
_START = pattern(r"\s*(OUTPUT_FORMAT|OUTPUT_ARCH|INPUT|GROUP|SEARCH_DIR|TARGET|EXTERN|ENTRY)\s*\(")


def is_linker_script(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a linker script that could name a library."""
    if b"\0" in head:
        return False
    return _START.match(_COMMENT.sub(" ", head.decode("utf-8", "replace"))) is not None


def named_libraries(text: str) -> tuple[str, ...]:
    """The shared libraries that a script names, those outside ``AS_NEEDED`` first, each in order; archives left out."""
    always: list[str] = []
    as_needed: list[str] = []
    for token, inside in _inputs(_TOKEN.findall(_COMMENT.sub(" ", text))):
        name = token.strip('"')
        if not name.endswith((".a", ".o")):
            (as_needed if inside else always).append(name)
    return tuple(always + as_needed)


def _inputs(tokens: list[str]) -> Iterator[tuple[str, bool]]:
    """The words inside ``INPUT`` and ``GROUP``, and whether each stands inside ``AS_NEEDED`` too."""
    open_commands: list[str] = []
    word = ""
    for token in tokens:
        if token == "(":
            open_commands.append(word)
        elif token == ")" and open_commands:
            open_commands.pop()
        elif token not in ",;)" and open_commands and open_commands[0] in ("INPUT", "GROUP") and token != "AS_NEEDED":
            yield token, "AS_NEEDED" in open_commands
        word = token


def find_library(script: Path, text: str) -> Path:
    """The file that ``script`` stands for. Raises :class:`ExtractError` where it names none that exists."""
    names = named_libraries(text)
    for name in names:
        for candidate in _candidates(script.parent.absolute(), name):
            if is_file(candidate):
                return candidate
    listed = ", ".join(names) or "no library at all"
    raise ExtractError(
        f"{script}: is a linker script for {listed}, and none is there", "pass the shared library itself"
    )


def _candidates(folder: Path, name: str) -> Iterator[Path]:
    if name.startswith("-l"):
        name = name[3:] if name.startswith("-l:") else f"lib{name[2:]}.so"
    name = re.sub(r"^(=|\$SYSROOT)", "", name)
    if name.startswith("/"):
        # In an unpacked package or a sysroot the path is below one of the script's own parents.
        for parent in folder.parents:
            yield parent / name.lstrip("/")
    else:
        yield folder / name
        yield from _beside_the_compiler(folder, name)
    yield folder / Path(name).name


def _beside_the_compiler(folder: Path, name: str) -> Iterator[Path]:
    """Where a compiler's own folder (``lib/gcc/TRIPLET/12``) has the target's libraries."""
    for triplet in (part for part in folder.parts if "-linux-" in part):
        for parent in folder.parents:
            yield parent / triplet / name
            yield parent / triplet / "lib" / name
