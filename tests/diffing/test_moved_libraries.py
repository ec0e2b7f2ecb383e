"""Which package of Debian a library is looked for in that left another one."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.bundles import is_called_by


@pytest.mark.parametrize(
    ("package", "soname"),
    [
        ("libtheoradec1", "libtheoradec.so.1"),
        ("libv4-1", "libv4.so.1"),
        ("libfoo1t64", "libfoo.so.1"),
        ("libfoo1v5", "libfoo.so.1"),
        ("libglib2.0-0", "libglib-2.0.so.0"),
        ("libpango-1.0-0", "libpango-1.0.so.0"),
        ("libgtk-3-0", "libgtk-3.so.0"),
        ("libfoo-1.2", "libfoo-1.2.so"),
        ("libkf5coreaddons5", "libKF5CoreAddons.so.5"),
        ("libboost-thread1.74.0", "libboost_thread.so.1.74.0"),
    ],
)
def test_a_package_is_called_by_the_soname(package: str, soname: str) -> None:
    assert is_called_by(package, soname)


@pytest.mark.parametrize(
    ("package", "soname"),
    [
        ("libtheoradec1-dbg", "libtheoradec.so.1"),
        ("libtheoradec10", "libtheoradec.so.1"),
        ("libtheoradec", "libtheoradec.so.1"),
        ("libtheoradec2", "libtheoradec.so.1"),
        ("libtheora0", "libtheoradec.so.1"),
        ("libv41", "libv4.so.1"),
        ("libfoo", "libfoo.so"),
        ("libgio2.0-0", "libgi-o-2.0.so.0"),
    ],
)
def test_a_package_of_another_name_is_not(package: str, soname: str) -> None:
    assert not is_called_by(package, soname)
