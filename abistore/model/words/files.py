"""Headers and sources, told apart by their paths: who can include a file."""

from __future__ import annotations

from functools import lru_cache

from abistore.patterns import pattern

SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm")
"""Suffixes of files that nobody includes."""

HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp", ".tcc")

CPP_HEADERS = (".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tcc")
"""Those that no C program includes."""

SYSTEM = pattern(r"/usr/|<")
"""Where files begin that are no part of the library."""

PUBLIC = "include"
"""The folder that projects keep the headers in that they install."""

PRIVATE = frozenset({"private", "priv"})
"""Folders below it that they do not install."""


def file_name(file: str) -> str:
    """What a file is called in its folder."""
    return file.rpartition("/")[2]


def without_machine(file: str) -> str:
    """``file`` as every machine would call it: of an absolute path, the name in its folder."""
    return file_name(file) if file.startswith("/") or file[1:2] == ":" else file


@lru_cache(1 << 12)
def is_source(file: str) -> bool:
    """Whether ``file`` is a source file, which nobody includes."""
    return file.lower().endswith(SOURCES)


@lru_cache(1 << 12)
def is_own_header(file: str) -> bool:
    """Whether ``file`` is a header of the library and not of the system."""
    return file.lower().endswith(HEADERS) and SYSTEM.match(file) is None


@lru_cache(1 << 12)
def is_cpp_header(file: str) -> bool:
    """Whether ``file`` is called like a header of C++."""
    return file.lower().endswith(CPP_HEADERS)


@lru_cache(1 << 12)
def include_root(file: str) -> str | None:
    """The folder around the ``include`` folder that ``file`` lies in, with a slash at its end, or empty for the top.

    ``None`` where it lies in none, or is no header of the library.
    """
    folders = file.split("/")[:-1]
    if PUBLIC not in folders or not is_own_header(file):
        return None
    return "".join(f"{folder}/" for folder in folders[: folders.index(PUBLIC)])


@lru_cache(1 << 12)
def may_be_private(file: str) -> bool:
    """Whether the path of ``file`` looks like that of a private header."""
    return is_source(file) or (is_own_header(file) and is_beside(file, "/" if file.startswith("/") else ""))


@lru_cache(1 << 12)
def is_beside(file: str, root: str) -> bool:
    """Whether ``file`` lies below the folder ``root``, and in no ``include`` folder unless in a private one of it."""
    if not file.startswith(root) or file.startswith("/") != root.startswith("/"):
        return False
    folders = file.split("/")[:-1]
    return PUBLIC not in folders or not PRIVATE.isdisjoint(folders[folders.index(PUBLIC) :])
