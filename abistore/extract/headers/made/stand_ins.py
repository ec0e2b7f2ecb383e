"""Instances that stand for those which programs make of a class template, and headers need not have."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.extract.headers.made.behind import BehindUnit
from abistore.extract.headers.made.instances import MARKER, MOST_INSTANCES, TEMPLATE
from abistore.extract.headers.walk.declared import Walked
from abistore.extract.headers.walk.unlaid import UNNAMED
from abistore.extract.types.foreign import is_foreign
from abistore.model.declared import Argument, Declared
from abistore.model.names import Name


def stand_ins(behind: BehindUnit, walked: Walked, *, runtime: bool) -> list[Name]:
    """An instance of each class template that a text can name: ``int`` for types, 1 for values.

    Those that do not compile are left out, as of a template that is only declared, or that refuses ``int``. One without
    an end would stop the compiler where it is asked for more than its size.
    """
    found = list(_instances(walked, runtime=runtime))[:MOST_INSTANCES]
    if not found:
        return []
    uses = "".join(f"template struct {MARKER}< ::{name.spelling} >;\n" for name in found)
    errors = behind.read(TEMPLATE + uses).lines_with_errors()
    return [name for line, name in enumerate(found, 2) if line not in errors]


def _instances(walked: Walked, *, runtime: bool) -> Iterator[Name]:
    for name, shapes in walked.entries.items():
        if name.kind == "record" and "<" not in name.spelling and not is_foreign(name.spelling, runtime):
            template = next((each.template for each in shapes if isinstance(each, Declared)), ())
            instance = Name("record", f"{name.spelling}<{', '.join(_arguments(template))}>")
            if template and not UNNAMED.search(name.spelling) and instance not in walked.entries:
                yield instance


def _arguments(template: tuple[Argument, ...]) -> Iterator[str]:
    """What stands for each parameter up to the first one that has a default."""
    for each in template:
        if each.default is not None:
            return
        yield "int" if each.name.split(maxsplit=1)[0].rstrip(".") in ("class", "typename") else "1"
