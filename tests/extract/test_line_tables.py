"""Where declarations stand, by the tables of line number programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name

COUNT = 140
"""More folders than have numbers of one byte."""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("version", [4, 5])
def test_a_file_is_found_in_whatever_folder_it_is(compiler: str, version: int, tmp_path: Path) -> None:
    for number in range(COUNT):
        folder = tmp_path / f"folder{number}"
        folder.mkdir()
        (folder / "part.h").write_text(f"struct part{number} {{ int value; }};\n")
    includes = "".join(f'#include "folder{number}/part.h"\n' for number in range(COUNT))
    members = "".join(f"struct part{number} p{number};" for number in range(COUNT))
    function = "int use(struct all *all) { return !all; }"
    (tmp_path / "all.c").write_text(f"{includes}struct all {{ {members} }};\n{function}\n")
    command = [compiler, f"-gdwarf-{version}", "-shared", "-fPIC", "-o", "liball.so", "all.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    locations = read_snapshot(tmp_path / "liball.so", ExtractOptions()).locations
    for number in range(COUNT):
        assert locations[Name("record", f"part{number}")].file.endswith(f"folder{number}/part.h")
