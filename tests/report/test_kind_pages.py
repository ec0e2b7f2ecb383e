"""The list of kinds of change, and the page of each that a site has: none missing, none left over, with its case."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from abistore.diffing.context import load
from abistore.model.kind_names import FORMER_NAMES, kind_of, name_now, variant_of
from abistore.report.plain import labelled

DOCS = Path(__file__).parents[2] / "docs"
LINK = re.compile(r"\]\(([\w./-]*\.md)?(?:#([\w.-]+))?\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    runpy.run_path(str(DOCS / "generate.py"))["write_site"](folder)
    return folder


def test_the_list_has_each_kind_once_with_its_sentence() -> None:
    text = (DOCS / "reference" / "kinds.md").read_text()
    assert sorted(re.findall(r'<a id="([\w.]+)"', text)) == sorted({*load(), *map(kind_of, load())})
    for name, rule in load().items():
        if variant_of(name):
            assert f"`.{variant_of(name)}` | {rule.impact.label} | {rule.evidence} | {rule.title} |" in text
        else:
            assert f"`{name}` | {rule.element} | {rule.evidence} | {rule.title} |" in text


def test_the_list_tells_what_kinds_were_called_before() -> None:
    text, rows = (DOCS / "reference" / "kinds.md").read_text(), [(before, name_now(before)) for before in FORMER_NAMES]
    assert all(f"| `{before}` | [`{now}`](#{now}) |" in text for before, now in rows)


def test_a_site_has_a_page_for_each_kind(site: Path) -> None:
    assert {page.stem for page in (site / "reference" / "kinds").iterdir()} == set(map(kind_of, load()))
    assert (site / "start" / "quickstart.md").read_text() == (DOCS / "start" / "quickstart.md").read_text()


def test_links_to_kinds_lead_somewhere(site: Path) -> None:
    anchors = {"variants", *re.findall(r'<a id="([\w.]+)"', (site / "reference" / "kinds.md").read_text())}
    for page in (site / "reference" / "kinds.md", *(site / "reference" / "kinds").iterdir()):
        for file, anchor in LINK.findall(page.read_text().partition("## Example")[0]):
            assert not file or (page.parent / file).is_file(), f"{page.name}: {file}"
            assert not anchor or anchor in anchors, f"{page.name}: #{anchor}"


def test_a_page_tells_what_happens_and_how_to_mend_it(site: Path) -> None:
    page = (site / "reference" / "kinds" / "func_removed.md").read_text()
    for part in (
        "# func_removed",
        "breaking · evidence: symbol",
        "**Fix:** ",
        "## Example",
        "Before:",
        "## Stays silent",
    ):
        assert part in page


def test_blocks_of_a_case_are_labelled() -> None:
    text = '```cpp old flags="-g -O2" soname=x\nint a;\n```\n\n```map new\nV1 { };\n```\n\n```findings\nnone\n```'
    assert labelled(text) == (
        "Before (`-g -O2`):\n\n```cpp\nint a;\n```\n\nAfter (the version script):\n\n```text\nV1 { };\n```\n\n"
        "What abistore finds:\n\n```text\nnone\n```"
    )


def test_findings_are_wrapped_and_long_lists_of_them_cut() -> None:
    long = "notice  kind  " + ", ".join(f"name{number}" for number in range(200))
    source = "int " + "a" * 200 + ";"
    shown = labelled(f"```c old\n{source}\n```\n\n```findings\nnone\n{long}\n```", 80).splitlines()
    assert source in shown
    findings = shown[shown.index("```text") + 1 : -1]
    assert findings[0] == "none"
    assert len(findings) == 4
    assert max(map(len, findings)) <= 80
    assert findings[-1].endswith(", ...")
