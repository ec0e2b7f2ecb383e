"""Is what-if right? Edits of real headers, each judged before it is built and after.

``python -m benchmarks.whatif`` builds each library as it is released and with each edit of ``whatif_edits.toml``,
asks ``abistore whatif`` about the edit of the headers, compares the two builds, and prints both answers. It needs gcc
and g++.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.store import ABISTORE
from examples.more_recipes import ALL
from examples.obtain import run, source

EDITS = Path(__file__).with_name("whatif_edits.toml")
HEADERS = {"libhttp_parser": "http_parser.h", "libpolyclipping": "clipper.hpp"}
SOURCES = {"libhttp_parser": "http_parser.c", "libpolyclipping": "clipper.cpp"}


@dataclass(frozen=True)
class Edit:
    """One edit of a library's header, and of its source so that it still builds."""

    library: str
    title: str
    header: tuple[tuple[str, str], ...]
    sources: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Answers:
    """What was said of an edit: the verdict, and the kinds of change that break."""

    edit: Edit
    asked: str
    built: str
    asked_kinds: tuple[str, ...]
    built_kinds: tuple[str, ...]

    @property
    def equal(self) -> bool:
        """Whether both say the same."""
        return self.asked == self.built


def edits() -> tuple[Edit, ...]:
    """All edits, in order."""
    listed = tomllib.loads(EDITS.read_text())["edit"]
    return tuple(
        Edit(
            each["library"],
            each["title"],
            tuple((old, new) for old, new in each["header"]),
            tuple((old, new) for old, new in each.get("sources", ())),
        )
        for each in listed
    )


def answers(edit: Edit, folder: Path) -> Answers:
    """Both answers about an edit; ``folder`` is for what is built."""
    header, text = HEADERS[edit.library], SOURCES[edit.library]
    files = {name: _released(edit.library, name) for name in (header, text)}
    edited = {header: _edited(files[header], edit.header), text: _edited(files[text], edit.sources)}
    old, new = (_built(edit.library, folder / each, held) for each, held in (("old", files), ("new", edited)))
    patch = folder / "edit.diff"
    lines = [files[header].splitlines(True), edited[header].splitlines(True)]
    patch.write_text("".join(difflib.unified_diff(*lines, f"a/{header}", f"b/{header}")))
    before, after = folder / "old" / header, folder / "new" / header
    asked = _said(["whatif", old, "--header-patch", patch, "--header", before])["what_if"]["judged"][0]["report"]
    built = _said(["compare", old, new, "--old-header", before, "--new-header", after])
    return Answers(edit, asked["verdict"], built["verdict"], _kinds(asked), _kinds(built))


def _released(library: str, name: str) -> str:
    recipe = ALL[library]
    folder = source(recipe.origin, recipe.package, recipe.releases[-1][1])
    return next((folder / recipe.root).glob(name)).read_text(errors="replace").replace("\r\n", "\n")


def _edited(text: str, changes: tuple[tuple[str, str], ...]) -> str:
    for old, new in changes:
        if old not in text:
            raise ValueError(f"the release does not hold {old!r}")
        text = text.replace(old, new)
    return text


def _built(library: str, folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    recipe = ALL[library]
    words = [recipe.compiler, "-shared", "-fPIC", "-g", "-O2", "-w", *recipe.flags, f"-Wl,-soname,{recipe.soname}"]
    run([*words, SOURCES[library], "-o", recipe.soname], folder)
    return folder / recipe.soname


def _said(words: list[Any]) -> dict[str, Any]:
    done = subprocess.run([ABISTORE, *map(str, words), "--json"], capture_output=True, text=True)
    if done.returncode not in (0, 2, 4):
        raise RuntimeError(f"{words}: exit {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}")
    answer: dict[str, Any] = json.loads(done.stdout)["data"]
    return answer


def _kinds(report: dict[str, Any]) -> tuple[str, ...]:
    return tuple(sorted({each["kind"] for each in report["changes"] if each["impact"] in ("breaking", "api_break")}))


def table(found: list[Answers]) -> Iterator[str]:
    """The answers as a table."""
    yield "| library | edit | what-if | built and compared | equal |"
    yield "|---|---|---|---|---|"
    for each in found:
        equal = "yes" if each.equal else "NO"
        yield f"| {each.edit.library} | {each.edit.title} | {each.asked} | {each.built} | {equal} |"
    yield ""
    yield f"{sum(each.equal for each in found)} of {len(found)} verdicts are equal."


def main() -> None:
    """Print the table, and the kinds where they differ."""
    with TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        folders = [Path(scratch) / str(number) for number in range(len(edits()))]
        for folder in folders:
            folder.mkdir()
        found = list(pool.map(answers, edits(), folders))
    print("\n".join(table(found)))
    for each in found:
        if each.asked_kinds != each.built_kinds:
            print(f"- {each.edit.title}: {', '.join(each.asked_kinds)} / {', '.join(each.built_kinds)}")
    sys.exit(not all(each.equal for each in found))


if __name__ == "__main__":
    main()
