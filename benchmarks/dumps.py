"""Measure what other tools' dumps tell of the catalogue's cases: `python -m benchmarks.dumps [FORMAT...]`.

Each case of the rules whose two sides are compiled is built; abidw and abi-dumper dump both libraries. Two questions:

- the dump against the library that it is of: is anything said to differ?
- the dumps of the two sides against each other: is what the libraries give found, as far as the format records it?
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from abistore.diffing.judge.judged import compare
from abistore.errors import AbistoreError
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Comparison
from abistore.model.format_gaps import common_ground
from abistore.model.snapshot import Snapshot
from tests.cases import RULES, Case, Fence, cases, source_of

FORMATS = {"abixml": ("abidw", ".abi"), "abicc": ("abi-dumper", ".dump")}
OPTIONS = ExtractOptions(library="libcase")
RESULT = Path(__file__).parents[1] / "docs" / "reference" / "other-dumps.json"
"""What was measured last; the site shows it in ``docs/reference/other-dumps.md``."""

ABOUT_EVIDENCE = frozenset({"evidence_narrowed", "dwarf_info_missing"})


class Seen(NamedTuple):
    """What one case gives: differences of a dump to its own library, and findings that one evidence has alone."""

    label: str
    false: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    failed: str = ""
    found: int = 0
    partial: bool = False


def dumped(library: Path, form: str) -> Path:
    """The dump of a library, beside it; made once."""
    tool, suffix = FORMATS[form]
    made = library.with_name(library.name + suffix)
    if not made.exists():
        partial = made.with_name(f"{made.name}.{os.getpid()}{suffix}")
        command = [tool, library.name, "--out-file" if form == "abixml" else "-o", partial.name]
        if form == "abicc":
            command += ["-lver", "1"]
        subprocess.run(command, cwd=library.parent, capture_output=True, check=True, timeout=60)
        partial.rename(made)
    return made


def compiled(case: Case) -> tuple[Path, Path] | None:
    """The libraries of both sides, where a compiler makes them and no header is read beside them."""
    sides: list[Path] = []
    for side in ("old", "new"):
        own: list[Fence] = [fence for fence in case.fences if fence.side in (side, "")]
        if any(fence.is_snapshot or fence.is_public for fence in own):
            return None
        sources = [fence for fence in own if fence.language in ("c", "cpp") and "file" not in fence.options]
        if not sources or sources[0].options.get("layout", "yes") != "yes":
            return None
        sides.append(source_of(own, sources[0]).build())
    return sides[0], sides[1]


def asked(case: Case, form: str) -> Seen | None:
    """What the dumps of a case tell; ``None`` for a case that is not about two libraries."""
    libraries = compiled(case)
    if libraries is None:
        return None
    try:
        dumps = [read_snapshot(dumped(each, form), OPTIONS) for each in libraries]
    except (AbistoreError, subprocess.SubprocessError, OSError) as error:
        return Seen(
            case.label, failed=type(error).__name__ + ": " + str(error).replace(str(libraries[0].parent), "")[:80]
        )
    binaries = [read_snapshot(each, OPTIONS) for each in libraries]
    try:
        return _seen(case, dumps, binaries)
    except AbistoreError as error:  # a dump that does not tell the whole platform
        return Seen(case.label, failed=f"{type(error).__name__}: {error}"[:120])


def _seen(case: Case, dumps: Sequence[Snapshot], binaries: Sequence[Snapshot]) -> Seen:
    pairs = [pair for old, new in zip(dumps, binaries, strict=True) for pair in ((old, new), (new, old))]
    false = {each for old, new in pairs for each in told(compare(old, new))}
    expected, found = told(compare(*as_recorded(binaries, dumps))), told(compare(*dumps))
    partial = any(each.evidence_of("layout").state != "full" for each in dumps)
    missed, invented = (
        tuple(sorted((one - other).elements())) for one, other in ((expected, found), (found, expected))
    )
    return Seen(case.label, tuple(sorted(false)), missed, invented, found=found.total(), partial=partial)


def told(comparison: Comparison) -> Counter[str]:
    """The findings, each as its impact, its kind and what it is about."""
    return Counter(
        f"{each.impact.label} {each.kind} {each.name.spelling}"
        for each in comparison.findings
        if each.kind not in ABOUT_EVIDENCE
    )


def as_recorded(binaries: Sequence[Snapshot], dumps: Sequence[Snapshot]) -> tuple[Snapshot, Snapshot]:
    """The libraries with no more facts than their dumps have: what both evidences can see."""
    old, new = (common_ground(binary, dump)[0] for binary, dump in zip(binaries, dumps, strict=True))
    return old, new


def every_case() -> Iterator[Case]:
    """All cases of the rules."""
    for path in sorted(RULES.glob("*.md")):
        yield from cases(path)


def _asked(label: str, path: Path, number: int, form: str) -> Seen | None:
    return asked(cases(path)[number - 1], form)


def main(forms: Sequence[str]) -> None:
    """Print what each case gives that is not as it should be, and the sums; keep the sums of all formats."""
    found = list(every_case())
    sums: dict[str, dict[str, int]] = {}
    for form in forms or sorted(FORMATS):
        with ProcessPoolExecutor(2) as pool:
            work = [pool.submit(_asked, case.label, case.path, case.number, form) for case in found]
            results = [seen for each in work if (seen := each.result()) is not None]
        for seen in results:
            for what in ("failed", "false", "missed", "invented"):
                if value := getattr(seen, what):
                    print(f"{form} {seen.label} {what}: {value if isinstance(value, str) else '; '.join(value)}")
        sums[form] = summed(results)
        print(form, sums[form])
    if not forms:
        RESULT.write_text(json.dumps(sums, indent=1) + "\n")


def summed(results: Sequence[Seen]) -> dict[str, int]:
    """How many cases there are, how many were read, and how many differ."""
    whole = [seen for seen in results if not seen.failed]
    return {
        "cases": len(results),
        "read": len(whole),
        "findings": sum(seen.found for seen in whole),
        **{what: sum(bool(getattr(seen, what)) for seen in whole) for what in ("false", "missed", "invented")},
    }


if __name__ == "__main__":
    main(sys.argv[1:])
