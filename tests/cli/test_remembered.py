"""Remembered verdicts on the command line: what they say of files is what the files asked for say."""

from __future__ import annotations

import subprocess
import sys

from tests.build import build_library
from tests.cli.conftest import Call

ONE = "int one(void) { return 1; }\n"
TWO = f"{ONE}int two(void) {{ return 2; }}\n"


def ingest(abistore: Call, version: str, source: str, identity: str) -> None:
    """A stripped build with the build-id ``identity``, twenty times."""
    built = build_library(source, flags=("-O1", "-s", f"-Wl,--build-id=0x{identity * 20}"))
    assert abistore("ingest", built, "--library", "libone", "--version", version).code == 0


def test_a_remembered_verdict_names_the_build_id_of_the_release_asked_for(abistore: Call) -> None:
    for version, source, identity in (("1", ONE, "aa"), ("2", TWO, "bb"), ("2.1", TWO, "cc")):
        ingest(abistore, version, source, identity)
    for _ in ("judged", "remembered"):
        for version, own, other in (("2", "bb", "cc"), ("2.1", "cc", "bb")):
            said = abistore("verdict", f"libone@{version}", "--against", "1", "--json").out
            assert own * 20 in said
            assert other * 20 not in said


ASKED = """
import sys
from abistore.cli.main import run
code = run(sys.argv[1:])
print("loaded:", *sorted(name for name in sys.modules if name.startswith("abistore.diffing")), file=sys.stderr)
sys.exit(code)
"""


def loaded(*words: str) -> str:
    """What of ``abistore.diffing`` a command loads in a process of its own."""
    done = subprocess.run([sys.executable, "-c", ASKED, *words], capture_output=True, text=True)
    assert done.returncode in {0, 2, 4}, done.stderr
    return done.stderr.splitlines()[-1]


def test_what_is_remembered_is_told_without_loading_what_judges(stored: Call) -> None:
    assert loaded("verdict", "libcase@2.0") != "loaded:"
    assert loaded("history", "libcase") != "loaded:"
    change = stored("verdict", "libcase@2.0", "--json").json["changes"][0]
    for told in (("verdict", "libcase@2.0", "-v"), ("verdict", "libcase@2.0", "--json"), ("history", "libcase")):
        assert loaded(*told) == "loaded:"
    assert loaded("explain", change["id"]) == "loaded:"
    assert loaded("explain", change["place"]) == "loaded:"
