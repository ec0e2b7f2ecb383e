"""What each library of the table installs: its headers, and how a client's compiler finds and reads them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.accuracy.release import Release
from examples.more_recipes import ALL
from examples.obtain import source
from examples.recipes import build

SETTINGS = Path(__file__).with_name("headers.toml")


@cache
def _settings() -> dict[str, Any]:
    return tomllib.loads(SETTINGS.read_text())


def release(library: str, version: str) -> Release:
    """The release, built where that is still to do."""
    include = included(library, version)
    return Release(
        library=library,
        version=version,
        language="c++" if ALL[library].compiler.endswith("++") else "c",
        folder=_root(library, version),
        binary=build(ALL[library], version),
        headers=tuple(installed(library, version)),
        umbrella=(),
        include=tuple(Path(each.removeprefix("-I")) for each in include if each.startswith("-I")),
        defines=tuple(macros(library)),
        options=tuple(each for each in include if not each.startswith("-I")),
    )


def included(library: str, version: str) -> list[str]:
    """The options with which a client of this release finds its headers."""
    root = _root(library, version)
    settings = _settings()[library]
    folders = {str(path.parent) for pattern in settings["headers"] for path in root.glob(pattern)}
    named = [root / each for each in settings.get("include", ()) if (root / each).is_dir()]
    searched = [*map(str, named), *sorted(folders)]
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
