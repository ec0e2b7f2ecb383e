"""What names and places of enumerators tell: ends and lengths move, error codes and colours must not."""

from __future__ import annotations

import pytest

from abistore.diffing.kinds.enumerators import EnumeratorValues
from abistore.diffing.kinds.records import end_hint
from abistore.model.shapes import Enum, Enumerator


def enum(called: str = "", /, **values: int) -> EnumeratorValues:
    return EnumeratorValues(Enum(4, tuple(Enumerator(name, value) for name, value in values.items())), called)


BOUNDS = [
    "REG_ENDING",
    *("COLOR_MAX", "COLOR_LAST", "COLOR_COUNT", "COLOR_SIZE", "COLOR_END", "COLOR_NUM", "COLOR_NB", "COLOR_TOTAL"),
    *("MAX", "color_max", "NUM_COLORS", "NB_COLORS", "COLOR_MAX_VALUE", "COLOR_LAST_ENTRY", "COLOR_FORCE_UINT"),
    *(
        "COLOR_FORCE_32BIT",
        "kColorMax",
        "kLast",
        "ColorCount",
        "NumColors",
        "kNumColors",
        "COLOR_SENTINEL",
        "MAX_COLORS",
    ),
    *("COLOR_MAX_", "COLOR__LAST", "COLOR_MAX_ENUM", "NUMBER_OF_COLORS"),
    *("HASH_AlgTOTAL", "SSL_ERROR_END_OF_LIST", "ROLE_LAST_DEFINED", "X_NUM_ENTRIES"),
    *("FONT_pastLast", "FOO_LAST_CODE"),
]

OTHERS = [
    *(
        "POOL_MAX_SPEED",
        "MAX_POOL",
        "CLIMAX",
        "BACKEND",
        "WEEKEND",
        "APPEND",
        "DISCOUNT",
        "LAST_NAME",
        "RESIZE",
        "BLAST",
    ),
    *("FORCE_FULLSCREEN", "PENDING", "SIZED", "COUNTER", "kBackend", "Weekend", "ENUM", "TOTALLY", "MAXIMIZE"),
    *("HTTP_LAST_MODIFIED", "EVENT_END_OF_FILE", "STREAM_END_ELEMENT_SEEN", "N_WAY", "KEY_NUM_LOCK", "NUMBER"),
    *("LAST_MESSAGE_SENT_CODE", "LASTINGCODE", "BLASTMSGCODE", "COMBLASTCODE"),
]


@pytest.mark.parametrize("name", BOUNDS)
def test_names_of_ends_and_lengths(name: str) -> None:
    assert end_hint(name)


@pytest.mark.parametrize("name", OTHERS)
def test_names_that_only_hold_such_letters(name: str) -> None:
    assert not end_hint(name)


def test_an_end_has_the_largest_value() -> None:
    colors = enum(RED=0, GREEN=1, COLOR_COUNT=2, COLOR_FORCE_UINT=0x7FFFFFFF)
    assert colors.is_sentinel(Enumerator("COLOR_COUNT", 2))
    assert not enum(LIST_BEGIN=0, LIST_END=1, LIST_ITEM=2).is_sentinel(Enumerator("LIST_END", 1))


def test_a_size_an_end_or_a_total_is_one_of_values_that_are_counted() -> None:
    assert enum("color", RED=0, GREEN=1, COLOR_SIZE=2).is_sentinel(Enumerator("COLOR_SIZE", 2))
    assert enum("color", RED=1, GREEN=2, COLOR_END=3).is_sentinel(Enumerator("COLOR_END", 3))
    assert not enum("color", RED=0, GREEN=4, COLOR_SIZE=9).is_sentinel(Enumerator("COLOR_SIZE", 9))
    assert not enum("flow", BAD=-1, GOOD=0, FLOW_END=1).is_sentinel(Enumerator("FLOW_END", 1))
    assert not enum("COLOR_SIZE", COLOR_SIZE=64).is_sentinel(Enumerator("COLOR_SIZE", 64))
    assert not enum("color", RED=0, GREEN=1, COLOR_SIZE=1 << 62).is_sentinel(Enumerator("COLOR_SIZE", 1 << 62))


def test_a_list_may_rise_by_steps_that_leave_room_for_bits() -> None:
    shifted = enum("color", RED=0, GREEN=4, GREEN_LIGHT=5, BLUE=9, GREY=12, COLOR_END=16)
    assert shifted.is_sentinel(Enumerator("COLOR_END", 16))
    tens = enum("color", RED=0, GREEN=10, BLUE=20, GREY=30, COLOR_END=40)
    assert tens.is_sentinel(Enumerator("COLOR_END", 40))


@pytest.mark.parametrize(
    "values",
    [
        {"RED": 0, "GREEN": 4, "BLUE": 8, "COLOR_END": 12},
        {"RED": 4, "GREEN": 8, "BLUE": 12, "GREY": 16, "COLOR_END": 20},
        {"RED": 0, "GREEN": 4, "BLUE": 12, "GREY": 13, "COLOR_END": 16},
        {"RED": 0, "GREEN": 4, "BLUE": 8, "GREY": 12, "COLOR_END": 17},
        {"RED": 0, "GREEN": 1, "BLUE": 3, "GREY": 4, "PINK": 6, "COLOR_END": 8},
    ],
)
def test_few_or_uneven_steps_lead_to_no_end(values: dict[str, int]) -> None:
    assert not enum("color", **values).is_sentinel(Enumerator("COLOR_END", values["COLOR_END"]))


@pytest.mark.parametrize("name", ["COLOR_FIRST", "kColorMin", "kFirst", "COLOR_MIN_VALUE"])
def test_the_first_of_a_list_is_its_smallest_value_by_another_name(name: str) -> None:
    assert enum("color", **{name: -3, "RED": -3, "GREEN": 1}).is_sentinel(Enumerator(name, -3))
    assert not enum("color", **{name: -3, "GREEN": 1}).is_sentinel(Enumerator(name, -3))
    assert not enum("color", **{name: 1, "RED": -3, "GREEN": 1}).is_sentinel(Enumerator(name, 1))


@pytest.mark.parametrize("called", ["color_error", "ColorResult", "COLOR_STATUS", "io::ErrorCode", "token_t", "State"])
def test_a_size_or_an_end_among_errors_and_results_is_one_of_them(called: str) -> None:
    assert not enum(called, OK=0, DENIED=1, BAD_SIZE=2).is_sentinel(Enumerator("BAD_SIZE", 2))
    assert enum(called, OK=0, DENIED=1, COLOR_COUNT=2).is_sentinel(Enumerator("COLOR_COUNT", 2))


def test_enumerators_tell_as_well_as_the_enumeration_that_they_are_errors() -> None:
    assert not enum("", ERR_NONE=0, ERR_OPEN=1, ERR_SIZE=2).is_sentinel(Enumerator("ERR_SIZE", 2))
    assert enum("", TERRAIN_SEA=0, TERRAIN_LAND=1, TERRAIN_SIZE=2).is_sentinel(Enumerator("TERRAIN_SIZE", 2))


@pytest.mark.parametrize(
    ("called", "values"),
    [
        ("xml_event", {"XML_BEGIN": 0, "XML_TEXT": 1, "XML_END": 2}),
        ("parse_state", {"ERR_BEGIN": 0, "ERR_TEXT": 1, "ERR_END": 2}),
        ("open_error", {"ERR_DENIED": -8, "ERR_NONE": 0, "ERR_END": 1}),
        ("open_error", {"ERR_BEGIN": 0, "ERR_END": 2, "ERR_DENIED": 3}),
        ("open_error", {"ERR_NONE": 0, "ERR_BEGIN": 1, "ERR_END": 2}),
        ("open_error", {"ERR_NO_BEGIN": -1, "ERR_NONE": 0, "ERR_NO_END": 1}),
        ("open_error", {"ERR_BEGIN": -1, "ERR_END": 0}),
        ("open_error", {"BEGIN": -1, "DENIED": 0, "END": 1}),
    ],
)
def test_other_ends_beside_errors_are_values(called: str, values: dict[str, int]) -> None:
    listed = enum(called, **values)
    assert not any(listed.is_sentinel(Enumerator(name, value)) for name, value in values.items())


def test_a_mask_joins_all_other_bits() -> None:
    assert enum(F_A=1, F_B=2, F_C=4, F_ALL=7).is_sentinel(Enumerator("F_ALL", 7))
    assert not enum(F_A=1, F_B=2, F_C=4, F_ALL=3).is_sentinel(Enumerator("F_ALL", 3))


def test_the_last_known_of_values_with_gaps_is_a_value() -> None:
    assert enum(MODE_A=1, MODE_B=2, LAST_KNOWN_MODE=3).is_sentinel(Enumerator("LAST_KNOWN_MODE", 3))
    assert enum(MODE_A=1, MODE_B=9, LAST_KNOWN_MODE=9).is_sentinel(Enumerator("LAST_KNOWN_MODE", 9))
    assert not enum(MODE_A=1, MODE_B=9, LAST_KNOWN_MODE=20).is_sentinel(Enumerator("LAST_KNOWN_MODE", 20))
