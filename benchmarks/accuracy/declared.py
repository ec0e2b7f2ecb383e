"""Which names the installed headers of a library declare, told from the words that they hold after preprocessing."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from examples.more_recipes import ALL
from examples.obtain import run, source

SETTINGS = Path(__file__).with_name("headers.toml")
WORD = re.compile(r"[A-Za-z_]\w*")
DEFINITIONS = (
    re.compile(
        r"\b(?:struct|union|class|enum)\s+(?:class\s+)?(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*(?:final\s*)?[:{]"
    ),
    re.compile(r"\}\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*;"),
    re.compile(r"\btypedef\b(?!\s+(?:struct|union|class)\s+(\w+)\s+\1\s*;)[^;{}]*?\b(\w+)\s*(?:\[[^;]*\])?;"),
    re.compile(r"\btypedef\b[^;{}]*?\(\s*\*?\s*(\w+)\s*\)\s*\("),
    re.compile(r"\btypedef\b[^;{}()]*?\b(\w+)\s*\("),
)
"""How headers define records, enumerations and aliases; an alias of a record that is only declared is defined too,
unless it has the record's own name."""

MARKER = re.compile(r'# \d+ "(?P<file>[^"]*)"')


@cache
def _settings() -> dict[str, Any]:
    return tomllib.loads(SETTINGS.read_text())


def is_defined(type: str, library: str, version: str) -> bool:
    """Whether an installed header defines a type of this name, as far as patterns can tell."""
    return _parts(type) <= _words(library, version) and bool(_parts(type) & _defined(library, version))


def undeclared(library: str, version: str, built: Path) -> list[str]:
    """The exported symbols of which some part of the name stands in no installed header, sorted."""
    words = _words(library, version)
    listed = run(["nm", "-D", "--defined-only", built], built.parent).splitlines()
    symbols = [line.split()[-1].split("@")[0] for line in listed]
    spelled = run(["c++filt", "-p", *symbols], built.parent).splitlines() if symbols else []
    return sorted({symbol for symbol, name in zip(symbols, spelled, strict=True) if not _parts(name) <= words})


def _parts(name: str) -> set[str]:
    """The identifiers of a demangled name, without those of template arguments."""
    name = re.sub(r"^(?:vtable|typeinfo|typeinfo name|VTT|guard variable|construction vtable) for ", "", name)
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return set(WORD.findall(name.split("[")[0])) - {"operator", "non", "virtual", "thunk", "to", "const"}


@cache
def _words(library: str, version: str) -> frozenset[str]:
    return frozenset(WORD.findall(_text(library, version)))


@cache
def _defined(library: str, version: str) -> frozenset[str]:
    """The types that the headers define, and do not only declare."""
    text = _text(library, version)
    return frozenset(match[match.lastindex or 0] for pattern in DEFINITIONS for match in pattern.finditer(text))


@cache
def _text(library: str, version: str) -> str:
    """The library's own lines of its headers, preprocessed."""
    recipe, root = ALL[library], _root(library, version)
    _settings()[library]
    text = "".join(f'#include "{path}"\n' for path in installed(library, version))
    language = "c++" if recipe.compiler.endswith("++") else "c"
    command = [recipe.compiler, "-E", "-x", language, "-", *(f"-D{each}" for each in macros(library))]
    done = subprocess.run([*command, *included(library, version)], input=text, text=True, capture_output=True, cwd=root)
    if done.returncode:
        raise RuntimeError(f"{library} {version}: {done.stderr.splitlines()[:3]}")
    return "\n".join(_own(done.stdout))


def included(library: str, version: str) -> list[str]:
    """The options with which a client of this release finds its headers."""
    root = _root(library, version)
    settings = _settings()[library]
    folders = {str(path.parent) for pattern in settings["headers"] for path in root.glob(pattern)}
    searched = [*(str(root / each) for each in settings.get("include", ())), *sorted(folders)]
    return [*settings.get("options", ()), *(f"-I{each}" for each in searched)]


def installed(library: str, version: str) -> list[Path]:
    """The headers that a release installs."""
    root = _root(library, version)
    return sorted({path for pattern in _settings()[library]["headers"] for path in root.glob(pattern)})


def macros(library: str) -> list[str]:
    """The macros that open all of what the headers declare."""
    return list(_settings()[library].get("macros", ()))


def _root(library: str, version: str) -> Path:
    recipe = ALL[library]
    folder = source(recipe.origin, recipe.package, dict(recipe.releases)[version])
    return folder if recipe.root == "." else next(folder.glob(recipe.root))


def _own(text: str) -> Iterator[str]:
    """The lines that come from below ``root`` or from where else no system header lies."""
    own = False
    for line in text.splitlines():
        marker = MARKER.match(line)
        if marker:
            own = not marker["file"].startswith(("/usr/", "<"))
        elif own:
            yield line
