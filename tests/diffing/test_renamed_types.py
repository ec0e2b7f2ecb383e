"""Types that are renamed between two releases: their users did not change."""

from __future__ import annotations

from pathlib import Path

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.findings import Comparison, Verdict
from tests.build import build_library
from tests.cases import rendered

OLD = """
struct point { int x, y; };
struct view { struct point *at; };
struct line { struct point *from; int width; };
struct view *view_new(void) { return 0; }
struct line *line_new(void) { return 0; }
struct point *point_new(void) { return 0; }
"""

NEW = """
struct spot { int x, y, z; };
struct sight { struct spot *at; };
struct line { struct spot *from; int width; };
struct sight *view_new(void) { return 0; }
struct line *line_new(void) { return 0; }
struct spot *point_new(void) { return 0; }
"""


def compared(old: str, new: str) -> Comparison:
    before, after = (read_snapshot(build_library(each), ExtractOptions(library="libcase")) for each in (old, new))
    return compare(before, after)


def test_a_type_that_is_renamed_along_with_one_that_holds_it_breaks_no_user() -> None:
    found = compared(OLD, NEW)
    assert found.verdict is Verdict.COMPATIBLE_WITH_RISK, rendered(found)
    assert [(each.kind, each.name.spelling) for each in found.findings] == [
        ("type_field_added.trailing", "point"),
        ("tag_type_renamed", "point"),
        ("tag_type_renamed", "view"),
    ]


def test_a_type_that_nobody_sees_into_is_renamed_once(tmp_path: Path) -> None:
    """It was reported twice: as one with another name, and as one with other members."""
    sides = []
    for version, tag in (("1.0", "__handle"), ("1.1", "handle_s")):
        public = f"typedef struct {tag} *handle;\nhandle handle_new(void);\n"
        header = tmp_path / version / "handle.h"
        header.parent.mkdir()
        header.write_text(public)
        source = f"{public}struct {tag} {{ int x, y; }};\nhandle handle_new(void) {{ return 0; }}\n"
        options = ExtractOptions(library="libcase", headers=HeaderOptions.given([str(header)]))
        sides.append(read_snapshot(build_library(source), options))
    found = compare(sides[0], sides[1])
    assert [each.name.spelling for each in found.findings].count("__handle") == 1, rendered(found)
