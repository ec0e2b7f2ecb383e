"""What maintainers state of their packages: what does not work beside a release, and which exports are optional.

It is shown beside findings, and no verdict depends on it: a break is accepted by an approval.
"""

from __future__ import annotations

from collections.abc import Iterator

from abistore.model.names import EXPORTS
from abistore.model.snapshot import PackageRead, Provenance
from abistore.model.words.counting import counted
from abistore.report.model import Report, every

MOST_NAMED = 5


def stated(report: Report, old: Provenance, new: Provenance) -> Iterator[str]:
    """What the maintainers of both sides' packages state about what changed between them."""
    before, after = old.package, new.package
    known = before.breaks if isinstance(before, PackageRead) else ()
    broken = [each for each in after.breaks if each not in known] if isinstance(after, PackageRead) else []
    if isinstance(after, PackageRead) and broken:
        yield f"the maintainer states that {after.name} {after.version} breaks {_some(broken)}"
    if not isinstance(before, PackageRead) or not before.optional:
        return
    if told := sorted(_removed(report) & set(before.optional)):
        count = counted(len(told), "removed export")
        yield f"the maintainer marks {count} optional in {before.name} {before.version}: {_some(told)}"


def _removed(report: Report) -> set[str]:
    """The exports that findings say are removed."""
    kinds = {each.kind for each in report.kinds if each.action == "removed"}
    found = [each for each in every(report.changes) if each.kind in kinds and each.subject in EXPORTS]
    return {name for each in found for name in (each.symbol, *each.affected)}


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"
