"""What ``.pc`` files say."""

from __future__ import annotations

from abistore.extract.packages.development import is_pkg_config, read_pkg_config


def test_variables_stand_for_others_and_options_may_be_two_words() -> None:
    text = b"""prefix=/usr  # a comment
include=${prefix}/include
Name: case
Requires: glib-2.0 >= 2.50.0, gio-2.0 >=2.4 x11
Requires.private: zlib
Libs: -L${prefix}/lib -lcase-1.0 -pthread
Cflags: -I${include}/case-1 -isystem ${include}/b -DWIDE=1 -D LONG
"""
    found = read_pkg_config("usr/lib/pkgconfig/case-1.pc", text)
    assert found.name == "case-1"
    assert found.libraries == {"libcase-1.0"}
    assert found.folders == ("/usr/include/case-1", "/usr/include/b")
    assert found.defines == ("WIDE=1", "LONG")
    assert found.requires == {"glib-2.0", "gio-2.0", "x11", "zlib"}


def test_a_file_that_was_moved_tells_folders_from_its_own() -> None:
    found = read_pkg_config("opt/case/lib/pkgconfig/case.pc", b"Cflags: -I${pcfiledir}/../../include\n")
    assert found.folders == ("/opt/case/include",)


def test_variables_that_stand_for_themselves_end() -> None:
    found = read_pkg_config("usr/lib/pkgconfig/case.pc", b'a=${a}${a}x\nb=${b}\nCflags: -I/${a}${b} -Ibroken" \n')
    assert len(found.folders) <= 2


def test_files_are_told_by_their_folder() -> None:
    assert is_pkg_config("usr/share/pkgconfig/case.pc")
    assert not is_pkg_config("usr/share/case.pc")
