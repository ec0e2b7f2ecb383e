"""The name that all releases of a library share."""

from __future__ import annotations

import pytest

from abistore.model.labels import family, library_name, word_on


@pytest.mark.parametrize(
    ("soname", "name"),
    [
        ("libz.so.1", "libz"),
        ("libfoo-1.2.so", "libfoo"),
        ("libfoo-1.2.so.3", "libfoo-1.2"),
        ("libstdc++.so.6", "libstdc++"),
        ("plugin.so", "plugin"),
        ("libpython3.11.so.1.0", "libpython3.11"),
        ("libglib-2.0.so.0", "libglib-2.0"),
        ("lib.source.so", "lib.source"),
        ("libfoo.sound.so.2", "libfoo.sound"),
        ("tool", "tool"),
        ("ld-linux-x86-64.so.2", "ld-linux-x86-64"),
        ("libz-00ec42fe.so.1.3", "libz"),
        ("libglib-2-00ec42fe.0.so.0", "libglib-2.0"),
        ("libcafe-decade.so.1", "libcafe-decade"),
        ("libfoo.so-00ec42fe.1", "libfoo.so-00ec42fe.1"),
    ],
)
def test_a_library_is_called_by_its_stem(soname: str, name: str) -> None:
    assert library_name(soname) == name


@pytest.mark.parametrize(
    ("soname", "name"),
    [
        ("libQt5Core.so.5", "libQtCore"),
        ("libQt6Core.so.6", "libQtCore"),
        ("libgtk-3.so.0", "libgtk"),
        ("libgtk-4.so.1", "libgtk"),
        ("libssl.so.1.1", "libssl"),
        ("libwx_baseu-3.2.so.0", "libwx_baseu"),
        ("libpython3.11.so.1.0", "libpython"),
        ("Qt6Core.dll", "QtCore"),
    ],
)
def test_all_major_releases_of_a_library_are_one_family(soname: str, name: str) -> None:
    assert family(soname) == name


@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("pe-x86_64-64-little", "DLL name"),
        ("macho-aarch64-64-little", "install name"),
        ("elf-x86_64-64-little", "SONAME"),
        ("elf-any-64-little", "SONAME"),
    ],
)
def test_a_history_calls_the_name_as_its_platform_does(target: str, word: str) -> None:
    assert word_on(target) == word
