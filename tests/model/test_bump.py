"""Which releases may break: every version scheme beside every change of a SONAME, under every rule."""

from __future__ import annotations

import pytest

from abistore.model.decision import AllowPlan, AllowRule, OldAndNew, bump
from abistore.model.findings import Verdict
from abistore.model.labels import Step, soname_change
from abistore.model.versions import next_label, promise

PROMISES = {
    ("1.9.4", "2.0.0"): ("semantic", Step.MAJOR),
    ("1.9.4", "1.10.0"): ("semantic", Step.MINOR),
    ("1.9.4", "1.9.5"): ("semantic", Step.PATCH),
    ("1.9.4", "2"): ("semantic", Step.MAJOR),
    ("1.0.2k", "1.0.2l"): ("semantic", Step.PATCH),
    ("1.2-1", "1.2-2"): ("semantic", Step.PATCH),
    ("1.0", "1.0.0"): ("semantic", Step.NONE),
    ("OpenSSL_1_0_2", "OpenSSL_1_1_0"): ("semantic", Step.MINOR),
    ("0.4.1", "0.5.0"): ("semantic", Step.MINOR),
    ("0.4.1", "0.4.2"): ("semantic", Step.PATCH),
    ("0.0.1", "0.0.2"): ("semantic", Step.PATCH),
    ("0.9", "1.0"): ("semantic", Step.MAJOR),
    ("1.0.0", "2.0.0-rc1"): ("semantic", Step.MAJOR),
    ("2.0.0-rc1", "2.0.0"): ("semantic", None),
    ("2.0.0-rc1", "2.0.0-rc2"): ("semantic", None),
    ("1.9.4", "1.9.4-14-g126bde0"): ("semantic", None),
    ("72.1", "73.1"): ("semantic", Step.MAJOR),
    ("2.0", "1.9"): ("semantic", Step.NONE),
    ("1:1.0", "1:2.0"): ("semantic", Step.MAJOR),
    ("1:1.0", "2:1.0"): ("unknown", None),
    ("1!1.0", "2!2.0"): ("unknown", None),
    ("1.9", "nightly-2"): ("unknown", None),
    ("1.9.4", "main"): ("unknown", None),
    ("2024.10", "2025.1"): ("calendar", None),
    ("2024.10", "2.0"): ("calendar", None),
    ("2.0", "2024.10"): ("calendar", None),
    ("22.04", "23.10"): ("calendar", None),
    ("22.12", "23.10"): ("calendar", None),
    ("2.0", "22.04"): ("calendar", None),
    ("20240501", "20240601"): ("calendar", None),
    ("251", "252"): ("serial", None),
    ("5:0:2", "6:0:0"): ("libtool", Step.MAJOR),
    ("5:0:2", "6:0:3"): ("libtool", Step.MINOR),
    ("5:0:2", "5:1:2"): ("libtool", Step.PATCH),
    ("5:0:2", "6:0:4"): ("libtool", Step.NONE),
}


@pytest.mark.parametrize(("old", "new"), PROMISES)
def test_two_labels_declare_a_step_or_promise_nothing(old: str, new: str) -> None:
    said = promise(old, new)
    assert (said.versioning, said.declared) == PROMISES[old, new]


def test_a_declared_scheme_decides_what_labels_mean() -> None:
    assert promise("2024.1.0", "2025.0.0", "semver").declared is Step.MAJOR
    assert promise("1.9.4", "2.0.0", "plain").declared is None
    assert promise("1.9", "2.0", "semver").declared is None  # no semantic versions


def test_a_step_has_a_label() -> None:
    assert next_label("1.9.4", Step.MAJOR) == "2.0.0"
    assert next_label("v1.9", Step.MINOR) == "v1.10"
    assert next_label("1.9", Step.PATCH) == "1.9.1"
    assert next_label("OpenSSL_1_0_2k", Step.MINOR) == "OpenSSL_1_1_0"
    assert next_label("1:1.0-2", Step.MAJOR) == "1:2.0"
    assert next_label("5:0:2", Step.MAJOR) == "6:0:0"
    assert next_label("5:0:2", Step.MINOR) == "6:0:3"
    assert next_label("2024.10", Step.MAJOR) == ""
    assert next_label("9" * 5000 + ".1", Step.MAJOR) == ""


SONAMES = {
    ("libfoo.so.1", "libfoo.so.2"): "bumped",
    ("libfoo.so.9", "libfoo.so.10"): "bumped",
    ("libssl.so.1.0.0", "libssl.so.1.1"): "bumped",
    ("libpng12.so.0", "libpng16.so.16"): "bumped",
    ("libfoo-1.9.so", "libfoo-2.0.so"): "bumped",
    ("libssl-1_1-x64.dll", "libssl-3-x64.dll"): "bumped",
    ("Foo1.DLL", "foo2.dll"): "bumped",
    ("/usr/lib/libfoo.1.dylib", "/opt/lib/libfoo.2.dylib"): "bumped",
    ("libfoo.A.dylib", "libfoo.B.dylib"): "bumped",
    ("/L/Foo.framework/Versions/A/Foo", "/L/Foo.framework/Versions/B/Foo"): "bumped",
    ("libfoo.so.2", "libfoo.so.1"): "lowered",
    ("libfoo.so.1", "libfoo.so.1"): "same",
    ("libfoo-0000abcd.so.1", "libfoo-1234abcd.so.1"): "same",
    ("foo-0123456789abcdef0123456789abcdef.dll", "foo-fedcba9876543210fedcba9876543210.dll"): "unversioned",
    ("/opt/foo-1.9/libfoo.1.dylib", "/opt/foo-2.0/libfoo.1.dylib"): "same",
    ("libfoo.so", "libfoo.so"): "unversioned",
    ("libfoo.so", "libfoo.so.2"): "renamed",
    ("libfoo.so.1", "libfoo.so"): "renamed",
    ("libfoo.so.1", "libbar.so.2"): "renamed",
    ("libfoo.so.1", None): "lost",
    (None, "libfoo.so.1"): "added",
    (None, None): "none",
}


@pytest.mark.parametrize(("old", "new"), SONAMES)
def test_a_soname_is_bumped_only_if_the_same_name_has_a_higher_version(old: str | None, new: str | None) -> None:
    assert soname_change(old, new) == SONAMES[old, new]


KEPT, BUMPED = OldAndNew("libfoo.so.1", "libfoo.so.1"), OldAndNew("libfoo.so.1", "libfoo.so.2")
NAMELESS, UNVERSIONED = OldAndNew(None, None), OldAndNew("libfoo.so", "libfoo.so")
MINOR, MAJOR, CALENDAR = OldAndNew("1.9.4", "1.10.0"), OldAndNew("1.9.4", "2.0.0"), OldAndNew("2024.10", "2.0")
BREAKING: list[tuple[AllowRule, str, OldAndNew, OldAndNew, str]] = [
    ("scheme", "auto", MAJOR, BUMPED, "soname-and-label"),
    ("scheme", "auto", MINOR, BUMPED, "soname-bumped"),
    ("scheme", "auto", MAJOR, KEPT, "soname-kept"),
    ("scheme", "auto", MAJOR, NAMELESS, "soname-missing"),
    ("scheme", "auto", MAJOR, UNVERSIONED, "soname-unversioned"),
    ("scheme", "auto", MAJOR, OldAndNew("libfoo.so", "libfoo.so.2"), "soname-renamed"),
    ("scheme", "auto", MAJOR, OldAndNew("libfoo.so.1", "libbar.so.2"), "soname-renamed"),
    ("scheme", "auto", MAJOR, OldAndNew("libfoo.so.2", "libfoo.so.1"), "soname-lowered"),
    ("scheme", "auto", MAJOR, OldAndNew("libfoo.so.1", None), "soname-missing"),
    ("scheme", "auto", MAJOR, OldAndNew(None, "libfoo.so.2"), "soname-missing"),
    ("scheme", "auto", OldAndNew("2.0.0", "1.9.4"), OldAndNew("libfoo.so.2", "libfoo.so.1"), "label-lowered"),
    ("scheme", "auto", OldAndNew("2.0.0", "1.9.4"), BUMPED, "label-lowered"),
    ("scheme", "auto", CALENDAR, BUMPED, "label-lowered"),
    ("scheme", "auto", OldAndNew("2024.10", "2025.1"), BUMPED, "soname-bumped"),
    ("scheme", "auto", OldAndNew("1:1.0", "2:1.0"), KEPT, "soname-kept"),
    ("scheme", "auto", OldAndNew("1.0.0", "2.0.0-rc1"), KEPT, "soname-kept"),
    ("scheme", "auto", OldAndNew("1.0.0", "2.0.0-rc1"), BUMPED, "soname-and-label"),
    ("scheme", "auto", OldAndNew(None, None), BUMPED, "soname-bumped"),
    ("scheme", "auto", OldAndNew("1.9.4", "1.9.4"), BUMPED, "label-too-small"),
    ("scheme", "auto", OldAndNew("2024.10", "2024.10"), BUMPED, "label-too-small"),
    ("scheme", "plain", MAJOR, KEPT, "soname-kept"),
    ("scheme", "plain", MINOR, BUMPED, "soname-bumped"),
    ("scheme", "semver", MAJOR, BUMPED, "soname-and-label"),
    ("scheme", "semver", MAJOR, KEPT, "soname-kept"),
    ("scheme", "semver", MINOR, BUMPED, "label-too-small"),
    ("scheme", "semver", MAJOR, NAMELESS, "label-major"),
    ("scheme", "semver", MAJOR, UNVERSIONED, "label-major"),
    ("scheme", "semver", MAJOR, OldAndNew("libfoo.so.1", "libbar.so.2"), "soname-renamed"),
    ("scheme", "semver", OldAndNew("0.4.1", "0.5.0"), BUMPED, "soname-and-label"),
    ("scheme", "semver", OldAndNew("0.4.1", "0.4.2"), BUMPED, "label-too-small"),
    ("breaking-on-soname-bump", "auto", MINOR, BUMPED, "soname-bumped"),
    ("breaking-on-soname-bump", "semver", MINOR, BUMPED, "soname-bumped"),
    ("breaking-on-soname-bump", "auto", MAJOR, KEPT, "soname-kept"),
    ("major", "auto", MAJOR, KEPT, "label-major"),
    ("major", "auto", MINOR, BUMPED, "label-too-small"),
    ("major", "auto", OldAndNew("251", "252"), BUMPED, "label-promises-nothing"),
    ("major", "auto", OldAndNew("2.0.0", "1.0.0"), BUMPED, "label-lowered"),
    ("major", "auto", OldAndNew("2024.10", "2.0"), BUMPED, "label-lowered"),
    ("major", "auto", OldAndNew("2.0.0-rc1", "2.0.0"), KEPT, "label-promises-nothing"),
    ("major", "auto", OldAndNew("0.0.1", "0.0.2"), KEPT, "label-major"),
    ("major", "auto", OldAndNew("5:0:2", "6:0:0"), KEPT, "label-major"),
    ("major", "auto", OldAndNew("5:0:2", "6:0:3"), KEPT, "label-too-small"),
    ("never", "auto", MAJOR, BUMPED, "never"),
]


@pytest.mark.parametrize(("rule", "scheme", "labels", "sonames", "reason"), BREAKING)
def test_a_breaking_release_is_allowed_by_what_its_line_promises(
    rule: AllowRule, scheme: str, labels: OldAndNew, sonames: OldAndNew, reason: str
) -> None:
    found = bump(Verdict.BREAKING, labels, sonames, AllowPlan(rule, scheme))
    assert found.reason == reason
    assert found.allowed == (reason in {"soname-bumped", "label-major", "soname-and-label"})


API_BREAKS: list[tuple[str, OldAndNew, OldAndNew, str]] = [
    ("auto", MAJOR, KEPT, "label-major"),
    ("auto", MINOR, KEPT, "label-too-small"),
    ("auto", MINOR, BUMPED, "soname-bumped"),
    ("auto", OldAndNew("2024.10", "2025.1"), KEPT, "label-promises-nothing"),
    ("semver", MAJOR, KEPT, "label-major"),
    ("semver", MINOR, BUMPED, "label-too-small"),
    ("plain", MAJOR, KEPT, "label-promises-nothing"),
]


@pytest.mark.parametrize(("scheme", "labels", "sonames", "reason"), API_BREAKS)
def test_sources_may_stop_compiling_at_a_major_label(
    scheme: str, labels: OldAndNew, sonames: OldAndNew, reason: str
) -> None:
    assert bump(Verdict.API_BREAK, labels, sonames, AllowPlan(scheme=scheme)).reason == reason


@pytest.mark.parametrize("verdict", [Verdict.NO_CHANGE, Verdict.COMPATIBLE, Verdict.COMPATIBLE_WITH_RISK])
def test_a_release_that_breaks_nothing_is_allowed_under_every_rule(verdict: Verdict) -> None:
    for rule in ("scheme", "breaking-on-soname-bump", "major", "never"):
        found = bump(verdict, OldAndNew("2.0", "1.0"), OldAndNew("liba.so.1", None), AllowPlan(rule))
        assert (found.allowed, found.reason) == (True, "nothing-breaks")


REQUIRED = [
    (Verdict.BREAKING, "1.9.4", False, "major", "2.0.0"),
    (Verdict.API_BREAK, "1.9.4", False, "major", "2.0.0"),
    (Verdict.COMPATIBLE, "1.9.4", True, "minor", "1.10.0"),
    (Verdict.COMPATIBLE_WITH_RISK, "1.9.4", False, "patch", ""),
    (Verdict.NO_CHANGE, "1.9.4", False, "none", ""),
    (Verdict.BREAKING, "0.4.1", False, "minor", "0.5.0"),
    (Verdict.COMPATIBLE, "0.4.1", True, "patch", ""),
    (Verdict.BREAKING, "0.0.1", False, "patch", ""),
]


@pytest.mark.parametrize(("verdict", "old", "adds", "required", "suggested"), REQUIRED)
def test_changes_require_a_step_and_a_patch_label_is_told_what_it_would_be(
    verdict: Verdict, old: str, adds: bool, required: str, suggested: str
) -> None:
    patch = next_label(old, Step.PATCH)
    found = bump(verdict, OldAndNew(old, patch), KEPT, adds=adds)
    assert (found.required, found.declared, found.suggested) == (required, "patch", suggested)


def test_a_build_between_releases_is_told_what_the_next_release_must_be() -> None:
    for label in ("1.9.4-14-g126bde0", "main", "nightly-7"):
        found = bump(Verdict.BREAKING, OldAndNew("1.9.4", label), KEPT)
        assert (found.unreleased, found.suggested, found.allowed) == (True, "2.0.0", False)
