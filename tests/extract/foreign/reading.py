"""Dumps of libraries for tests: real ones that are kept, and ones that the tools make now."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Verdict
from abistore.model.snapshot import Snapshot
from benchmarks.dumps import FORMATS, dumped, told
from tests.build import build_library

REAL = Path(__file__).parent / "real"
OPTIONS = ExtractOptions(library="libcase")


def dump_of(library: Path, form: str) -> Snapshot:
    """What the tool of a format writes about a library. The test is skipped where the tool is missing."""
    tool = FORMATS[form][0]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    return read_snapshot(dumped(library, form), OPTIONS)


def written(folder: Path, text: str | bytes, name: str = "case.dump") -> Path:
    """A file with this text."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def real_library(name: str) -> Path:
    """A library built from the sources that a real dump is of."""
    folder = REAL / name
    source = next(folder.glob("*.cc"))
    others = {path.name: path.read_text() for path in folder.iterdir() if path != source}
    flags = ["-g", "-Og", *([f"-Wl,--version-script={each}" for each in others if each.endswith(".map")])]
    return build_library(source.read_text(), language="c++", flags=flags, files=others)


def assert_no_change(old: Snapshot, new: Snapshot) -> None:
    """Nothing differs, whichever side is the older."""
    for first, second in ((old, new), (new, old)):
        found = compare(first, second)
        assert not told(found)
        assert found.verdict is Verdict.NO_CHANGE
        assert any(each.reason == "facts-not-recorded" for each in found.not_checked)
