"""``init`` finds what a project builds and installs, and the commands that it shows run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import abistore
from abistore.errors import NoLibrary, UsageError
from abistore.service.project import configuration
from tests.build import build_library
from tests.cli.conftest import Call
from tests.cli.conftest import abistore as called
from tests.cli.conftest import clean_environment as clean_environment
from tests.cli.conftest import database as database

call = called

SOURCE = "struct foo { int a; };\nint foo_run(const struct foo *f) { return f->a; }\n"
HEADER = "struct foo;\nint foo_run(const struct foo *f);\n"
CPP = "namespace foo { struct Box { int run() const; }; int Box::run() const { return 1; } }\n"
CPP_HEADER = "#pragma once\nnamespace foo { struct Box { int run() const; }; }\n"


def lay(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def build(root: Path, place: str, *, name: str = "libfoo", version: str = "1.4.0", language: str = "c") -> None:
    """Put a library where a build system does: a file with its version, and the links to it."""
    source = CPP if language == "c++" else SOURCE.replace("foo_run", f"{name}_run") if name != "libfoo" else SOURCE
    soname = f"{name}.so.{version.partition('.')[0]}"
    folder = root / place
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(build_library(source, language=language, soname=soname), folder / f"{name}.so.{version}")
    for link in (soname, f"{name}.so"):
        (folder / link).symlink_to(f"{name}.so.{version}")


def tagged(root: Path, *tags: str) -> None:
    as_somebody = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], [*as_somebody, "commit", "-q", "--allow-empty", "-m", "empty"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    for tag in tags:
        subprocess.run(["git", "-C", root, "tag", tag], check=True)


def cmake(root: Path) -> None:
    """As CMake 3.25 leaves a build with a library, a plugin, a folder of headers and a generated header."""
    build(root, "build")
    build(root, "build", name="libplug")
    lay(root, {"include/foo/foo.h": HEADER, "build/foo/version.h": "#define FOO 1\n", "build/CMakeCache.txt": ""})
    script = f"""
  file(INSTALL DESTINATION "${{CMAKE_INSTALL_PREFIX}}/lib" TYPE SHARED_LIBRARY FILES
    "{root}/build/libfoo.so.1.4.0"
    "{root}/build/libfoo.so.1"
    )
  file(INSTALL DESTINATION "${{CMAKE_INSTALL_PREFIX}}/lib" TYPE MODULE FILES "{root}/build/libplug.so")
  file(INSTALL DESTINATION "${{CMAKE_INSTALL_PREFIX}}/include" TYPE DIRECTORY FILES "{root}/include/foo" REGEX "x$")
  file(INSTALL DESTINATION "${{CMAKE_INSTALL_PREFIX}}/include/foo" TYPE FILE FILES "{root}/build/foo/version.h")
"""
    lay(root, {"CMakeLists.txt": "project(foo VERSION 1.4.0)\n", "build/cmake_install.cmake": script})


def meson(root: Path) -> None:
    """As Meson 1.9 leaves a build with a library, a helper of tests, and two installed headers beside a private one."""
    build(root, "builddir", language="c++")
    build(root, "builddir", name="libhelper")
    lay(root, {f"include/foo/{name}.hpp": CPP_HEADER for name in ("box", "more", "private_p")})
    headers = {
        f"{root}/include/foo/{name}.hpp": {"destination": f"{{includedir}}/foo/{name}.hpp"} for name in ("box", "more")
    }
    targets = {
        f"{root}/builddir/libfoo.so.1.4.0": {"destination": "{libdir_shared}/libfoo.so.1.4.0"},
        f"{root}/builddir/libmod.so": {"destination": "{libdir}/foo/libmod.so"},
    }
    plan = json.dumps({"targets": targets, "headers": headers})
    lay(
        root, {"meson.build": "project('foo', version: '1.4.0')\n", "builddir/meson-info/intro-install_plan.json": plan}
    )


def autotools(root: Path) -> None:
    """As libtool and Automake leave a build with a library and a plugin."""
    build(root, "src/.libs")
    build(root, "src/.libs", name="libplug")
    archive = "dlname='libfoo.so.1'\nlibrary_names='libfoo.so.1.4.0 libfoo.so.1'\nshouldnotlink=no\nlibdir='/usr/lib'\n"
    plugin = archive.replace("libfoo", "libplug").replace("=no", "=yes")
    rules = "pkgincludedir = $(includedir)/foo\npkginclude_HEADERS = foo.h \\\n\tmore.h\nnoinst_HEADERS = private.h\n"
    lay(root, {"src/libfoo.la": archive, "src/libplug.la": plugin, "src/Makefile.am": rules})
    lay(root, {"src/foo.h": HEADER, "src/more.h": "#define FOO_MORE 1\n", "src/private.h": "int hidden(void);\n"})
    lay(root, {"configure.ac": "AC_INIT([foo], [1.4.0])\n"})


def makefile(root: Path) -> None:
    """A library beside its sources, and headers that a Makefile copies."""
    build(root, ".")
    rules = "HEADERS = foo.h\ninstall: all\n\tinstall -m 644 $(HEADERS) $(DESTDIR)/usr/include/\n"
    lay(root, {"Makefile": rules, "foo.h": HEADER, "private.h": "int hidden(void);\n"})


def plain(root: Path) -> None:
    """A library in a folder of its own, and headers in the usual one."""
    build(root, "out")
    lay(root, {"include/foo.h": HEADER})


PROJECTS = {
    "cmake": (cmake, "build/libfoo.so", ["build/foo/version.h", "include"], "c"),
    "meson": (meson, "builddir/libfoo.so", ["include"], "c++"),
    "autotools": (autotools, "src/.libs/libfoo.so", ["src/foo.h", "src/more.h"], "c"),
    "makefile": (makefile, "libfoo.so", ["foo.h"], "c"),
    "plain": (plain, "out/libfoo.so", ["include"], "c"),
}


@pytest.mark.parametrize("kind", PROJECTS)
def test_init_finds_the_library_and_the_headers_that_are_installed(kind: str, tmp_path: Path) -> None:
    lay_out, library, headers, language = PROJECTS[kind]
    lay_out(tmp_path)
    found = abistore.init(tmp_path)
    assert [(each.name, each.path, each.soname) for each in found.libraries] == [("libfoo", library, "libfoo.so.1")]
    assert [list(each.headers) for each in found.headers] == [headers]
    assert (found.language, found.version, found.notes) == (language, "1.4.0", ())
    said = tomllib.loads((tmp_path / "abistore.toml").read_text())
    assert (said["library"], said["headers"]["headers"]) == ("libfoo", headers)
    assert configuration(tmp_path / "abistore.toml").library == "libfoo"


@pytest.mark.parametrize("kind", PROJECTS)
def test_the_next_commands_run_as_they_are_printed(
    kind: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    PROJECTS[kind][0](root)
    monkeypatch.chdir(root)
    printed = call("init")
    assert (printed.code, printed.err) == (0, "")
    commands = [line.partition("  #")[0] for line in printed.out.partition("Next:\n")[2].splitlines()]
    assert [each.split()[:2] for each in commands] == [["abistore", "ingest"], ["abistore", "gate"]]
    for each in commands:
        done = call(*shlex.split(each)[1:])
        assert done.code == 0, done
    assert done.out.startswith("PASS: 1.5.0 does not break 1.4.0")
    assert re.search(r"^  source facet +full", call("show", "libfoo@1.4.0").out, re.MULTILINE)


def test_private_headers_of_an_installed_folder_are_named(tmp_path: Path) -> None:
    meson(tmp_path)
    (headers,) = abistore.init(tmp_path).headers
    assert headers.private == ("foo/private_p.hpp",)


@pytest.mark.parametrize(
    ("tags", "version"),
    [
        (("v1.2.3", "v1.10.0", "v2.0.0-rc1", "nightly"), "1.10.0"),
        (("1.2", "1.3"), "1.3"),
        (("libfoo-1.2.3", "tool-9.9.9", "3.0"), "1.2.3"),
        (("FOO_1_2_3", "FOO_1_1_9"), "1.2.3"),
    ],
)
def test_the_version_is_that_of_the_newest_tag(tags: tuple[str, ...], version: str, tmp_path: Path) -> None:
    plain(tmp_path)
    tagged(tmp_path, *tags)
    found = abistore.init(tmp_path)
    assert (found.version, found.version_from.split()[:2]) == (version, ["the", "tag"])


def test_a_checkout_behind_its_tag_is_a_note_and_the_root_is_found_from_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(tmp_path)
    tagged(tmp_path, "v1.4.0")
    as_somebody = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", tmp_path, *as_somebody, "commit", "-q", "--allow-empty", "-m", "later"], check=True)
    monkeypatch.chdir(tmp_path / "include")
    found = abistore.init()
    assert found.folder == str(tmp_path)
    assert found.commands[0].command == f"cd {tmp_path}"
    assert found.notes == ("this checkout is 1 commit after v1.4.0: store a build of the tag as 1.4.0",)


def test_two_libraries_are_named_with_their_own_headers(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path = tmp_path / "two"
    for name in ("foo", "bar"):
        build(tmp_path, "build", name=f"lib{name}")
    installed = "".join(
        f'file(INSTALL DESTINATION "${{CMAKE_INSTALL_PREFIX}}/include" TYPE FILE FILES "{tmp_path}/api/{name}.h")\n'
        for name in ("foo", "bar")
    )
    lay(tmp_path, {"api/foo.h": HEADER, "api/bar.h": HEADER.replace("foo_run", "libbar_run"), "api/x/y.h": ""})
    lay(tmp_path, {"build/cmake_install.cmake": installed})
    monkeypatch.chdir(tmp_path)
    found = abistore.init(Path())
    assert [(each.library, each.headers) for each in found.headers] == [
        ("libbar", ("api/bar.h",)),
        ("libfoo", ("api/foo.h",)),
    ]
    assert any(each.startswith("2 libraries") for each in found.notes)
    for each in found.commands:
        assert call(*shlex.split(each.command)[1:]).code == 0, each


def test_other_projects_and_libraries_of_tests_are_left_out(tmp_path: Path) -> None:
    plain(tmp_path)
    for place in ("third_party/zlib", "build/_deps/fmt", "tests"):
        build(tmp_path, place, name="libother")
    assert [each.name for each in abistore.init(tmp_path).libraries] == ["libfoo"]


def test_a_build_without_debug_information_is_a_note(tmp_path: Path) -> None:
    shutil.copy(build_library(SOURCE, flags=("-O1", "-s")), tmp_path / "libfoo.so")
    notes = abistore.init(tmp_path).notes
    assert any("build with -g" in each for each in notes)
    assert any("no public headers" in each for each in notes)


def test_an_existing_file_is_replaced_on_request_only(tmp_path: Path) -> None:
    plain(tmp_path)
    (tmp_path / "abistore.toml").write_text('library = "mine"\n')
    with pytest.raises(UsageError, match="exists already"):
        abistore.init(tmp_path)
    shown = abistore.init(tmp_path, dry_run=True)
    assert not shown.written
    assert (tmp_path / "abistore.toml").read_text() == 'library = "mine"\n'
    assert abistore.init(tmp_path, replace=True).written
    assert (tmp_path / "abistore.toml").read_text() == shown.text


def test_a_build_folder_elsewhere_is_searched(tmp_path: Path) -> None:
    lay(tmp_path / "project", {"include/foo.h": HEADER, "src/foo.c": SOURCE})
    build(tmp_path, "elsewhere")
    with pytest.raises(NoLibrary):
        abistore.init(tmp_path / "project")
    found = abistore.init(tmp_path / "project", build_dirs=[tmp_path / "elsewhere"])
    assert [each.path for each in found.libraries] == [str(tmp_path / "elsewhere" / "libfoo.so")]


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        ({"CMakeLists.txt": "", "foo.c": SOURCE}, "cmake -B build"),
        ({"meson.build": "", "foo.c": SOURCE}, "meson setup build"),
        ({"configure.ac": "", "foo.c": SOURCE}, "autoreconf -i"),
        ({"Makefile": "", "foo.c": SOURCE, "libfoo.a": "!<arch>\n"}, "make CFLAGS="),
        ({"include/foo.hpp": CPP_HEADER}, "header-only"),
    ],
)
def test_nothing_built_is_an_error_that_says_what_to_build(files: dict[str, str], hint: str, tmp_path: Path) -> None:
    lay(tmp_path, files)
    with pytest.raises(NoLibrary) as caught:
        abistore.init(tmp_path)
    assert hint in caught.value.hint
    assert (caught.value.code, caught.value.exit_code) == ("no-library", 71)
    assert not (tmp_path / "abistore.toml").exists()


def test_demo_and_the_options_of_a_project_exclude_each_other(call: Call, tmp_path: Path) -> None:
    done = call("init", "--demo", tmp_path / "x", "--replace", "--json")
    assert (done.code, done.error["code"]) == (64, "usage")
    assert not (tmp_path / "x").exists()


def test_what_build_systems_wrote_may_be_damaged(tmp_path: Path) -> None:
    plain(tmp_path)
    lay(tmp_path, {f"b{n}/meson-info/intro-install_plan.json": text for n, text in enumerate(("{", "[]", '{"a": 1}'))})
    lay(tmp_path, {"c/cmake_install.cmake": 'file(INSTALL DESTINATION "', "d/x.la": "library_names='"})
    assert [each.name for each in abistore.init(tmp_path).libraries] == ["libfoo"]


def test_a_hostile_soname_writes_no_key(tmp_path: Path) -> None:
    source = 'library = "x"\n\n[gate]\nintroduced_only = true\n'
    shutil.copy(build_library(SOURCE, soname=f"libfoo\n{source}.so.1"), tmp_path / "libfoo.so")
    abistore.init(tmp_path)
    assert "gate" not in tomllib.loads((tmp_path / "abistore.toml").read_text())


def test_a_build_folder_below_a_folder_of_tests_is_searched(tmp_path: Path) -> None:
    root = tmp_path / "tests" / "project"
    plain(root)
    build(root, "examples", name="libother")
    assert [each.name for each in abistore.init(root, build_dirs=[root / "out"]).libraries] == ["libfoo"]
