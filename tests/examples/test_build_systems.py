"""CMake, Meson and Automake run the gate by the files of ``examples/ci``, with the real tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from abistore import errors

pytestmark = pytest.mark.full

FOLDER = Path(__file__).parents[2] / "examples" / "ci"
FIRST = "struct point { int x; };\nint norm(struct point *p);\n"
BROKEN = FIRST.replace("int x;", "long z; int x;")
ADDED = FIRST + "int more(void);\n"
BODY = '#include "foo.h"\nint norm(struct point *p) { return p->x; }\nint more(void) { return 1; }\n'

CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(foo VERSION 1.1 LANGUAGES C)
enable_testing()
add_library(foo SHARED foo.c)
set_target_properties(foo PROPERTIES VERSION 1.1 SOVERSION 1)
target_include_directories(foo PUBLIC include)
include(AbistoreCheck.cmake)
abistore_check(foo HEADERS include BASELINE {baseline})
"""
MESON = """\
project('foo', 'c', version: '1.1', default_options: ['buildtype=debug'])
abi_library = shared_library('foo', 'foo.c', include_directories: 'include', soversion: '1')
abi_headers = [meson.current_source_dir() / 'include']
abi_baseline = files('libfoo.json')
subdir('abi')
"""
CONFIGURE = """\
AC_INIT([foo], [1.1])
AM_INIT_AUTOMAKE([foreign -Wall])
AC_PROG_CC
AM_PROG_AR
LT_INIT([disable-static])
AC_PATH_PROG([ABISTORE], [abistore])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
MAKEFILE = """\
EXTRA_DIST =
CLEANFILES =
lib_LTLIBRARIES = libfoo.la
libfoo_la_SOURCES = foo.c
libfoo_la_CPPFLAGS = -I$(srcdir)/include
libfoo_la_LDFLAGS = -version-info 1:0:0
abi_library = libfoo.la
abi_include = $(srcdir)/include
abi_baseline = $(srcdir)/libfoo.json
include abi.am
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a command in a project that has the snapshot of its last release."""
    (tmp_path / "include").mkdir()
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CFLAGS": "-g",
        "ABISTORE_DB": "abi.db",
    }

    def call(command: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=tmp_path, env=environment | variables, capture_output=True, text=True, check=False
        )

    write(tmp_path, FIRST)
    compiled = "gcc -g -shared -fPIC -Iinclude -Wl,-soname,libfoo.so.1 foo.c -o libfoo.so.1.0"
    told = call(["sh", "-ec", f"{compiled}; abistore export libfoo.so.1.0 --header include -o libfoo.json"])
    assert told.returncode == 0, told.stderr
    return call


def write(folder: Path, header: str) -> None:
    (folder / "include" / "foo.h").write_text(header)
    body = BODY if "more" in header else BODY.replace("int more(void) { return 1; }\n", "")
    (folder / "foo.c").write_text(body)


def follow(folder: Path, run: Run, check: str) -> None:
    """The gate passes what is as it was and what is added, and fails at a break."""
    for header, passes in ((FIRST, True), (ADDED, True), (BROKEN, False), (FIRST, True)):
        write(folder, header)
        done = run(["sh", "-ec", check])
        assert (done.returncode == 0) == passes, done.stdout + done.stderr
        assert ("type_size_changed" in done.stdout + done.stderr) == (not passes)


def test_ctest_fails_at_a_break(tmp_path: Path, run: Run) -> None:
    shutil.copy(FOLDER / "cmake" / "AbistoreCheck.cmake", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(baseline="libfoo.json"))
    assert run(["cmake", "-S", ".", "-B", "build"]).returncode == 0
    follow(tmp_path, run, "cmake --build build && ctest --test-dir build --output-on-failure -R abi-foo")
    assert run(["cmake", "--build", "build", "--target", "abi-foo-html"]).returncode == 0
    assert "libfoo" in (tmp_path / "build" / "abi-foo.html").read_text()


def test_ctest_gates_against_a_database(tmp_path: Path, run: Run) -> None:
    shutil.copy(FOLDER / "cmake" / "AbistoreCheck.cmake", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(baseline="abi.db"))
    stored = run(["abistore", "ingest", "libfoo.so.1.0", "--version", "1.0", "--header", "include", "--set-baseline"])
    assert stored.returncode == 0, stored.stderr
    assert run(["cmake", "-S", ".", "-B", "build"]).returncode == 0
    follow(tmp_path, run, "cmake --build build && ctest --test-dir build --output-on-failure -R abi-foo")


def test_ctest_skips_the_gate_without_abistore(tmp_path: Path, run: Run) -> None:
    shutil.copy(FOLDER / "cmake" / "AbistoreCheck.cmake", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(baseline="libfoo.json"))
    assert (
        run(
            ["cmake", "-S", ".", "-B", "build", "-DABISTORE_EXECUTABLE=ABISTORE_EXECUTABLE-NOTFOUND"],
            PATH="/usr/bin:/bin",
        ).returncode
        == 0
    )
    done = run(["sh", "-ec", "cmake --build build && ctest --test-dir build"], PATH="/usr/bin:/bin")
    assert "Skipped" in done.stdout


@pytest.mark.parametrize(
    "wrong", ["abistore_check(foo HEADRS include)", "abistore_check(tool)", "abistore_check(foo BASELINE)"]
)
def test_cmake_rejects_a_wrong_call(tmp_path: Path, run: Run, wrong: str) -> None:
    shutil.copy(FOLDER / "cmake" / "AbistoreCheck.cmake", tmp_path)
    text = CMAKE.format(baseline="libfoo.json").replace("include(", "add_executable(tool foo.c)\ninclude(")
    (tmp_path / "CMakeLists.txt").write_text(f"{text}{wrong}\n")
    done = run(["cmake", "-S", ".", "-B", "build"])
    assert (done.returncode, "abistore_check(" in done.stderr) == (1, True)


def test_no_error_is_a_test_that_is_skipped() -> None:
    """Meson and Automake take 77 for that."""
    assert 77 not in {getattr(each, "exit_code", 0) for each in vars(errors).values()}


def test_meson_test_fails_at_a_break(tmp_path: Path, run: Run) -> None:
    (tmp_path / "abi").mkdir()
    shutil.copy(FOLDER / "meson" / "meson.build", tmp_path / "abi")
    (tmp_path / "meson.build").write_text(MESON)
    set_up = run(["meson", "setup", "build"])
    assert set_up.returncode == 0, set_up.stdout + set_up.stderr
    follow(tmp_path, run, "meson test -C build --suite abi --print-errorlogs")
    assert run(["meson", "compile", "-C", "build", "abi-html"]).returncode == 0
    assert "libfoo" in (tmp_path / "build" / "abi" / "abi.html").read_text()


def test_make_check_fails_at_a_break(tmp_path: Path, run: Run) -> None:
    shutil.copy(FOLDER / "autotools" / "abi.am", tmp_path)
    (tmp_path / "configure.ac").write_text(CONFIGURE)
    (tmp_path / "Makefile.am").write_text(MAKEFILE)
    made = run(["sh", "-ec", "autoreconf -i && ./configure --disable-dependency-tracking"])
    assert made.returncode == 0, made.stdout + made.stderr
    follow(tmp_path, run, "make -s clean && make -s check")
    assert run(["sh", "-ec", "make abi.html"]).returncode == 0
    assert "libfoo" in (tmp_path / "abi.html").read_text()
