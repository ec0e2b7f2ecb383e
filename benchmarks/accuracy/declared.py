"""Which exports the installed headers of a library declare, told from the words that they hold after preprocessing."""

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
MARKER = re.compile(r'# \d+ "(?P<file>[^"]*)"')


@cache
def _settings() -> dict[str, Any]:
    return tomllib.loads(SETTINGS.read_text())


def undeclared(library: str, version: str, built: Path) -> list[str]:
    """The exported symbols of which some part of the name stands in no installed header, sorted."""
    words = _words(library, version)
    symbols = [line.split()[-1].split("@")[0] for line in run(["nm", "-D", "--defined-only", built], built.parent).splitlines()]
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
    recipe, settings = ALL[library], _settings()[library]
    folder = source(recipe.origin, recipe.package, dict(recipe.releases)[version])
    root = folder if recipe.root == "." else next(folder.glob(recipe.root))
    headers = sorted({path for pattern in settings["headers"] for path in root.glob(pattern)})
    text = "".join(f'#include "{path}"\n' for path in headers)
    language = "c++" if recipe.compiler.endswith("++") else "c"
    command = [recipe.compiler, "-E", "-x", language, "-", *(f"-D{each}" for each in settings.get("macros", ()))]
    command += [f"-I{root / each}" for each in settings.get("include", ())]
    done = subprocess.run([*command, *(flag for flag in recipe.flags if flag[:2] == "-I")], input=text, text=True,
                          capture_output=True, cwd=root)  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{library} {version}: {done.stderr.splitlines()[:3]}")
    return frozenset(word for line in _own(done.stdout, root) for word in WORD.findall(line))


def _own(text: str, root: Path) -> Iterator[str]:
    """The lines that come from below ``root`` or from where else no system header lies."""
    own = False
    for line in text.splitlines():
        marker = MARKER.match(line)
        if marker:
            own = not marker["file"].startswith(("/usr/", "<"))
        elif own:
            yield line
