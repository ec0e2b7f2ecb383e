"""Patches of headers, applied to texts."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from abistore.errors import PatchError
from abistore.extract.reader import EditedHeader
from abistore.service.whatif import patched

ROOT = Path("/project/include")
FILES = {
    ROOT / "geo" / "point.h": "struct point {\n    int x;\n    int y;\n};\n",
    ROOT / "geo" / "line.h": "#include <geo/point.h>\nstruct line { struct point a, b; };\n",
    ROOT / "old" / "line.h": "struct old_line;\n",
}
PATCH = """diff --git a/include/geo/point.h b/include/geo/point.h
--- a/include/geo/point.h
+++ b/include/geo/point.h
@@ -1,4 +1,5 @@
 struct point {
     int x;
     int y;
+    int z;
 };
"""


def apply(patch: str) -> tuple[EditedHeader, ...]:
    return patched(patch, FILES, [ROOT])


def test_a_file_is_found_by_the_end_of_its_path() -> None:
    (found,) = apply(PATCH)
    assert found.path == ROOT / "geo" / "point.h"
    assert found.text == "struct point {\n    int x;\n    int y;\n    int z;\n};\n"


def test_a_diff_may_be_without_folders_and_without_git() -> None:
    (found,) = apply("--- point.h\n+++ point.h\n@@ -2,1 +2,1 @@\n-    int x;\n+    long x;\n")
    assert found.text == "struct point {\n    long x;\n    int y;\n};\n"


def test_a_new_file_lies_in_the_folder_that_its_path_names() -> None:
    new = "diff --git a/include/geo/new.h b/include/geo/new.h\nnew file mode 100644\n--- /dev/null\n"
    (found,) = apply(f"{new}+++ b/include/geo/new.h\n@@ -0,0 +1,1 @@\n+struct fresh;\n")
    assert found == EditedHeader(ROOT / "geo" / "new.h", "struct fresh;\n")


def test_a_file_that_goes_has_no_text() -> None:
    gone = "--- a/include/old/line.h\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-struct old_line;\n"
    assert apply(gone) == (EditedHeader(ROOT / "old" / "line.h", None),)


def test_a_renamed_file_without_changes_changes_nothing() -> None:
    renamed = "diff --git a/geo/point.h b/geo/p.h\nsimilarity index 100%\nrename from geo/point.h\nrename to geo/p.h\n"
    with pytest.raises(PatchError, match="no changes in it"):
        apply(renamed)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("", "no changes"),
        ("what is this\n", "no changes"),
        (PATCH.replace("int y;\n+", "int why;\n+"), "does not apply to point.h"),
        (PATCH.replace("@@ -1,4 +1,5 @@", "@@ -100,4 +100,5 @@"), "does not apply to point.h"),
        (PATCH.replace("point.h", "circle.h"), "no header that was given has this name"),
        ("--- line.h\n+++ line.h\n@@ -1,1 +1,1 @@\n-struct old_line;\n+struct line;\n", "2 headers could be meant"),
        (PATCH + "x" * (5 << 20), "more than"),
    ],
)
def test_what_does_not_apply_is_refused_with_its_reason(patch: str, said: str) -> None:
    with pytest.raises(PatchError, match=said) as raised:
        apply(patch)
    assert raised.value.hint
    assert raised.value.code == "patch"


def test_a_path_of_many_folders_costs_no_more_than_the_paths_of_the_headers() -> None:
    begun = time.process_time()
    with pytest.raises(PatchError) as refused:
        apply(PATCH.replace("include/geo/point.h", f"{'x/' * 100_000}missing.h"))
    assert time.process_time() - begun < 5
    assert refused.value.hint == "give its folder with --header"
