"""Whether the evidence of a snapshot claims no more than its entries show."""

from __future__ import annotations

from abistore.model.mangling.symbols import is_declared
from abistore.model.references import references
from abistore.model.snapshot import Evidence, Snapshot
from abistore.model.words.counting import counted


def unfounded(snapshot: Snapshot) -> str:
    """What the evidence claims and the entries do not show, in words; empty where there is no such thing."""
    return next((said for seen in snapshot.evidence if (said := _unfounded(snapshot, seen))), "")


def _unfounded(snapshot: Snapshot, seen: Evidence) -> str:
    facet = seen.facet
    if seen.state != "missing" and facet not in snapshot.entries:
        return f"its evidence says that {facet} was seen, and nothing of {facet} is there"
    if facet != "layout":
        return ""
    exported, described = (
        {name.spelling for name in snapshot.entries.get(facet, ()) if name.kind in {"function", "variable"}}
        for facet in ("symbol", "layout")
    )
    if len(described) < seen.described:
        return f"its evidence says that {seen.described} exports are described, and {len(described)} are"
    absent = sorted(filter(is_declared, exported - described))
    if absent and (seen.reason == "nothing-to-describe" or (seen.state == "full" and not seen.reason)):
        some = counted(len(absent), "export is", "exports are")
        return f"its evidence says that all is described, and {some} not, e.g. {', '.join(absent[:3])}"
    if seen.state == "full" and (dangling := _mentioned_only(snapshot)):
        some = counted(len(dangling), "type is", "types are")
        return f"its evidence says that all is described, and {some} mentioned only, e.g. {', '.join(dangling[:3])}"
    return ""


def _mentioned_only(snapshot: Snapshot) -> list[str]:
    """The types that described exports mention and that are not there; debug information declares each at least."""
    layout = snapshot.entries["layout"]
    there = {name for name, shapes in layout.items() if shapes}
    mentioned = {each for shapes in layout.values() for shape in shapes for each, _ in references(shape)}
    return sorted(each.spelling for each in mentioned - there)
