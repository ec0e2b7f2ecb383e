"""The sentence about a release: what a release manager can do, in the words of the format and the labels."""

from __future__ import annotations

import pytest

from abistore.model.decision import OldAndNew, bump
from abistore.model.findings import Verdict
from abistore.report.wording import ChangeFacts, in_words

pytestmark = pytest.mark.fast


def said(
    verdict: Verdict,
    labels: tuple[str, str],
    names: tuple[str | None, str | None],
    breaks: int = 2,
    checked: bool = True,
) -> str:
    facts = ChangeFacts(OldAndNew(*labels), OldAndNew(*names), verdict, breaks, checked=checked)
    return in_words(bump(verdict, facts.labels, facts.sonames, adds=True), facts).sentence


@pytest.mark.parametrize(
    ("labels", "ending"),
    [(("5:1:2", "5:2:2"), "release it as 6:0:3"), (("1.9.4", "1.9.5"), "release it as 1.10.0, a minor release")],
)
def test_only_labels_with_minor_releases_are_told_of_one(labels: tuple[str, str], ending: str) -> None:
    assert said(Verdict.COMPATIBLE, labels, ("libf.so.3", "libf.so.3"), 0).endswith(f"adds to it: {ending}")


def test_what_breaks_sources_alone_is_not_told_to_bump_the_soname_too() -> None:
    builds, kept = ("1.9.4", "1.9.4-3-gabc1234"), ("libf.so.3", "libf.so.3")
    sources = said(Verdict.API_BREAK, builds, kept)
    assert sources.endswith("promise no compatibility: the next release must be 2.0.0, or restore what broke")
    assert "the next release must be 2.0.0 and bump the SONAME" in said(Verdict.BREAKING, builds, kept)
    assert "promise no compatibility: bump the SONAME, or" in said(Verdict.API_BREAK, ("2023.10", "2024.10"), kept)


def test_a_library_without_a_name_to_bump_can_get_one() -> None:
    told = said(Verdict.BREAKING, ("1.9.4", "2.0.0"), (None, None))
    assert told.endswith("to the old release: give it a SONAME, or restore what broke")
    lost = said(Verdict.BREAKING, ("1.9.4", "2.0.0"), ("libf.so.1", None))
    assert "give it a SONAME" not in lost and "SONAME libf.so.1 was removed" in lost


def test_no_advice_rests_on_what_was_not_checked() -> None:
    """A break that nothing shows may be why the name was changed."""
    labels, names = ("1.4.0", "2.0.0"), ("libfoo.1.dylib", "libfoo.2.dylib")
    assert "keep the old one" in said(Verdict.COMPATIBLE, labels, names, 0)
    told = said(Verdict.COMPATIBLE, labels, names, 0, checked=False)
    assert "as far as that could be checked" in told and "keep the old one" not in told


def test_a_dll_is_given_a_new_name() -> None:
    told = said(Verdict.BREAKING, ("1.4.0", "2.0.0"), ("libfoo-1.dll", "libfoo-1.dll"))
    assert "give the DLL a new name" in told and "bump" not in told


@pytest.mark.parametrize(
    ("names", "phrase"),
    [
        (("libfoo-1.dll", "libfoo-2.dll"), "allowed: the DLL name changed from libfoo-1.dll to libfoo-2.dll"),
        (("libfoo.1.dylib", "libfoo.2.dylib"), "allowed: the install name changed from libfoo.1.dylib to"),
        (("libfoo.so.1", "libfoo.so.2"), "allowed: SONAME changed from .1 to .2"),
    ],
)
def test_each_format_has_its_own_word_for_the_name(names: tuple[str, str], phrase: str) -> None:
    assert phrase in said(Verdict.BREAKING, ("1.4.0", "2.0.0"), names)
