"""The HTML page: complete, self-contained, and working in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from abistore.model.findings import Verdict
from abistore.report import render
from abistore.report.model import ComparedDeclaration, Member, RecordLayout, Report, Style
from abistore.report.outline import outline
from tests.report.comparisons import MOVED, comparison
from tests.report.golden import report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "input"}
PHONE = 360

PROBE = """
const result = {};
for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument, view = frame.contentWindow;
  if (frame.id === "one") {
    result.one = { told: page.querySelector("output").textContent, pairs: page.querySelectorAll(".pair").length };
    continue;
  }
  const shown = () => [...page.querySelectorAll(".change")].filter((one) => !one.hidden).length;
  const type = (text) => {
    page.querySelector("#text").value = text;
    page.querySelector("#text").dispatchEvent(new view.Event("input"));
    return shown();
  };
  const pick = (kind) => {
    page.querySelector("#kind").value = kind;
    page.querySelector("#kind").dispatchEvent(new view.Event("change"));
    return shown();
  };
  const breaking = page.querySelector("button.breaking");
  const seen = { all: shown() };
  seen.evidence = [...page.querySelectorAll(".sides td")].filter((one) => one.textContent.includes("layout partial"))
    .map((one) => one.getBoundingClientRect().width > 40);
  seen.width = page.scrollingElement.scrollWidth;
  seen.told = page.querySelector("output").textContent;
  seen.text = type("geo::shape stamp");
  seen.nothing = type("no such thing");
  seen.sections = [...page.querySelectorAll(".impact")].filter((one) => !one.hidden).length;
  type("");
  seen.kind = pick("func_removed");
  pick("");
  breaking.click();
  seen.unpressed = shown();
  breaking.click();
  seen.again = shown();
  seen.ground = view.getComputedStyle(page.body).backgroundColor;
  const boxes = [...page.querySelector(".pair").children].map((one) => one.getBoundingClientRect());
  seen.stacked = boxes[1].top >= boxes[0].bottom;
  const cell = (text) => [...page.querySelectorAll(".grid > i")].find((one) => one.textContent === text);
  const row = page.querySelector(".grid > i").getBoundingClientRect().width;
  seen.quarter = cell("int id").getBoundingClientRect().width / row;
  result[frame.id] = seen;
}
document.body.textContent = JSON.stringify(result);
"""


class Balance(HTMLParser):
    """Notes tags that do not match, and every address that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in {"src", "srcset"} or (name == "href" and not (value or "").startswith("#")):
                self.fetched.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(made: Any = None) -> str:
    return render(made or report(), "html", Style())


def virtual_change() -> Report:
    """A class whose virtual functions changed places: what an object holds is drawn alike on both sides."""
    layout = RecordLayout(8, (Member("", "vtable pointer", 0, 64, "vptr"),))
    text = "struct geo::Shape {{\n    virtual void {0}();  // slot 0\n}};  // 8 bytes"
    moved = ComparedDeclaration("geo::Shape", "record", text.format("f"), text.format("g"), layout, layout)
    return outline(comparison(MOVED), declarations=(moved,))


def test_layouts_that_are_the_same_are_not_drawn_twice() -> None:
    text = page(virtual_change())
    assert '<div class="pair">' not in text
    assert "virtual void f();" in text
    assert "virtual void g();" in text


def test_a_page_is_well_formed_and_fetches_nothing() -> None:
    parser = Balance()
    parser.feed(page())
    assert parser.open == []
    assert parser.fetched == []
    assert "@import" not in page()
    assert "url(" not in page()
    assert len(parser.ids) == len(set(parser.ids))


def test_a_page_without_data_is_small() -> None:
    assert len(page(outline(comparison(verdict=Verdict.NO_CHANGE))).encode()) < 20_000


def test_nothing_in_a_name_is_taken_for_markup() -> None:
    odd = replace(MOVED, part="</script><img src=x onerror=alert(1)>", description="<b>&amp;", new_value='"><i>')
    text = page(outline(comparison(odd)))
    assert "<img" not in text
    assert "&lt;b&gt;&amp;amp;" in text
    assert text.count("<script>") == 1


HOSTILE = """</style></script><img src=x onerror="alert(1)" title='a'>{{ 7 * 7 }}{% if %}`<b>`:7"""


def hostile(value: Any) -> Any:
    """A report, or a part of it, with every text replaced by one that is markup, script and template."""
    match value:
        case str():
            return HOSTILE
        case tuple():
            return tuple(map(hostile, value))
        case msgspec.Struct():
            return replace(value, **{name: hostile(getattr(value, name)) for name in value.__struct_fields__})
    return value


def test_nothing_in_any_text_of_a_report_is_markup_or_template() -> None:
    known = report()
    assert known.decision is not None
    decision = replace(hostile(known.decision), outcome=known.decision.outcome)
    words = {"verdict": known.verdict, "unequal_evidence": known.unequal_evidence, "decision": decision}
    made = replace(hostile(known), **words)
    impacts = zip(made.changes, known.changes, strict=True)
    made = replace(made, changes=tuple(replace(each, impact=true.impact, subject="record") for each, true in impacts))
    text = render(made, "html", Style())
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    assert "<img" not in text
    assert "{{ 7 * 7 }}" in text
    assert text.count("<style>") == text.count("</style>") == text.count("<script>") == text.count("</script>") == 1


def test_one_value_that_is_too_long_for_its_line_stands_below() -> None:
    text = page(outline(comparison(replace(MOVED, old_value="v" * 200, new_value="v" * 200))))
    assert f"<pre>  {'v' * 200}\n</pre>" in text


def test_everything_is_in_the_page() -> None:
    text = page()
    for change in (*report().changes, *report().suppressed):
        assert escape(change.display) in text
    assert "partial-debug-info" not in text
    assert "1 of 4 exports is not described" in text
    assert "build all units with -g" in text
    assert "by internal &lt;names&gt;" in text


def test_a_record_is_drawn_once_and_linked_from_its_other_changes() -> None:
    text = page()
    first, second = (change.id for change in report().changes[:2])
    assert text.count("before, 96 bytes") == 1
    assert f'<a href="#{first}">before and after</a>' in text[text.index(f'id="{second}"') :]


def test_members_are_drawn_at_their_bits() -> None:
    text = page()
    grid = text[text.index("after, 104 bytes") :]
    cells = dict(re.findall(r'title="([^"]+): offset [^"]*" style="grid-area:([^"]+)"', grid))
    assert cells["int id"] == "3/2/auto/34"
    assert cells["hole"].endswith("/auto/66")
    assert cells["unsigned int dirty : 1"] == "5/10/auto/11"
    assert cells["unsigned int depth : 6"] == "5/11/auto/17"


@pytest.mark.full
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_works_in_a_browser(dark: bool, tmp_path: Path) -> None:
    frames = "".join(
        f'<iframe id="{name}" width="{width}" height="900" srcdoc="{escape(page())}"></iframe>'
        for name, width in (("phone", PHONE), ("desk", 1100))
    )
    frames += f'<iframe id="one" srcdoc="{escape(page(virtual_change()))}"></iframe>'
    file = tmp_path / "probe.html"
    script = f"addEventListener('load', () => {{ {PROBE} }});"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{frames}<script>{script}</script>")
    done = subprocess.run(
        [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
            *(f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--window-size=1600,1200"),
            *(["--force-dark-mode"] if dark else []),
            *("--dump-dom", file.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "CONSOLE" not in done.stderr
    found = json.loads(re.sub("<[^>]+>", "", done.stdout))
    assert found.pop("one") == {"told": "1 change", "pairs": 0}
    for seen in found.values():
        assert seen["evidence"] == [True]
        assert (seen["all"], seen["told"], seen["again"]) == (7, "7 changes", 7)
        assert (seen["text"], seen["nothing"], seen["sections"], seen["kind"], seen["unpressed"]) == (1, 0, 0, 1, 4)
        assert (seen["ground"] == "rgb(250, 249, 246)") is not dark
        assert abs(seen["quarter"] - 0.5) < 0.02
    assert found["phone"]["width"] <= PHONE
    assert (found["phone"]["stacked"], found["desk"]["stacked"]) == (True, False)
