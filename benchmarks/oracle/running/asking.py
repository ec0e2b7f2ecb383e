"""What abistore and abidiff say of an edit, by what they are given."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from abistore.diffing.judge.judged import compare
from abistore.errors import AbistoreError
from abistore.extract.capture import headers_of, read_snapshot
from abistore.extract.reader import ExtractOptions, FacetReading, HeaderOptions, with_headers
from abistore.model.findings import Comparison, Impact
from abistore.model.snapshot import Snapshot
from benchmarks.oracle.running.truth import Built
from examples.obtain import require

MODES: Final = ("files", "headers", "stripped")
"""Debug information alone, with headers, and a stripped library with headers."""

Answer: TypeAlias = dict[str, object]

WORSE: Final = (Impact.BREAKING, Impact.API_BREAK, Impact.RISK)


Snapshots: TypeAlias = Mapping[str, Snapshot]
"""What a side shows in each mode."""


@dataclass
class Asker:
    """Asks of sides. What it read of the old side of a library is kept, and what its headers declare."""

    kept: dict[Path, Snapshots] = field(default_factory=dict)
    declared: dict[bytes, FacetReading] = field(default_factory=dict)

    def answers(self, old: Built, new: Built) -> dict[str, Answer]:
        """abistore's answer in each mode."""
        if old.library not in self.kept:
            self.kept[old.library] = self.snapshots(old, keep=True)
        before = self.kept[old.library]
        try:
            after = self.snapshots(new)
            return {mode: told(compare(before[mode], after[mode])) for mode in MODES}
        except AbistoreError as problem:
            refused: Answer = {"verdict": "REFUSED", "kinds": [f"{type(problem).__name__}: {problem.message}"[:200]]}
            return dict.fromkeys(MODES, refused)

    def snapshots(self, built: Built, *, keep: bool = False) -> Snapshots:
        """What a side shows. Its headers are read once: both modes with headers give the same.

        Raises :class:`abistore.errors.AbistoreError`.
        """
        full = read_snapshot(built.library, ExtractOptions(library="libx"))
        stripped = read_snapshot(built.stripped, ExtractOptions(library="libx"))
        headers = self._declared(built, full, keep)
        return {"files": full, "headers": with_headers(full, headers), "stripped": with_headers(stripped, headers)}

    def _declared(self, built: Built, full: Snapshot, keep: bool) -> FacetReading:
        """What the headers declare: those of the old side are not read again where nothing of them changed."""
        exports = sorted(name.spelling for name in full.entries.get("symbol", ()))
        texts = [
            (str(path.relative_to(built.headers)), path.read_text()) for path in sorted(built.headers.rglob("*.h"))
        ]
        key = hashlib.sha256(repr((exports, texts)).encode()).digest()
        found = self.declared.get(key) or headers_of(full, HeaderOptions(headers=(built.headers,)))
        if keep:
            self.declared[key] = found
        return found


def told(found: Comparison) -> Answer:
    """A verdict, the kinds that weigh, and what was not checked."""
    kinds = {f"{each.impact.name} {each.kind} {each.name.spelling}" for each in found.findings if each.impact in WORSE}
    listed = sorted(kinds, key=lambda each: (not each.startswith("BREAKING"), not each.startswith("API"), each))
    return {"verdict": found.verdict.name, "kinds": listed[:6], "unchecked": len(found.not_checked)}


def abidiff(old: Built, new: Built) -> Mapping[str, int]:
    """The exit codes of abidiff: bit 4 is a change, bit 8 an incompatible one."""
    command = [require("abidiff", "abigail-tools"), "--no-default-suppression"]
    given = ["--headers-dir1", str(old.headers), "--headers-dir2", str(new.headers)]
    asked: dict[str, list[str | Path]] = {
        "files": [*command, old.library, new.library],
        "headers": [*command, *given, old.library, new.library],
    }
    return {mode: subprocess.run(words, capture_output=True).returncode for mode, words in asked.items()}
