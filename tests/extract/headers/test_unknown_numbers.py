"""Numbers that libclang cannot tell are no facts: what is written of any header can be read again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import abistore.extract.headers
from abistore.model.declarations import Name
from abistore.model.shapes import Enum
from abistore.model.snapshot_files import from_json, to_json
from tests.draws import draws
from tests.public_headers import implementing

MEMBERS = (
    "enum E{n} {{ A{n}, B{n} }}; E{n} e{n};",
    "enum E{n} {{ A{n} = sizeof(T), B{n} }}; E{n} get{n}(E{n});",
    "enum {{ A{n}, B{n} = sizeof(T) }};",
    "enum class S{n} : T {{ A, B }}; S{n} s{n};",
    "struct I{n} {{ T t; int a[sizeof(T)]; int b : sizeof(T); I{n} *next; }}; I{n} i{n};",
    "union U{n} {{ T t; char bytes[sizeof(T)]; }}; U{n} *u{n};",
    "typedef T V{n} __attribute__((vector_size(sizeof(T) * 4))); V{n} *v{n};",
    "struct F{n} {{ int count; T tail[]; }}; F{n} *f{n};",
    "struct alignas(T) L{n} {{ T t; }}; L{n} *l{n};",
    "static constexpr unsigned C{n} = sizeof(T); int c{n}[C{n}];",
    "template <class X> struct M{n} {{ enum {{ K = sizeof(X) }}; X x[K]; }}; M{n}<T> *m{n};",
    "virtual T call{n}(T (&)[sizeof(T)]);",
)
USES = (
    "extern template struct Q<int>;",
    "template struct Q<long>;",
    "int take(Q<short> *);",
    "struct D : Q<char> {}; int derived(D *);",
    "inline Q<int> *made();",
    "extern Q<int> array[];",
    "struct Incomplete; extern Incomplete few[]; enum Later : int; int later(Later *, Incomplete &);",
    "template <> struct Q<float> { enum E { A }; }; int special(Q<float>);",
    "template <class T> using P = Q<T *>; int aliased(P<int> *);",
)


@settings(max_examples=draws(6), deadline=None)
@given(
    st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=6), st.lists(st.sampled_from(USES), min_size=1, unique=True)
)
def test_what_is_written_of_a_header_is_read_again(members: list[str], uses: list[str]) -> None:
    _can_be_written_and_read(members, uses)


def test_all_of_them_at_once_are_read_again() -> None:
    _can_be_written_and_read(MEMBERS, USES)


def _can_be_written_and_read(members: list[str] | tuple[str, ...], uses: list[str] | tuple[str, ...]) -> None:
    body = " ".join(each.format(n=number) for number, each in enumerate(members))
    header = f"template <class T> struct Q {{ {body} }};\n" + "\n".join(uses)
    written = to_json(implementing({"q.h": header}))
    assert not re.search(rb":-\d", written), written
    assert to_json(from_json(written)) == written


@pytest.mark.parametrize("written", ["A, B", "A, B = sizeof(T)"])
def test_an_enumeration_in_a_template_has_no_values_of_its_own(written: str) -> None:
    header = f"template <class T> class Q {{ public: enum op {{ {written} }}; }}; extern template class Q<int>;"
    shapes = implementing({"q.h": header}).variants("source", Name("enum", "Q::op"))
    assert shapes and not any(isinstance(each, Enum) for each in shapes)


def test_only_one_module_asks_libclang_for_numbers() -> None:
    raw = r"Type_get(?:Size|Align)Of|getOffsetOfField|getFieldDeclBitWidth|getArraySize|getNumElements"
    (folder,) = abistore.extract.headers.__path__
    found = {each.name for each in Path(folder).rglob("*.py") if re.search(raw, each.read_text())}
    assert found == {"cursors.py"}
