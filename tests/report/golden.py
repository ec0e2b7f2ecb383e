"""One comparison with everything that a report can show, made by hand so that no rule's wording moves it."""

from __future__ import annotations

from datetime import date

from msgspec.structs import replace

from abistore.model.declarations import SELF, Name
from abistore.model.findings import Churn, Comparison, Finding, Impact, NotChecked, RulingFile, Verdict
from abistore.model.shapes import (
    AnyShape,
    Array,
    Base,
    Enum,
    Enumerator,
    Field,
    Function,
    Named,
    Pointer,
    Primitive,
    Qualified,
    Record,
)
from abistore.model.snapshot import Evidence, Location, Snapshot, Target
from abistore.report.document import declared
from abistore.report.model import ChangeKind, Report
from abistore.report.outline import outline
from abistore.service.decision import DecisionRequest, decided
from tests.report.comparisons import AREA, NEW, NORM, OLD, SHAPE

INT, CHAR, DOUBLE, UNSIGNED = (
    Primitive("int", 4),
    Primitive("char", 1),
    Primitive("double", 8),
    Primitive("unsigned int", 4),
)
MODE, VALUE, BASE = Name("enum", "geo::Mode"), Name("record", "geo::Value"), Name("record", "geo::Base")
EQUAL = Name("function", "_ZN3geoeqERKNS_5ShapeES2_")
GONE = Name("function", "old_norm")
BY_SHAPE = Pointer(Qualified(Named(SHAPE), ("const",)), "&")

BEFORE: dict[Name, AnyShape] = {
    SHAPE: Record(
        "class",
        96,
        (
            Field("id", INT, 128),
            Field("kind", CHAR, 160),
            Field("dirty", UNSIGNED, 168, 1),
            Field("depth", UNSIGNED, 169, 5),
            Field("next", Pointer(Named(SHAPE)), 192),
            Field("label<raw>", Array(CHAR, 56), 256),
            Field("scale", DOUBLE, 704),
        ),
        (Base(Named(BASE), 64),),
        has_vptr=True,
    ),
    BASE: Record("struct", 8, (Field("count", DOUBLE, 0),)),
    VALUE: Record("union", 8, (Field("i", INT, 0), Field("d", DOUBLE, 0))),
    MODE: Enum(4, (Enumerator("FAST", 0), Enumerator("SLOW", 1))),
    GONE: Function("old_norm", INT, (INT,)),
    AREA: Function("geo::area", DOUBLE, (BY_SHAPE,)),
}
AFTER: dict[Name, AnyShape] = {
    **BEFORE,
    SHAPE: Record(
        "class",
        104,
        (
            Field("id", INT, 128),
            Field("stamp", Primitive("long", 8), 192),
            Field("kind", CHAR, 256),
            Field("dirty", UNSIGNED, 264, 1),
            Field("depth", UNSIGNED, 265, 6),
            Field("next", Pointer(Named(SHAPE)), 320),
            Field("label<raw>", Array(CHAR, 56), 384),
        ),
        (Base(Named(BASE), 64),),
        has_vptr=True,
    ),
    VALUE: Record("union", 16, (Field("i", INT, 0), Field("d", DOUBLE, 0), Field("text", Array(CHAR, 16), 0))),
    MODE: Enum(4, (Enumerator("FAST", 0), Enumerator("MEDIUM", 1), Enumerator("SLOW", 2))),
}
del AFTER[GONE]

SIZE = Finding(
    "type_size_changed", SHAPE, "", "the record has another size", Impact.BREAKING, "layout", "96 bytes", "104 bytes"
)
FINDINGS = (
    Finding(
        "type_field_added",
        SHAPE,
        "stamp",
        "a field was added",
        Impact.BREAKING,
        "layout",
        None,
        "long stamp at offset 24",
        Location("include/geo|shape.h", 12),
        (AREA, EQUAL),
        (SIZE, replace(SIZE, kind="type_field_offset_changed", part="kind", old_value="20", new_value="32")),
    ),
    Finding(
        "type_field_removed",
        SHAPE,
        "scale",
        "a field was removed",
        Impact.BREAKING,
        "layout",
        "double scale at offset 88",
        None,
        Location("include/geo|shape.h", 12),
        (AREA, EQUAL),
    ),
    Finding(
        "func_removed",
        GONE,
        "",
        "the function is no longer exported",
        Impact.BREAKING,
        "symbol",
        "old_norm",
        None,
        Location("/usr/include/geo norm.h", 3),
        (GONE,),
    ),
    Finding(
        "enum_member_added.inner",
        MODE,
        "MEDIUM",
        "the enumerator has the former value of another one",
        Impact.API_BREAK,
        "layout",
        None,
        "1",
        Location("include/mode.h", 0),
        (NORM,),
        default_impact=Impact.BREAKING,
        reason="modes are never stored, 100% sure: see <modes> & co",
    ),
    Finding("union_field_added", VALUE, "text", "a member was added", Impact.RISK, "layout", None, "char text[16]"),
    Finding(
        "func_added",
        EQUAL,
        "",
        "the function is new",
        Impact.COMPATIBLE,
        "symbol",
        None,
        "geo::operator==(const geo::Shape&, const geo::Shape&)",
    ),
    Finding(
        "needed_added",
        SELF,
        "`libm.so.6`",
        "a library is needed\nthat was not: *it* must be | installed",
        Impact.COMPATIBLE,
        "symbol",
        None,
        "libm.so.6",
    ),
)
HIDDEN = Finding(
    "func_removed",
    Name("function", "_internal"),
    "",
    "the function is no longer exported",
    Impact.BREAKING,
    "symbol",
    "_internal",
    suppressed_by="internal <names> (known.yaml, entry 1)",
    suppression_reason="never *documented*, no user found | TICKET-17",
    suppression_expires=date(2027, 1, 31),
)
UNEXPLAINED = replace(
    HIDDEN,
    name=Name("function", "_helper"),
    suppressed_by="known.yaml, entry 2",
    suppression_reason="",
    suppression_expires=None,
)
BUMP = Finding(
    "soname_bump_recommended",
    SELF,
    "",
    "breaking changes under the same SONAME, libgeo.so.1",
    Impact.ADVICE,
    "symbol",
)
CARDS = (
    ChangeKind(
        "type_field_added",
        "A field was inserted before others, or appended to a struct that callers allocate.",
        "The library reads and writes it where consumers keep another field.",
        "put it into reserved storage & keep the offsets.",
        "breaking",
        "layout",
        "types",
        "added",
    ),
    ChangeKind(
        "func_removed",
        "An exported function was removed.",
        "A program linked against it no longer starts.",
        "keep the function, as a wrapper if need be.",
        "breaking",
        "symbol",
        "functions",
        "removed",
    ),
    ChangeKind(
        "func_added",
        "An exported function was added.",
        "Built consumers do not ask for it.",
        "nothing.",
        "compatible",
        "symbol",
        "functions",
        "added",
    ),
    ChangeKind(
        "soname_bump_recommended",
        "There are breaking changes, and the SONAME stayed the same.",
        "Package managers and loaders take the new release for a replacement of the old one.",
        "bump the SONAME, or revert the breaking changes.",
        "advice",
        "symbol",
        "library",
        "changed",
    ),
    ChangeKind("var_added", "Does not occur.", "-", "-", "compatible", "symbol", "variables", "added"),
)
STRIPPED = NotChecked(
    "layout", "new", "partial-debug-info", "1 of 4 exports is not described", "build all units with -g", (NORM,)
)


PARTLY = (Evidence("symbol", "full"), Evidence("layout", "partial", "partial-debug-info", described=3, expected=4))
MISSING = (Evidence("symbol", "full"), Evidence("layout", "missing", "no-debug-info", expected=4))


def comparison() -> Comparison:
    """The judged comparison."""
    return Comparison(
        OLD,
        replace(NEW, evidence=PARTLY),
        Verdict.BREAKING,
        FINDINGS,
        (STRIPPED,),
        (HIDDEN, UNEXPLAINED),
        policy="our-sdk",
        engine="e1",
        notes=("the policy is read from a *file*",),
        policy_digest="1" * 16,
        suppression_digest="2" * 16,
        advice=(BUMP,),
        policy_file=RulingFile("sdk policy.yaml", "3" * 64),
        suppression_files=(RulingFile("known.yaml", "4" * 64), RulingFile("skip_symbols", "5" * 64)),
    )


def snapshot(entries: dict[Name, AnyShape]) -> Snapshot:
    """A snapshot with these declarations."""
    layout = {name: (shape,) for name, shape in entries.items()}
    return Snapshot("libgeo", None, Target("elf", "x86_64", 64, "little"), {"layout": layout})


def report() -> Report:
    """The comparison, arranged."""
    made = comparison()
    declarations = declared(made, snapshot(BEFORE), snapshot(AFTER))
    found = outline(made, churn=Churn(1, 1, 3), kinds=CARDS, declarations=declarations)
    return decided(found, DecisionRequest("release"))


def unequal() -> Report:
    """No change between a build with debug information and one without."""
    missing = replace(
        STRIPPED, reason="no-debug-info", detail="no debug information in the file", hint="build it with -g", names=()
    )
    new = replace(NEW, evidence=MISSING)
    found = outline(Comparison(OLD, new, Verdict.NO_CHANGE, (), (missing,), engine="e1"), churn=Churn(0, 0, 0))
    return decided(found, DecisionRequest("release"))


REPORTS = {"": report, "unequal-": unequal}
"""What is rendered, by what its golden files' names begin with."""
