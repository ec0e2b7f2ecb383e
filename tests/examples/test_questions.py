"""Every question of ``questions/release-manager.md`` is answered as the page shows, from real releases and programs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from examples.recipes import LZ4
from tests.examples.test_quickstart import follow, run, steps
from tests.examples.test_quickstart import update as update
from tests.releases import obtained
from tests.statement_schema import STATEMENTS

pytestmark = pytest.mark.full

PAGE = "docs/questions/release-manager.md"
PROGRAMS = {
    "packer": "extern void LZ4_attach_dictionary(void *, const void *);\n"
    "extern int LZ4_versionNumber(void);\n"
    "int main(int argc, char **argv) {\n"
    "    if (argc > 2) LZ4_attach_dictionary(argv[1], argv[2]);\n"
    "    return !LZ4_versionNumber();\n}\n",
    "lister": "extern int LZ4_versionNumber(void);\nint main(void) { return !LZ4_versionNumber(); }\n",
}


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A database with the releases, and the programs that were linked with 1.8.3."""
    for version in LZ4.version_numbers():
        (tmp_path / version).mkdir()
        shutil.copy(obtained(LZ4, version), tmp_path / version / "liblz4.so.1")
    for name, source in PROGRAMS.items():
        (tmp_path / f"{name}.c").write_text(source)
        command = ["gcc", "-s", "-o", name, f"{name}.c", "1.8.3/liblz4.so.1"]
        subprocess.run(command, cwd=tmp_path, check=True)
    for version, day in LZ4.released:
        library = f"{version}/liblz4.so.1"
        run(tmp_path, f"abistore ingest {library} --version-from folder --released {day} --set-baseline-if-none")
    run(tmp_path, "abistore history liblz4")
    return tmp_path


def test_every_question_is_answered_as_the_page_shows(workshop: Path, update: bool) -> None:
    assert len(steps(PAGE)) >= 12
    follow(PAGE, workshop, update=update)


def test_the_statement_of_every_real_release_has_the_fields_of_the_published_schema(workshop: Path) -> None:
    for version in LZ4.version_numbers():
        done = run(workshop, f"abistore verdict --statement liblz4@{version} --json")
        STATEMENTS.validate(json.loads(done.stdout))
