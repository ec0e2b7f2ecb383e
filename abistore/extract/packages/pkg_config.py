"""What the ``.pc`` files of a development package say: the libraries, include folders and macros of programs."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator

import msgspec

MOST_BYTES = 1 << 16
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_REQUIRED = re.compile(r"(?<![\w.+<>=!-])(?<!= )(?<!> )(?<!< )[A-Za-z][\w.+-]*")
_MOST_NESTED = 20


class PkgConfig(msgspec.Struct, frozen=True):
    """One ``.pc`` file; ``folders`` are absolute, as in the package's own file tree.

    ``requires`` are the names of those of which programs need the flags, too.
    """

    name: str = ""
    libraries: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    requires: frozenset[str] = frozenset()


def is_pkg_config(path: str) -> bool:
    """Whether a file of a package is one."""
    return path.endswith(".pc") and "/pkgconfig/" in f"/{path}"


def read_pkg_config(path: str, data: bytes) -> PkgConfig:
    """What the ``.pc`` file at ``path`` of a package says."""
    said = dict(_said(path, data.decode("utf-8", "replace")))
    flags = _words(said.get("Cflags:", said.get("CFlags:", "")))
    required = (said.get(field, "") for field in ("Requires:", "Requires.private:"))
    return PkgConfig(
        module_name(path),
        frozenset(f"lib{each[2:]}" for each in _words(said.get("Libs:", "")) if each.startswith("-l")),
        tuple(posixpath.normpath(each) for each in _values(flags, "-I", "-isystem") if each.startswith("/")),
        tuple(_values(flags, "-D")),
        frozenset(_REQUIRED.findall(" ".join(required))),
    )


def module_name(path: str) -> str:
    """What a ``.pc`` file is called by others."""
    return posixpath.basename(path).removesuffix(".pc")


def _said(path: str, text: str) -> Iterator[tuple[str, str]]:
    """The fields, each with a colon at its end. Variables may stand for others that are set before."""
    variables = {"pcfiledir": f"/{posixpath.dirname(path)}"}
    for line in text.replace("\\\n", " ").splitlines():
        if match := re.fullmatch(r"\s*([\w.]+)\s*([=:])\s*(.*?)\s*", line.partition("#")[0]):
            name, sign, value = match.groups()
            value = _spelled_out(value, variables)
            if sign == "=":
                variables[name] = value
            else:
                yield f"{name}:", value


def _spelled_out(text: str, variables: dict[str, str]) -> str:
    for _ in range(_MOST_NESTED):
        replaced = _VARIABLE.sub(lambda match: variables.get(match[1], ""), text)
        if replaced == text or len(replaced) > MOST_BYTES:
            break
        text = replaced
    return text


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that nothing closes
        return text.split()


def _values(words: list[str], *options: str) -> Iterator[str]:
    """What follows one of ``options``, in the same word or in the next one."""
    rest = iter(words)
    for word in rest:
        for option in options:
            if word.startswith(option) and (value := word.removeprefix(option) or next(rest, "")):
                yield value
