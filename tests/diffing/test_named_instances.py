"""Instances of templates that headers only name."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.diffing.surface.public_api import PublicApi
from abistore.model.declarations import Declared, Name
from abistore.model.shapes import VOID, Function, Named, Pointer, Record, Variable
from abistore.model.snapshot import Variants
from tests.diffing.model import snapshot


def api(argument: Name) -> PublicApi:
    """Headers that define ``cell`` and have a function take ``cell<x> *``, which holds ``argument``."""
    instance = Name("record", "cell<x>")
    made = snapshot({instance: Record("struct", 4, arguments=(Named(argument),))})
    source: dict[Name, Variants] = {
        Name("record", "cell"): (Declared(traits=("template",)),),
        Name("variable", "cell::value"): (Declared(traits=("template",)), Variable("cell::value", VOID)),
        Name("function", "read"): (Declared(), Function("read", VOID, (Pointer(Named(instance)),))),
    }
    return PublicApi(replace(made, entries={**made.entries, "source": source}))


def test_an_instance_that_names_itself_comes_to_an_end() -> None:
    assert api(Name("record", "cell<x>")).definition(Name("record", "cell<x>")) == "public"


def test_an_instance_for_a_class_of_no_header_is_not_made_by_programs() -> None:
    assert api(Name("record", "x")).definition(Name("record", "cell<x>")) == "unmentioned"
