"""Every command that the pages show is run, in the order shown, and prints what the page says it prints.

In a ``console`` block a line behind ``$`` is run, and the lines below it are its output; ``...`` stands for lines that
the page leaves out. Dates and digests may differ. ``<!-- not run: reason -->`` before a block says why it is not run;
``<!-- file: name -->`` before a block of another language means the file that the commands use.
``--update-cases`` writes what commands print today into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest

from tests.build import build_library
from tests.warm.starting import abistore

pytestmark = pytest.mark.full

PROJECT = Path(__file__).parents[2]
FIRST = "docs/start/quickstart.md"
PAGES = (
    "README.md",
    "docs/start/concepts.md",
    *(f"docs/reference/{name}.md" for name in ("exit-codes", "reports", "packages")),
    *(f"docs/questions/{name}.md" for name in ("policies", "suppressions", "approvals", "history", "releases")),
    *(f"docs/questions/{name}.md" for name in ("programs", "witness", "environments", "transfer", "what-if")),
)
ANSWERS = (0, 2, 4)
MOST_SHOWN = 8
"""How many lines a rewritten output begins with where the page left some out."""

BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>file|not run): (?P<said>.*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
CHANGING = re.compile(r"\d{4}-\d\d-\d\d|\b[0-9a-f]{12,}\b")

POINT = {"1.2.0": "int x;", "1.3.0": "int x;", "1.6.0": "int x, y, z;"}
UNITS = {"1.5.0": "UNIT_MM, UNIT_CM, UNIT_COUNT", "1.6.0": "UNIT_MM, UNIT_CM, UNIT_COUNT"}
AREA = "int area(const struct point *p)"


class Step(NamedTuple):
    """A command of a page, with the output that the page shows; none where it shows nothing."""

    command: str
    output: tuple[str, ...]


def blocks(page: str) -> Iterator[re.Match[str]]:
    """The code blocks of a page."""
    return BLOCK.finditer((PROJECT / page).read_text())


def steps(page: str) -> list[Step]:
    """The commands of a page's console blocks that are run, without the remarks behind them."""
    found: list[Step] = []
    for block in blocks(page):
        if block["language"] == "console" and block["mark"] != "not run":
            for line in block["text"].splitlines():
                if line.startswith("$ "):
                    found.append(Step(re.split(r"\s{2,}# ", line[2:])[0].strip(), ()))
                else:
                    found[-1] = Step(found[-1].command, (*found[-1].output, line))
    return found


def header(version: str) -> str:
    """The public header of a release."""
    known = version.partition("-")[0]
    functions = ["int norm(const struct point *p, enum unit u);", *([] if known == "1.2.0" else [f"{AREA};"])]
    return "\n".join(
        [
            f"struct point {{ {POINT.get(known, 'int x, y;')} }};",
            f"enum unit {{ {UNITS.get(known, 'UNIT_MM, UNIT_COUNT')} }};",
            *functions,
            "",
        ]
    )


def release(version: str) -> Path:
    """The library of a release."""
    return build_library(
        '#include "foo.h"\n'
        "int norm(const struct point *p, enum unit u) { return p->x + u; }\n"
        f"{'' if version.startswith('1.2.0') else f'{AREA} {{ return p->x; }}'}\n",
        soname="libfoo.so.1",
        name="libfoo.so",
        files={"foo.h": header(version)},
    )


def install(version: str, folder: Path, include: Path) -> None:
    """Put a release's library into a folder, and its header into another one."""
    for each in (folder, include):
        each.mkdir(parents=True, exist_ok=True)
    shutil.copy(release(version), folder)
    (include / "foo.h").write_text(header(version))


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A checkout as the pages have it in mind: old and new builds, and a repository."""
    for version in ("1.2.0", "1.3.0", "1.4.0"):
        install(version, tmp_path / "old" / version, tmp_path / "old" / version / "include")
    for folder, version in {"old": "1.5.0", "new": "1.6.0"}.items():
        install(version, tmp_path / folder, tmp_path / folder / "include")
    install("1.6.0", tmp_path / "build", tmp_path / "include")
    shutil.copy(release("1.5.0"), tmp_path / "old.so")
    shutil.copy(release("1.6.0"), tmp_path / "new.so")
    for version, build in {"1.2": "1.5.0", "1.3": "1.6.0"}.items():
        with ZipFile(tmp_path / f"foo-{version}.whl", "w") as wheel:
            wheel.write(release(build), "foo/libfoo.so")
            wheel.writestr(f"foo-{version}.dist-info/METADATA", f"Name: foo\nVersion: {version}\n")
    as_somebody = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], [*as_somebody, "commit", "-q", "--allow-empty", "-m", "empty"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def run(workshop: Path, command: str) -> subprocess.CompletedProcess[str]:
    if named := re.search(r"ingest build/libfoo\.so --version (\S+)", command):
        install(named[1], workshop / "build", workshop / "include")
    environment = {**os.environ, "ABISTORE_DB": str(workshop / "abi.db"), "COLUMNS": "100"}
    script = f'abistore() {{ {shlex.join(abistore())} "$@"; }}\nexec 2>&1\n{command}'
    return subprocess.run(["bash", "-c", script], cwd=workshop, env=environment, capture_output=True, text=True)


def is_shown(lines: tuple[str, ...], printed: str) -> bool:
    """Whether a page's lines are those that were printed, but for dates, digests and what it leaves out."""
    parts = [re.escape(CHANGING.sub("#", line.rstrip())) + "\n" if line != "..." else r"(?:.*\n)*?" for line in lines]
    text = "".join(CHANGING.sub("#", line.rstrip()) + "\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch("".join(parts), text) is not None


def follow(page: str, workshop: Path, *, update: bool = False) -> None:
    """Run the commands of a page; with ``update`` the page is rewritten where one prints something else."""
    for block in blocks(page):
        if block["mark"] == "file":
            path = workshop / block["said"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block["text"])
    for command, output in steps(page):
        done = run(workshop, command)
        assert done.returncode in ANSWERS, f"{command}\n{done.stdout}"
        if output and update and not is_shown(output, done.stdout):
            rewrite(page, command, output, cut(done.stdout, "..." in output))
        elif output:
            assert is_shown(output, done.stdout), f"{command}\n{done.stdout}"


def rewrite(page: str, command: str, shown: tuple[str, ...], printed: list[str]) -> None:
    """Replace the output that a page shows below a command."""
    path = PROJECT / page
    old, new = ("".join(f"\n{line}" for line in (*lines, "")) for lines in (shown, printed))
    before, found, below = path.read_text().partition(f"$ {command}")
    assert old in below, f"{page} shows no such lines below {command}:{old}"
    path.write_text(f"{before}{found}{below.replace(old, new, 1)}")


def cut(printed: str, is_cut: bool) -> list[str]:
    """The lines to show: all, or the first where the page leaves lines out."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    return [*lines[:MOST_SHOWN], "..."] if is_cut and len(lines) > MOST_SHOWN else lines


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether pages are rewritten."""
    return bool(request.config.getoption("--update-cases"))


def test_the_quickstart_can_be_followed_and_prints_what_it_shows(workshop: Path, update: bool) -> None:
    assert len(steps(FIRST)) > 12
    follow(FIRST, workshop, update=update)


@pytest.mark.parametrize("page", [page for page in PAGES if steps(page)])
def test_every_command_of_a_page_prints_what_the_page_shows(workshop: Path, page: str, update: bool) -> None:
    for version in ("1.2.0", "1.3.0", "1.4.0"):
        run(workshop, f"abistore ingest old/{version}/libfoo.so --version {version} --header old/{version}/include")
    run(workshop, "abistore ingest old/libfoo.so --version 1.5.0 --header old/include --set-baseline")
    follow(page, workshop, update=update)


@pytest.mark.parametrize("page", [FIRST, *PAGES])
def test_commands_stand_in_console_blocks(page: str) -> None:
    assert not [block for block in blocks(page) if block["language"] in {"sh", "bash", "shell"}]
