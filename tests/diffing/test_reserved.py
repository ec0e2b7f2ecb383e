"""Which names of fields say that nobody uses them."""

from __future__ import annotations

import pytest

from abistore.diffing.types.mentions import is_opaque_storage, is_reserved
from abistore.model.declarations import Name
from abistore.model.shapes import Array, Field, Named, Procedure, Record, TypeRef
from tests.diffing.model import CHAR, INT, LONG, VOID, record, to

BYTES = Array(CHAR, 16)


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("reserved", BYTES),
        ("reserved2", to(VOID)),
        ("_reserved1", INT),
        ("__glibc_reserved", INT),
        ("_gst_reserved", Array(to(VOID), 4)),
        ("unused", INT),
        ("pad", BYTES),
        ("_pad1", INT),
        ("padding", BYTES),
        ("dummy", INT),
        ("internal", to(VOID)),
        ("fill", BYTES),
        ("_fill", INT),
        ("fill2", INT),
        ("reserved_for_future_use", BYTES),
        ("abi_reserved", BYTES),
        ("hooks_reserved", Array(to(Procedure(VOID, ())), 4)),
        ("internal_donotuse", Named(record("state"))),
        ("do_not_use", Named(record("state"))),
        ("reserved", Array(Named(Name("alias", "guint8")), 8)),
    ],
)
def test_room_for_later_use_is_told_by_name_and_type(name: str, type: TypeRef) -> None:
    assert is_reserved(Field(name, type, 0))


@pytest.mark.parametrize(
    ("name", "type"),
    [
        ("reserved_bytes", LONG),
        ("bytes_reserved", LONG),
        ("padding_left", INT),
        ("private_key", to(VOID)),
        ("opaque", to(VOID)),
        ("extra", to(CHAR)),
        ("pad", to(record("pad"))),
        ("reserved", to(record("table"))),
        ("spare_parts", INT),
        ("internals", to(VOID)),
        ("fill", INT),
        ("internal", INT),
        ("placeholder", to(CHAR)),
        ("x", INT),
    ],
)
def test_what_means_something_is_not_reserved(name: str, type: TypeRef) -> None:
    assert not is_reserved(Field(name, type, 0))


def test_an_unnamed_bit_field_is_room_and_an_unnamed_member_is_not() -> None:
    assert is_reserved(Field("", INT, 0, 3))
    assert not is_reserved(Field("", Named(record("inner")), 0))


def test_a_union_gives_room_where_all_else_is_forbidden() -> None:
    state = Field("internal_donotuse", Named(record("state")), 0)
    assert is_opaque_storage(Record("union", 16, (Field("table", Array(LONG, 2), 0), state)))
    assert not is_opaque_storage(Record("union", 16, (Field("table", Array(LONG, 2), 0), Field("x", INT, 0))))
    assert not is_opaque_storage(Record("union", 16, (Field("other", Named(record("other")), 0), state)))
    assert not is_opaque_storage(Record("struct", 32, (Field("table", Array(LONG, 2), 0), state)))
