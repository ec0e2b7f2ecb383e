"""The size of the code: lines, modules, and imports between rooms, of each package.

Run ``python -m benchmarks.size [COMMIT ...]``: a cell has the number of each commit. Without any, the files that lie
here are counted.

A room is a folder that holds modules. *Lines* are lines with code: no blank lines, comments and docstrings. An import
between rooms is a pair of modules of one package that stand in two folders, of which one imports the other.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tempfile
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RULES = ("abistore/diffing/rules/", "abistore/rules/")
"""Where the rules are, and where they were: they are counted by themselves."""

SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


class Size(NamedTuple):
    """What one package holds."""

    lines: int = 0
    modules: int = 0
    rooms: int = 0
    fullest: int = 0
    crossings: int = 0
    roads: int = 0


def code_lines(text: str) -> int:
    """How many lines of a module hold code."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(_docstring_lines(ast.parse(text))))


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        for said in getattr(node, "body", []) if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if (
                isinstance(said, ast.Expr)
                and isinstance(said.value, ast.Constant)
                and isinstance(said.value.value, str)
            ):
                yield from range(said.lineno, (said.end_lineno or said.lineno) + 1)


def imported(text: str, modules: Mapping[str, str]) -> Iterator[str]:
    """The names of the modules that a module imports, out of ``modules``."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names} & modules.keys()
            yield from below or ({node.module} & modules.keys())


def package_of(path: str) -> str:
    """The package that a file is counted under."""
    if path.startswith(RULES):
        return "rules"
    return path.split("/")[1] if path.count("/") > 1 else "top"


def sizes(root: Path) -> dict[str, Size]:
    """The size of each package below ``root/abistore``."""
    files = sorted(path for path in (root / "abistore").rglob("*.py"))
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in files}
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in texts}
    found: dict[str, Size] = {}
    for package in sorted({package_of(path) for path in texts}):
        own = {path: text for path, text in texts.items() if package_of(path) == package}
        named = [path for path in own if not path.endswith("/__init__.py")]
        rooms = list(map(_room, named))
        crossings = list(_crossings(own, modules))
        found[package] = Size(
            lines=sum(map(code_lines, own.values())),
            modules=len(named),
            rooms=len(set(rooms)),
            fullest=max(map(rooms.count, rooms), default=0),
            crossings=len(crossings),
            roads=len({(_room(importer), _room(other)) for importer, other in crossings}),
        )
    return found


def _crossings(own: Mapping[str, str], modules: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The modules of one package that import one of another room, each with the imported one."""
    for path, text in own.items():
        for other in {modules[name] for name in imported(text, modules)} & own.keys():
            if _room(other) != _room(path):
                yield path, other


def _room(path: str) -> str:
    return path.rpartition("/")[0]


def at_commit(commit: str) -> dict[str, Size]:
    """The sizes as of a commit of this repository."""
    packed = subprocess.run(["git", "archive", commit, "abistore"], cwd=ROOT, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder)
        return sizes(Path(folder))


def total(found: Mapping[str, Size]) -> Size:
    """All packages but the rules together."""
    parts = [size for package, size in found.items() if package != "rules"]
    return Size(
        sum(part.lines for part in parts),
        sum(part.modules for part in parts),
        sum(part.rooms for part in parts),
        max(part.fullest for part in parts),
        sum(part.crossings for part in parts),
        sum(part.roads for part in parts),
    )


def table(found: Sequence[Mapping[str, Size]]) -> Iterator[str]:
    """The sizes as a Markdown table; a cell has the number of each state of the code, in their order."""
    yield "| package | lines | modules | rooms | modules of the fullest room | imports between rooms | roads |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    everything = [{**sizes_, "without rules": total(sizes_)} for sizes_ in found]
    for package in everything[-1]:
        numbers = zip(*(sizes_.get(package, Size()) for sizes_ in everything), strict=True)
        cells = (" → ".join(f"{number:,}" for number in measure) for measure in numbers)
        yield f"| {package} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print(*table([at_commit(commit) for commit in sys.argv[1:]] or [sizes(ROOT)]), sep="\n")
