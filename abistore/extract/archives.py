"""Static archives and import libraries, which stand where a shared library is expected: what each is, in a word."""

from __future__ import annotations

from typing import Final

from abistore.errors import ExtractError
from abistore.extract.input_file import InputFile

ARCHIVES: Final = (b"!<arch>\n", b"!<thin>\n")
_MOST_MEMBERS: Final = 16
_HEADER: Final = 60
_SHORT_IMPORT: Final = b"\0\0\xff\xff"
_IMPORT_SECTIONS: Final = (b".idata$", b"__nm_")


def refusal(file: InputFile) -> ExtractError:
    """Why an archive is not read: it holds no ABI of its own."""
    if _imports(file):
        return ExtractError(
            f"{file.path}: is an import library",
            "pass the DLL itself: an import library only tells linkers what the DLL exports",
        )
    return ExtractError(
        f"{file.path}: is a static archive",
        "pass the shared library: what is in an archive is copied into each program",
    )


def _imports(file: InputFile) -> bool:
    """Whether one of the first members tells of an import: Visual C++ has a short form, MinGW object files."""
    place = len(ARCHIVES[0])
    for _ in range(_MOST_MEMBERS):
        if place + _HEADER > file.size:
            return False
        header = file.read_at(place, _HEADER)
        size = int(header[48:58]) if header[48:58].strip().isdigit() else 0
        start = file.read_at(place + _HEADER, min(size, 1024, file.size - place - _HEADER))
        if start.startswith(_SHORT_IMPORT) or any(mark in start for mark in _IMPORT_SECTIONS):
            return True
        place += _HEADER + size + size % 2
    return False
