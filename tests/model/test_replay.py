"""A part has moved because of what is told, or for a reason of its own."""

from __future__ import annotations

import pytest

from abistore.model.layout_replay import LaidPart, Layout, Replay, Told


def bits(key: str, start: int, size: int, alignment: int | None = None, own: int | None = None) -> LaidPart:
    """A member of ``size`` bytes at byte ``start``; ``own`` is how many of them it fills itself."""
    end = 8 * (start + size)
    filled = end if own is None else 8 * (start + own)
    return LaidPart(key, 8 * start, (end, filled), 8 * (size if alignment is None else alignment))


def bit_field(key: str, start: int, width: int) -> LaidPart:
    return LaidPart(key, start, (start + width, start + width), 32, 32)


def struct(*parts: LaidPart, size: int, alignment: int = 4) -> Layout:
    return Layout(parts, 8 * size, 8 * alignment)


def following(old: Layout, new: Layout, *changed: str, moved: tuple[str, ...] = ()) -> set[str]:
    replay = Replay(old, new, Told(frozenset(changed), frozenset(moved)))
    found = {key for key in (each.key for each in old.parts) if replay.follows(key)}
    found |= {"size"} if old.size != new.size and replay.size_follows else set()
    return found | ({"alignment"} if old.alignment != new.alignment and replay.alignment_follows else set())


ABC = struct(bits("a", 0, 4), bits("b", 4, 4), bits("c", 8, 4), size=12)


def test_what_lies_behind_an_added_member_follows_it() -> None:
    new = struct(bits("a", 0, 4), bits("x", 4, 4), bits("b", 8, 4), bits("c", 12, 4), size=16)
    assert following(ABC, new, "x") == {"b", "c", "size"}


def test_nothing_follows_what_no_finding_tells() -> None:
    new = struct(bits("a", 0, 4), bits("x", 4, 4), bits("b", 8, 4), bits("c", 12, 4), size=16)
    assert following(ABC, new) == set()
    assert following(ABC, new, moved=("b",)) == {"c", "size"}


def test_members_that_change_places_follow_nothing() -> None:
    new = struct(bits("a", 0, 4), bits("x", 4, 4), bits("c", 8, 4), bits("b", 12, 4), size=16)
    assert following(ABC, new, "x") == set()
    assert following(ABC, new, "x", moved=("b", "c")) == {"size"}


def test_what_lies_behind_a_removed_member_follows_if_all_that_is_gone_is_told() -> None:
    new = struct(bits("c", 0, 4), size=4)
    assert following(ABC, new, "a", "b") == {"c", "size"}
    assert following(ABC, new, "a") == set()


def test_a_member_that_asks_for_more_alignment_does_not_follow() -> None:
    new = struct(bits("a", 0, 8), bits("b", 16, 4), bits("c", 20, 4), size=32, alignment=16)
    assert following(ABC, new, "a") == set()
    natural = struct(bits("a", 0, 8), bits("b", 8, 4), bits("c", 12, 4), size=16, alignment=8)
    assert following(ABC, natural, "a") == {"b", "c", "size", "alignment"}


def test_a_record_that_asks_for_more_alignment_does_not_follow() -> None:
    new = struct(*ABC.parts, bits("x", 12, 4), size=64, alignment=64)
    assert following(ABC, new, "x") == set()
    realigned = Replay(ABC, new, Told(frozenset("x"), realigned=True))
    assert realigned.size_follows
    assert not realigned.alignment_follows


def test_room_behind_the_last_member_stays_as_much_as_it_was() -> None:
    old, new = struct(*ABC.parts, size=64), struct(*ABC.parts, bits("x", 12, 4), size=68)
    assert following(old, new, "x") == {"size"}
    assert following(old, struct(*ABC.parts, bits("x", 12, 4), size=64 + 32), "x") == set()


def test_a_gap_without_a_name_stays_between_its_neighbours() -> None:
    old = struct(bits("a", 0, 4), bits("b", 12, 4), size=16)
    assert following(old, struct(bits("x", 0, 4), bits("a", 4, 4), bits("b", 16, 4), size=20), "x") == {
        "a",
        "b",
        "size",
    }
    assert following(old, struct(bits("x", 0, 4), bits("a", 4, 4), bits("b", 8, 4), size=12), "x") == {"a"}


def test_where_an_alignment_is_not_known_only_what_keeps_its_distance_follows() -> None:
    old = struct(bits("a", 0, 4), bits("b", 4, 4, alignment=0), size=8)
    assert following(old, struct(bits("a", 0, 8), bits("b", 8, 4, alignment=0), size=12), "a") == {"b", "size"}
    assert following(old, struct(bits("a", 0, 1), bits("b", 4, 4, alignment=0), size=8), "a") == set()


def test_packed_members_lie_behind_each_other() -> None:
    old = struct(bits("a", 0, 1), bits("b", 1, 4, alignment=1), size=5, alignment=1)
    new = struct(bits("a", 0, 1), bits("x", 1, 1), bits("b", 2, 4, alignment=1), size=6, alignment=1)
    assert following(old, new, "x") == {"b", "size"}
    unpacked = struct(bits("a", 0, 1), bits("x", 1, 1), bits("b", 4, 4, alignment=1), size=8, alignment=1)
    assert following(old, unpacked, "x") == set()


def test_bit_fields_lie_in_units_of_their_type() -> None:
    old = struct(bit_field("a", 0, 20), bit_field("b", 20, 10), size=4)
    assert following(old, struct(bit_field("a", 0, 24), bit_field("b", 32, 10), size=8), "a") == {"b", "size"}
    assert following(old, struct(bit_field("a", 0, 21), bit_field("b", 21, 10), size=4), "a") == {"b"}
    assert following(old, struct(bit_field("a", 0, 21), bit_field("b", 32, 10), size=8), "a") == set()


@pytest.mark.parametrize("reuses", [True, False])
def test_members_behind_a_base_use_its_tail_padding_if_they_did(reuses: bool) -> None:
    base, wider = bits("base B", 0, 8, 4, own=5), bits("base B", 0, 12, 4, own=9)
    old = struct(base, bits("c", 5 if reuses else 8, 1), size=8 if reuses else 12)
    padded = struct(wider, bits("c", 9, 1), size=12)
    whole = struct(wider, bits("c", 12, 1), size=16)
    expected, other = (padded, whole) if reuses else (whole, padded)
    assert "c" in following(old, expected, "base B")
    assert following(old, other, "base B") == set()


def test_whether_tail_padding_is_used_is_not_known_where_there_was_none() -> None:
    old = struct(bits("base B", 0, 4), bits("c", 4, 1), size=8)
    for place, size in ((5, 8), (8, 12)):
        new = struct(bits("base B", 0, 8, 4, own=5), bits("c", place, 1), size=size)
        assert "c" not in following(old, new, "base B")


def test_a_union_grows_with_its_largest_member() -> None:
    old = Layout((bits("a", 0, 4), bits("b", 0, 8)), 64, 64, "union")
    assert following(old, Layout((*old.parts, bits("x", 0, 16, 8)), 128, 64, "union"), "x") == {"size"}
    assert following(old, Layout((*old.parts, bits("x", 0, 16, 8)), 192, 64, "union"), "x") == set()
    assert following(old, Layout((bits("a", 0, 4),), 32, 32, "union"), "b") == {"size", "alignment"}


def test_a_member_that_takes_the_room_of_another_is_that_one_renamed() -> None:
    new = struct(bits("a", 0, 4), bits("new", 4, 4), bits("x", 8, 4), bits("c", 12, 4), size=16)
    assert following(ABC, new, "x") == {"c", "size"}


def numbers(*found: tuple[str, int]) -> Layout:
    return Layout(tuple(LaidPart(name, value, (value + 1, value + 1)) for name, value in found), sort="sequence")


def test_enumerators_are_one_more_than_the_one_before() -> None:
    old = numbers(("A", 0), ("B", 1), ("C", 2))
    assert following(old, numbers(("A", 0), ("X", 1), ("B", 2), ("C", 3)), "X") == {"B", "C"}
    assert following(old, numbers(("A", 0), ("X", 1), ("B", 2), ("C", 9)), "X") == {"B"}
    assert following(old, numbers(("A", 0), ("X", 1), ("C", 2), ("B", 3)), "X") == set()
    assert following(old, numbers(("A", 0), ("X", 1), ("B", 2), ("C", 3))) == set()


def test_what_the_order_of_bases_tells_moves_them() -> None:
    old = struct(bits("base P", 0, 8), bits("base Q", 8, 8), size=16, alignment=8)
    new = struct(bits("base Q", 0, 8), bits("base P", 8, 8), size=16, alignment=8)
    assert following(old, new) == set()
    bases = frozenset(("base P", "base Q"))
    replay = Replay(old, new, Told(bases, reordered=bases))
    assert replay.follows("base P")
    assert replay.follows("base Q")
