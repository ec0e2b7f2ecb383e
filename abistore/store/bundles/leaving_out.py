"""What of a bundle has a name that no command could say: it is left out and told, and the rest comes in."""

from __future__ import annotations

from dataclasses import dataclass, field

from abistore.errors import UsageError
from abistore.model.labels.naming import Named, check_name
from abistore.store.bundles.contents import Contents
from abistore.store.bundles.records import MoveRecord


@dataclass(slots=True)
class Unsayable:
    """``snapshots`` are left out by their numbers, with the reason of each.

    ``told`` says of what stands there why it is left out; ``notes`` name what was replaced or taken back there.
    """

    snapshots: dict[int, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def leave_out(found: Contents) -> Unsayable:
    """Take out of the contents what cannot be said, and what stands at it; snapshots keep their numbers.

    Stores of before such names were refused have them, and so has what somebody forged.
    """
    left = Unsayable()
    libraries = {one.name: why for one in found.libraries if (why := _fault("library", one.name))}
    of_lines = [libraries.get(line.library) or _fault("profile", line.profile) for line in found.lines]
    for number, card in enumerate(found.snapshots):
        if why := of_lines[card.line] or _fault("version", card.version):
            left.snapshots[number] = why
            called = f"{found.key(card.line)} {card.version}, digest {card.digest[:12]}"
            if card.superseded:
                left.notes.append(f"left out, as it was replaced or taken back there: {called}")
            else:
                left.told.append(f"{called}: {why}")
    found.libraries = [one for one in found.libraries if one.name not in libraries]
    found.reviews = [one for one in found.reviews if one.said.library not in libraries]
    found.approvals = [one for one in found.approvals if one.said.library not in libraries]
    found.moves = _sayable(found, of_lines, left)
    return left


def _sayable(found: Contents, of_lines: list[str], left: Unsayable) -> list[MoveRecord]:
    """The moves of channels that can be said, and that do not stand at what is left out."""
    refused = {(found.snapshots[number].line, found.snapshots[number].version) for number in left.snapshots}
    emptied = {line for line, _ in refused} - {
        card.line for number, card in enumerate(found.snapshots) if number not in left.snapshots
    }
    last = {(move.line, move.channel): move for move in found.moves}
    dropped = set()
    for (line, channel), move in last.items():
        why = of_lines[line] or _fault("channel", channel)
        if not why and (line, move.version) in refused:
            why = f"it stands at {move.version} there, which is left out"
        elif not why and line in emptied:
            why = "nothing of its line comes"
        if why:
            dropped.add((line, channel))
            told = left.told if move.version is not None else left.notes
            told.append(f"baseline {channel} of {found.key(line)}: {why}")
    return [move for move in found.moves if (move.line, move.channel) not in dropped]


def _fault(what: Named, text: str) -> str:
    """Why no command could say a name, or nothing."""
    try:
        check_name(what, text)
    except UsageError as error:
        return f"{error.message} ({error.hint})"
    return ""
