"""Packages and folders on the command line: releases of several libraries, one table and one verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from abistore.cli.reference import schema
from abistore.interface import compare, ruling
from abistore.report.model import formats
from tests import packages
from tests.build import build_library
from tests.cli.conftest import Call

ADD = "int case_add(int a, int b) { return a + b; }"
SUM = "int case_sum(int a, int b) { return a + b; }"
USE = "int case_add(int, int); int user_sum(int a) { return case_add(a, 1); }"
POINT = "struct point {{ int x, y{more}; }}; int {name}(struct point p) {{ return p.x; }}"


def case(source: str = ADD, soname: str = "libcase.so.1") -> Path:
    return build_library(source, soname=soname, name="libcase.so")


def user(library: Path, source: str = USE) -> Path:
    flags = ("-g", "-O1", "-Wl,--no-as-needed", str(library))
    return build_library(source, soname="libuser.so.1", name="libuser.so", flags=flags)


def release(place: Path, version: str, *libraries: Path) -> Path:
    held = {f"usr/lib/{library.name}.1": library for library in libraries}
    return packages.deb(place, held, name="libcase1", version=version)


@pytest.fixture
def broken(tmp_path: Path) -> tuple[Path, Path]:
    """Two releases: the second one of `libcase` lacks a function that `libuser` calls."""
    old, new = case(), case(SUM)
    return release(tmp_path, "1.0", old, user(old)), release(tmp_path, "2.0", new, user(old))


def test_two_packages_give_one_table_and_one_verdict(broken: tuple[Path, Path], abistore: Call) -> None:
    done = abistore("compare", *map(str, broken))
    assert done.code == 4
    assert "libcase1 1.0 -> libcase1 2.0: BREAKING" in done.out
    assert "libcase  libcase.so.1  1  BREAKING, 1 breaking, 1 compatible" in done.out
    assert "1 library without a change: libuser" in done.out
    assert "bundle_intra_dep_removed: needs a symbol that libcase no longer exports" in done.out
    assert "func_removed: the function is no longer exported, in libcase" in done.out


@pytest.mark.parametrize("format", formats())
def test_each_format_shows_the_libraries(format: str, broken: tuple[Path, Path], abistore: Call) -> None:
    done = abistore("compare", *map(str, broken), "--format", format)
    assert done.code == 4
    for word in ("libcase", "libuser", "bundle_intra_dep_removed", "func_removed"):
        assert word in done.out, word


def test_the_report_of_several_libraries_fits_the_schema(broken: tuple[Path, Path], abistore: Call) -> None:
    report = abistore("compare", *broken, "--json").json
    jsonschema.validate(report, json.loads(schema("report")))
    assert [(one["name"], one["state"], one["verdict"]) for one in report["libraries"]] == [
        ("libcase", "compared", "BREAKING"),
        ("libuser", "compared", "NO_CHANGE"),
    ]
    assert report["summary"]["total_changes"] == len(report["changes"]) == 3


@pytest.mark.parametrize("kind", ["folder", "wheel", "tar", "conda"])
def test_packages_of_each_kind_compare_alike(kind: str, tmp_path: Path) -> None:
    makers: dict[str, Callable[[Path, packages.Files, str], Path]] = {
        "folder": lambda place, files, version: packages.folder(place / f"v{version}", files),
        "wheel": lambda place, files, version: packages.wheel(place, files, version=version),
        "tar": lambda place, files, version: packages.tar(place, files, name=f"case-{version}"),
        "conda": lambda place, files, version: packages.conda(place, files, version=version),
    }
    sides = (
        makers[kind](tmp_path, {"lib/libcase.so": case(source)}, version)
        for source, version in ((ADD, "1"), (SUM, "2"))
    )
    report = compare(*sides)
    assert (report.verdict, [one.name for one in report.libraries]) == ("BREAKING", ["libcase"])


def test_libraries_that_came_and_went_are_in_the_table(tmp_path: Path, abistore: Call) -> None:
    old, new = case(), case("int extra(void) { return 1; }", soname="libextra.so.1")
    done = abistore("compare", str(release(tmp_path, "1.0", old)), str(packages.tar(tmp_path, {"libextra.so": new})))
    assert done.code == 4
    assert "libcase   libcase.so.1   1  removed" in done.out
    assert "libextra  libextra.so.1  1  added" in done.out


def test_a_finding_that_libraries_share_is_told_once(tmp_path: Path) -> None:
    sides = []
    for version, more in (("1", ""), ("2", ", z")):
        one = build_library(POINT.format(more=more, name="one"), soname="libone.so.1")
        two = build_library(POINT.format(more=more, name="two"), soname="libtwo.so.1")
        sides.append(packages.tar(tmp_path, {"libone.so": one, "libtwo.so": two}, name=f"case-{version}"))
    report = compare(*sides)
    (size,) = (each for each in report.changes if each.symbol == "point")
    assert size.libraries == ("libone", "libtwo")
    assert size.affected == ("one", "two")
    assert size.description.endswith("in libone, libtwo")
    assert report.summary.breaking == 1


def test_a_release_compared_with_itself_has_no_findings(broken: tuple[Path, Path]) -> None:
    for side in broken:
        report = compare(side, side)
        assert (report.verdict, report.changes, report.exit_code) == ("NO_CHANGE", (), 0)


def test_required_evidence_holds_for_each_library(tmp_path: Path, abistore: Call) -> None:
    stripped = tmp_path / "libcase.so"
    subprocess.run(["objcopy", "--strip-debug", case(), stripped], check=True)
    full = case()
    other = build_library(SUM, soname="libother.so.1", name="libother.so")
    sides = (release(tmp_path, "1.0", full, other), release(tmp_path, "2.0", stripped, other))
    done = abistore("compare", *map(str, sides), "--require", "old")
    assert done.code == 72
    assert "libcase 2.0: layout is missing" in done.err
    assert "libcase: layout not compared, new side has no debug information" in " ".join(done.out.split())
    assert abistore("compare", *map(str, sides)).code == 0


def test_policies_and_suppressions_judge_what_stands_between_libraries(
    broken: tuple[Path, Path], tmp_path: Path
) -> None:
    policy, suppressions = tmp_path / "policy.yaml", tmp_path / "suppressions.yaml"
    policy.write_text("base: strict_abi\nkinds:\n  bundle_intra_dep_removed: {impact: risk, reason: known}\n")
    by = ruling(str(policy), [])
    found = {each.kind: each.impact for each in compare(*broken, by=by).changes}
    assert (found["bundle_intra_dep_removed"], found["func_removed"]) == ("risk", "breaking")
    suppressions.write_text("suppressions:\n  - {change_kind: func_removed, symbol: case_add, reason: private}\n")
    report = compare(*broken, by=ruling("strict_abi", [str(suppressions)]))
    assert [each.kind for each in report.suppressed] == ["func_removed"]
    assert not report.notes  # that it took nothing in libuser is no news


def test_a_package_beside_a_library_gives_the_one_of_its_name(broken: tuple[Path, Path], abistore: Call) -> None:
    done = abistore("compare", str(case()), str(broken[1]))
    assert "libcase.so) -> libcase 2.0: BREAKING" in done.out
    done = abistore("compare", str(broken[0]), str(case(SUM)))
    assert "BREAKING" in done.out and "Libraries" not in done.out


def test_a_pattern_picks_the_libraries_of_both_sides(broken: tuple[Path, Path], abistore: Call) -> None:
    done = abistore("compare", *map(str, broken), "--only", "libuser")
    assert done.code == 0
    assert "1 library without a change: libuser" in done.out


def test_a_package_of_several_libraries_dumps_one(broken: tuple[Path, Path], abistore: Call) -> None:
    done = abistore("export", str(broken[0]))
    assert done.code == 65
    assert "contains 2 libraries: libcase (elf-x86_64-64-little), libuser (elf-x86_64-64-little)" in done.err
    assert "choose one with --only or --target" in done.err
    dumped = abistore("export", str(broken[0]), "--only", "libcase")
    assert json.loads(dumped.out)["library"] == "libcase"


def test_each_side_has_its_development_package(tmp_path: Path, abistore: Call) -> None:
    stripped = tmp_path / "libcase.so"
    subprocess.run(["objcopy", "--strip-debug", case(), stripped], check=True)
    sides = [release(tmp_path, version, stripped) for version in ("1.0", "2.0")]
    headers = [f"int case_add(int, int);\n#define CASE_LIMIT {limit}\n".encode() for limit in (3, 4)]
    devel = [
        packages.deb(tmp_path, {"usr/include/case.h": text, "usr/lib/libcase.so": "libcase.so.1"}, name=f"dev{number}")
        for number, text in enumerate(headers)
    ]
    given = ("--old-devel-package", str(devel[0]), "--new-devel-package", str(devel[1]))
    done = abistore("compare", *map(str, sides), *given)
    assert "CASE_LIMIT" in done.out


def test_a_missing_package_is_no_reference(broken: tuple[Path, Path], abistore: Call) -> None:
    done = abistore("compare", str(broken[0]), "./nothing.deb")
    assert done.code == 65
    assert "no such file" in done.err or "contains 2 libraries" in done.err


def test_packages_leave_nothing_behind(
    broken: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    compare(*broken)
    assert not list(place.iterdir())
    shutil.rmtree(place)


def test_a_second_library_of_one_name_is_told_and_does_not_take_the_place_of_the_first(
    tmp_path: Path, abistore: Call
) -> None:
    """A copy of what stood before, under another file name, must not be what a gate looks at."""
    kept, gone = case(), case(SUM)
    for version in ("1.0", "1.1"):
        (tmp_path / version).mkdir()
    old = release(tmp_path / "1.0", "1.0", kept)
    shadowed = {"usr/lib/libcase.so.1": gone, "lib/libaaa.so": kept}
    new = packages.deb(tmp_path / "1.1", shadowed, name="libcase1", version="1.1")
    done = abistore("compare", old, new)
    assert (done.code, "BREAKING" in done.out) == (4, True)
    assert "not compared of" in done.out and "lib/libaaa.so (another libcase)" in done.out
    refused = abistore("ingest", new)
    assert (refused.code, "libcase.so.1 and lib/libaaa.so (another libcase)" in refused.err) == (68, True)
    assert abistore("show", "libcase@1.1").code == 67
    stored = abistore("ingest", new, "--against", "prev", "--require", "none")
    assert "NOT STORED: lib/libaaa.so (another libcase)" in stored.out


def test_a_soname_that_moves_inside_a_package_of_the_old_name_is_allowed_by_no_rule(
    abistore: Call, tmp_path: Path
) -> None:
    """Programs of other packages, which depend on the name, are left with the new package and do not start."""
    old, new = case(), case(SUM, soname="libcase.so.2")
    first = release(tmp_path, "1.0", old)
    same = packages.deb(tmp_path, {"usr/lib/libcase.so.2": new}, name="libcase1", version="2.0")
    other = packages.deb(tmp_path, {"usr/lib/libcase.so.2": new}, name="libcase2", version="2.0")
    for rule in ("scheme", "package"):
        kept = abistore("compare", first, same, "--allow", rule)
        assert kept.code == 4 and "soname_changed.package_kept" in kept.out
        assert "the package kept its name" in " ".join(kept.out.split())
        assert abistore("compare", first, other, "--allow", rule).code == 0
    assert "soname_changed.package_kept" not in abistore("compare", first, other).out


def test_a_soname_that_nothing_else_explains_breaks_a_package_of_the_old_name(abistore: Call, tmp_path: Path) -> None:
    first = release(tmp_path, "1.0", case())
    new = {"usr/lib/libcase.so.2": case(soname="libcase.so.2")}
    assert abistore("compare", first, packages.deb(tmp_path, new, name="libcase1", version="2.0")).code == 4
    both = {**new, "usr/lib/libcase.so.1": "libcase.so.2"}
    assert abistore("compare", first, packages.deb(tmp_path, both, name="libcase1", version="3.0")).code == 0


def test_which_package_holds_a_library_is_not_known_of_files(abistore: Call) -> None:
    old, new = case(), case(SUM, soname="libcase.so.2")
    done = abistore("compare", old, new, "--allow", "package")
    assert done.code == 4 and "compare the packages" in " ".join(done.out.split())


MAINTAINED = """libcase.so.1 libcase1 #MINVER#
 case_add@Base 1.0
 (optional)case_old@Base 1.0
 (optional|regex)"^case_internal_.*@Base$" 1.0
"""
OPTIONAL = (
    "int case_internal_one(void) { return 1; } int case_old(void) { return 2; } int case_kept(void) { return 3; }"
)


def test_what_maintainers_state_is_shown_and_softens_no_verdict(abistore: Call, tmp_path: Path) -> None:
    held = {"usr/lib/libcase.so.1": case(f"{ADD} {OPTIONAL}")}
    old = packages.deb(tmp_path, held, name="libcase1", version="1.0", symbols=MAINTAINED)
    control = {"Breaks": "other (<< 2), tool (<< 3)", "Source": "case (2.0)"}
    new = packages.deb(tmp_path, {"usr/lib/libcase.so.1": case()}, name="libcase1", version="2.0", control=control)
    told = abistore("compare", old, new)
    lines = " ".join(told.out.split())
    assert told.code == 4
    assert "the maintainer states that libcase1 2.0 breaks other (<< 2), tool (<< 3)" in lines
    assert "the maintainer marks 2 removed exports optional in libcase1 1.0: case_internal_one, case_old" in lines
    assert abistore("ingest", old).code == 0
    assert abistore("ingest", new).code == 0
    assert "marks 2 removed exports optional" in " ".join(abistore("verdict", "libcase@2.0").out.split())
    assert "maintainer" not in abistore("compare", new, new).out


def test_a_stored_release_knows_its_package(abistore: Call, tmp_path: Path) -> None:
    first = release(tmp_path, "1.0", case())
    moved = {"usr/lib/libcase.so.2": case(SUM, soname="libcase.so.2")}
    for name, version in (("libcase1", "2.0"), ("libcase2", "3.0")):
        assert abistore("ingest", packages.deb(tmp_path, moved, name=name, version=version)).code == 0
    assert abistore("ingest", first).code == 0
    for version, code in (("2.0", 4), ("3.0", 0)):
        asked = abistore("verdict", f"libcase@{version}", "--against", "1.0", "--allow", "package")
        assert asked.code == code, asked.out
        assert abistore("compare", "libcase@1.0", f"libcase@{version}", "--allow", "package").code == code


def test_the_package_source_and_suite_of_releases_are_shown(abistore: Call, tmp_path: Path) -> None:
    held = {"usr/lib/libcase.so.1": case()}
    control = {"Source": "case (9)", "Breaks": "tool (<< 3)"}
    package = packages.deb(tmp_path, held, name="libcase1", depends="libc6 (>= 2), a | b", control=control)
    assert abistore("ingest", package, "--suite", "bookworm").code == 0
    assert abistore("ingest", case(SUM), "--version", "2.0").code == 0
    shown = abistore("show", "libcase@1.0-1").out
    for line in (
        "libcase1 1.0-1 amd64, source case, of bookworm",
        "depends       libc6\n",
        "breaks        tool (<< 3)",
    ):
        assert line in shown
    assert "package" not in abistore("show", "libcase@2.0").out
    assert "case/libcase1 bookworm" in abistore("list", "libcase").out
    assert "package case/libcase1 bookworm: 1.0-1" in abistore("history", "libcase").out
    (line,) = abistore("list", "--json").json["lines"]
    assert line["package"] is None, "the latest release was read from a file"
    told = abistore("show", "libcase@1.0-1", "--json").json["snapshot"]["provenance"]["package"]
    assert (told["source"], told["suite"], told["architecture"]) == ("case", "bookworm", "amd64")
    assert abistore("ingest", package, "--suite", "trixie").code == 0, "stored already: the first word counts"


def devel(place: Path, library: str, header: bytes) -> Path:
    """A development package with one header, for one library."""
    return packages.tar(
        place, {"include/case.h": header, f"lib/{library}.so": f"{library}.so.1"}, name=f"{library}-dev.tar"
    )


def test_a_gate_that_needs_headers_fails_where_the_development_package_is_another_library_s(
    abistore: Call, tmp_path: Path
) -> None:
    old, new = release(tmp_path, "1.0", case()), release(tmp_path, "2.0", case())
    own, other = (devel(tmp_path, each, b"int case_add(int a, int b);") for each in ("libcase", "libother"))
    assert abistore("compare", old, new, "--devel-package", own, "--require", "source").code == 0
    told = abistore("compare", old, new, "--old-devel-package", own, "--new-devel-package", other, "--require", "old")
    assert told.code == 72
    assert "libother, and not for libcase" in told.out + told.err


def test_headers_that_do_not_parse_leave_the_verdict_of_the_library(abistore: Call, tmp_path: Path) -> None:
    old, new = release(tmp_path, "1.0", case()), release(tmp_path, "2.0", case(SUM))
    broken = devel(tmp_path, "libcase", b"#error no")
    words = ("compare", old, new, "--devel-package", broken)
    told = abistore(*words)
    assert told.code == 4
    assert "(headers-failed)" in told.out
    same = abistore("compare", old, old, "--devel-package", broken, "--require", "source")
    assert same.code == 72


def test_a_package_without_a_library_has_an_exit_code_of_its_own(abistore: Call, tmp_path: Path) -> None:
    package = packages.tar(tmp_path, {"usr/share/doc/case": b"text"})
    assert abistore("export", package).code == 71


def test_development_packages_of_a_stored_side_are_refused(abistore: Call, tmp_path: Path) -> None:
    package, own = release(tmp_path, "1.0", case()), devel(tmp_path, "libcase", b"int case_add(int a, int b);")
    assert abistore("ingest", package).code == 0
    refused = abistore("compare", "libcase@latest", package, "--old-devel-package", own)
    assert refused.code == 64
    assert "headers were given for libcase@latest" in refused.err
    assert abistore("compare", "libcase@latest", "libcase@latest", "--devel-package", own).code == 64
    assert abistore("compare", "libcase@latest", package, "--devel-package", own).code == 0
    dump = tmp_path / "case.json"
    assert abistore("export", package, "-o", dump).code == 0
    assert abistore("compare", dump, package, "--old-devel-package", own).code == 64
    assert abistore("compare", dump, dump, "--devel-package", own).code == 64


def test_a_library_that_moved_to_a_package_that_is_installed_too_breaks_nothing(abistore: Call, tmp_path: Path) -> None:
    kept, moved = case(), build_library("int extra(void) { return 1; }", soname="libextra.so.2", name="libextra.so")
    old = release(tmp_path, "1.0", kept, moved)
    held = {"usr/lib/libcase.so.1": kept}

    def without(version: str, depends: str) -> Path:
        return packages.deb(tmp_path, held, name="libcase1", version=version, depends=depends)

    told = abistore("compare", old, without("2.0", "libc6, libextra2 (= 2.0)"))
    assert told.code == 0 and "bundle_library_removed.moved" in told.out and "library-not-given" in told.out
    less = without("2.1", "libextra2")
    assert abistore("compare", old, less, "--require", "old").code == 72
    assert abistore("ingest", old).code == 0
    assert abistore("ingest", less, "--against", "prev").code == 72, "what moved was not compared"
    assert abistore("ingest", less, "--against", "prev", "--require", "none").code == 0
    for version, depends in (("3.0", "libc6"), ("3.1", "libextra2 | libother1"), ("3.2", "libextra2-data, libextra20")):
        assert abistore("compare", old, without(version, depends)).code == 4
