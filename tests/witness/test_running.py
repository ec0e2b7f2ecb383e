"""Programs that are started with both releases: only where asked to, without a network, within limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from abistore.cli.main import run
from abistore.errors import UsageError
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.interface import Selection, Witness, WitnessPlan, witnesses
from abistore.witness import compilers, running
from tests.build import build_library

HEADER = "struct point { int x; int y; };\nint norm(const struct point *point);\nint gone(int a);\n"
SOURCE = '#include "geo.h"\nint norm(const struct point *point) { return point->x + point->y; }\n'
GONE = "int gone(int a) { return a; }\n"
STARTS = '__attribute__((constructor)) static void begin(void) { FILE *f = fopen("/tmp/begun", "w"); fclose(f); }\n'


@pytest.fixture(scope="module")
def pair() -> tuple[Path, Path]:
    new = HEADER.replace("int y;", "int z; int y;").replace("int gone(int a);\n", "")
    return build_library(SOURCE + GONE, files={"geo.h": HEADER}), build_library(SOURCE, files={"geo.h": new})


def asked(pair: tuple[Path, Path], plan: WitnessPlan, *findings: str) -> tuple[Witness, ...]:
    first, second = (HeaderOptions((each.parent / "geo.h",)) for each in pair)
    selection = Selection(options=ExtractOptions(), old_headers=first, new_headers=second)
    return witnesses(*pair, findings=findings, selection=selection, plan=plan).witnesses


def snippet(folder: Path, text: str) -> Path:
    path = folder / "own.c"
    path.write_text(text)
    return path


def of_snippet(pair: tuple[Path, Path], folder: Path, text: str) -> Witness:
    return asked(pair, WitnessPlan(run=True, snippet=snippet(folder, text)), "type_field_added")[-1]


def test_a_program_of_the_users_own_is_started_with_both(pair: tuple[Path, Path], tmp_path: Path) -> None:
    made = of_snippet(pair, tmp_path, 'struct point p = {3, 4};\nprintf("%d\\n", norm(&p));\n')
    assert (made.sort, made.state, made.before) == ("run", "shown", "7\n")
    assert made.after != "7\n"
    assert made.commands[-1] == "LD_BIND_NOW=1 LD_LIBRARY_PATH=new ./program"


def test_a_whole_program_is_taken_as_it_is(pair: tuple[Path, Path], tmp_path: Path) -> None:
    text = '#include "geo.h"\nint main(void) { struct point p = {1, 0}; return norm(&p) - 1; }\n'
    made = of_snippet(pair, tmp_path, text)
    assert made.program == text
    assert made.before == ""


def test_one_that_prints_the_same_shows_nothing(pair: tuple[Path, Path], tmp_path: Path) -> None:
    made = of_snippet(pair, tmp_path, 'printf("same\\n");\n')
    assert (made.state, made.reason) == ("none", "it prints the same with both releases")


def test_one_that_does_not_build_says_so(pair: tuple[Path, Path], tmp_path: Path) -> None:
    made = of_snippet(pair, tmp_path, "nowhere();\nint x = ;\n")
    assert made.state == "none"
    assert made.reason.startswith("does not build with the old release: error: ")


@pytest.mark.parametrize(
    ("given", "said"),
    [("absent.c", "absent.c: no such file"), (".", "is a directory"), ("", "--with is empty")],
)
def test_a_source_that_cannot_be_read_is_an_error(
    pair: tuple[Path, Path], given: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["witness", *map(str, pair), "--run", "--with", given]) in (64, 65)
    assert said in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_an_error(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["witness", *map(str, pair), "-o", str(pair[0])]) == 73
    assert "cannot be created: Not a directory" in capsys.readouterr().err


def test_nothing_is_started_without_being_told(pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        asked(pair, WitnessPlan(snippet=snippet(tmp_path, "")))
    assert error.value.hint == "say so with --run"


def test_constructors_run_only_with_run(tmp_path: Path) -> None:
    mark = tmp_path / "begun"
    begin = f"#include <stdio.h>\n{STARTS.replace('/tmp/begun', str(mark))}"
    old = build_library(begin + SOURCE + GONE, files={"geo.h": HEADER})
    new = build_library(begin + SOURCE, files={"geo.h": HEADER})
    asked((old, new), WitnessPlan())
    assert not mark.exists()
    asked((old, new), WitnessPlan(run=True, snippet=snippet(tmp_path, "")))
    assert mark.exists()


def test_a_started_program_has_no_network(pair: tuple[Path, Path], tmp_path: Path) -> None:
    text = """#include <stdio.h>
#include <net/if.h>
int main(void) {
    struct if_nameindex *names = if_nameindex();
    for (int i = 0; names[i].if_name; i++) puts(names[i].if_name);
    return norm_of();
}
int norm_of(void) { return 1; }
"""
    made = of_snippet(pair, tmp_path, text.replace("int main", "int norm_of(void);\nint main"))
    assert made.reason == "it prints the same with both releases"
    source = snippet(tmp_path, text.replace("return norm_of();", "return 0;"))
    workshop = compilers.Workshop(tmp_path)
    assert workshop.compile(source.name, "own.o", [], "c").succeeded
    assert workshop.link(["own.o"], "own", "c").succeeded
    assert workshop.start("own", tmp_path).printed.split() == ["lo"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('for (;;) puts("again and again and again");', "killed by SIGXFSZ"),
        ("for (;;) {}", "killed by SIGXCPU|no answer within 2 seconds"),
        ("*(int *)8 = 1;", "killed by SIGSEGV"),
    ],
)
def test_a_started_program_has_limits(
    pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    monkeypatch.setattr(compilers, "SECONDS", 1)
    monkeypatch.setattr(compilers, "FILE", 1 << 20)
    made = of_snippet(pair, tmp_path, f"{body}\n")
    assert made.state == "none"
    assert re.search(f"({said})\n$", made.before)
    assert len(made.before) <= running.MOST_PRINTED + 100


def test_without_network_namespaces_nothing_is_started(
    pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "obstacle", lambda: "the system starts no program without a network")
    made = of_snippet(pair, tmp_path, "")
    assert (made.state, made.reason) == ("none", "the system starts no program without a network")


def test_what_a_call_gives_is_compared_with_a_program_that_is_compiled_anew() -> None:
    """Another value shows nothing: the function may have a reason. What only an old program is given does."""
    old, new = ("int level(void);\nint kept(void);\n", "double level(void);\nlong kept(void);\n")
    text = '#include "geo.h"\n{} level(void) {{ return 2; }}\n{} kept(void) {{ return 3; }}\n'
    built = (
        build_library(text.format("int", "int"), files={"geo.h": old}),
        build_library(text.format("double", "long"), files={"geo.h": new}),
    )
    by_name = {each.display: each for each in asked(built, WitnessPlan(run=True), "func_return_changed")}
    level, kept = by_name["level"], by_name["kept"]
    assert (level.sort, level.state, level.before) == ("run", "shown", "level() = 2\n")
    assert level.reason == "compiled with the new declarations, it prints level() = 2"
    assert level.after != level.before
    assert kept.sort == "layout"
