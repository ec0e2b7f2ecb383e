"""The pages that are generated when the site is built, and what MkDocs does with the others."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from posixpath import join, normpath, relpath
from typing import TYPE_CHECKING, Any

from abistore.cli.reference import SCHEMAS, command_line, schema
from docs.kinds import FOLDER, evidence_page, kind_pages, subject_page, subject_title, subjects_of_kinds

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
ROOT = DOCS.parent

ELSEWHERE = {
    "CHANGELOG.md": "reference/changelog.md",
    "CONTRIBUTING.md": "lab/contributing.md",
    "SECURITY.md": "reference/security.md",
    "examples/ci/README.md": "questions/ci-examples.md",
    "examples/ci/github/action/README.md": "questions/github-action.md",
}
"""Pages that are kept outside ``docs``, where people look for them, and their places in the site."""

LINK = re.compile(r"(\]\()([^)#\s:]+)((?:#[^)\s]*)?\))")
ROWS = re.compile(r"<!-- rows (\S+): (.*) -->")
LINE = re.compile(r"<!-- line (\S+): (.*) -->")
"""What a page shows of another one, which has it as it was measured last."""
TABLE = re.compile(r"(?:^\|.*\n)+", re.M)
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
NESTED = re.compile(r"^ {2,3}(?=- )", re.M)
"""An item in a list: Python-Markdown wants four spaces before it."""


@cache
def generated() -> Mapping[str, str]:
    """The text of every generated page and schema, by its place in the site."""
    return {
        "reference/commands.md": command_line(),
        "reference/schemas.md": _schemas(),
        **{f"reference/schemas/{name}.json": schema(name) for name in SCHEMAS},
        "lab/kinds-by-evidence.md": evidence_page(),
        "lab/decisions.md": _decisions(),
        **kind_pages(),
        **{place: _moved(source, place) for source, place in ELSEWHERE.items()},
    }


def _schemas() -> str:
    rows = (f"| [`{name}`](schemas/{name}.json) | {each.about} |" for name, each in SCHEMAS.items())
    text = "# JSON Schemas\n\n`abistore config schema NAME` prints each.\n\n| schema | what it describes |\n|---|---|\n"
    return text + "\n".join(rows) + "\n"


def _decisions() -> str:
    pages = sorted((DOCS / "lab" / "decisions").glob("*.md"))
    titles = ((page.name, page.read_text().partition("\n")[0].removeprefix("# ")) for page in pages)
    return "# Decisions\n\n" + "".join(f"- [{title}](decisions/{name})\n" for name, title in titles)


def _moved(source: str, place: str) -> str:
    """A page of the project as a page of the site: its links lead to the same pages."""

    def link(found: re.Match[str]) -> str:
        target = normpath(join(source, "..", found[2]))
        inside = ELSEWHERE.get(target) or target.removeprefix("docs/")
        return f"{found[1]}{relpath(inside, join(place, '..'))}{found[3]}"

    return LINK.sub(link, (ROOT / source).read_text())


def filled(markdown: str, place: str) -> str:
    """A page of the site: with lists and lines of the lab instead of marks, and links to pages that are elsewhere."""
    for mark, make in LISTS.items():
        if mark in markdown:
            markdown = markdown.replace(mark, "".join(make()))
    markdown = ROWS.sub(_rows, LINE.sub(_line, markdown))

    def link(found: re.Match[str]) -> str:
        target = normpath(join("docs", place, "..", found[2]))
        inside = ELSEWHERE.get(target)
        return f"{found[1]}{relpath(inside, join(place, '..'))}{found[3]}" if inside else found[0]

    parts = FENCED.split(LINK.sub(link, markdown))
    return "".join(part if number % 2 else NESTED.sub("    ", part) for number, part in enumerate(parts))


def _rows(mark: re.Match[str]) -> str:
    """The table of a page of which every row begins with the cells of one name. Raises :class:`LookupError`."""
    chosen = [name.split(" / ") for name in mark[2].split("; ")]
    for table in TABLE.findall((DOCS / mark[1]).read_text()):
        head, rule, *rows = table.splitlines()
        found = {name: row for name in map(tuple, chosen) for row in rows if _cells(row)[: len(name)] == [*name]}
        if len(found) == len(chosen):
            return "\n".join((head, rule, *found.values()))
    raise LookupError(f"{mark[1]} has no table with {mark[2]}")


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def _line(mark: re.Match[str]) -> str:
    """The lines of a page that begin as the mark says. Raises :class:`LookupError`."""
    found = re.findall(rf"^{mark[2]}.*$", (DOCS / mark[1]).read_text(), re.M)
    if not found:
        raise LookupError(f"{mark[1]} has no line {mark[2]}")
    return "\n\n".join(found)


def _rooms() -> Iterator[str]:
    package = DOCS.parent / "abistore"
    yield "| room | modules | one sentence |\n|---|--:|---|\n"
    for init in sorted(package.rglob("*/__init__.py")):
        said = ast.get_docstring(ast.parse(init.read_text())) or ""
        modules = len(list(init.parent.glob("*.py"))) - 1
        yield f"| `{init.parent.relative_to(package)}/` | {modules} | {_sentence(said)} |\n"


def _sentence(text: str) -> str:
    """The first line of a docstring as Markdown."""
    return re.sub(r":\w+:`(?:[\w.]+\.)?(\w+)`", r"`\1`", text.partition("\n")[0]).replace("``", "`")


def _dumps() -> Iterator[str]:
    measured = json.loads((DOCS / "reference" / "other-dumps.json").read_text())
    yield "| | cases | cases read | findings | false | missed | more |\n|---|--:|--:|--:|--:|--:|--:|\n"
    for form, tool in (("abixml", "ABIXML (abidw 2.2)"), ("abicc", "ABICC dumps (abi-dumper 1.2)")):
        sums = measured[form]
        cells = (str(sums[what]) for what in ("cases", "read", "findings", "false", "missed", "invented"))
        yield f"| {tool} | {' | '.join(cells)} |\n"


LISTS = {"<!-- rooms -->": _rooms, "<!-- measured -->": _dumps}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put a page for each subject of kinds into the navigation."""
    subjects = [{subject_title(each): f"{FOLDER}/{subject_page(each)}"} for each in subjects_of_kinds()]
    _section(config.nav, f"{FOLDER}/index.md").extend(subjects)
    return config


def _section(nav: Any, first: str) -> list[Any]:
    """The section of the navigation that begins with a page."""
    for each in nav:
        for inner in each.values() if isinstance(each, dict) else ():
            if isinstance(inner, list):
                found = inner if inner[0] == first else _section(inner, first)
                if found:
                    return found
    return []


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is generated."""
    from mkdocs.structure.files import File  # tests read generated pages without MkDocs

    for place, text in generated().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in the lists of a page, and have search find the lab after what readers look up."""
    if page.file.src_uri.startswith("lab/"):
        page.meta["search"] = {"boost": 0.2}
    return filled(markdown, page.file.src_uri)
