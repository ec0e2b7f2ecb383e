"""Headers that a build writes of itself: ``config.h`` of Autoconf and CMake, with what it found and what it chose."""

from __future__ import annotations

from abistore.compare.classify.constants.build import is_of_package, is_probe
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.declared import Declared
from abistore.model.names import Name


def is_configured(name: Name, context: Context) -> bool:
    """Whether a constant stands in such a header on both sides."""
    sides = (context.old, context.new)
    return all(side.files.get(name, "") in context.once(configuration_headers, side) for side in sides)


def configuration_headers(side: SideFacts, _: Context) -> frozenset[str]:
    """The headers that declare nothing but macros, of which at least half tell what the build found or is called."""
    probes: dict[str, list[bool]] = {}
    others = set[str]()
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        file = side.files.get(name, "")
        macro = next((each for each in shapes if isinstance(each, Declared) and "macro" in each.traits), None)
        if macro is None:
            others.add(file)
        else:
            told = is_probe(name, macro.value) or is_of_package(name, macro.value)
            probes.setdefault(file, []).append(told)
    return frozenset(
        file
        for file, told in probes.items()
        if file and file not in others and sum(told) > 1 and 2 * sum(told) >= len(told)
    )
