"""Each established name of a kind of change is told by a kind that has a case, or has a reason why none tells it."""

from __future__ import annotations

from operator import attrgetter

from click.testing import CliRunner

from abistore.cli.main import cli
from abistore.diffing.context import load
from abistore.diffing.established import BEYOND, ESTABLISHED, EXCLUDED, LATER
from abistore.service.kinds import EstablishedName, established
from tests.subjects import assert_each

NAMES = tuple(established())


def test_the_catalogue_has_145_distinct_names() -> None:
    assert len(set(ESTABLISHED)) == len(ESTABLISHED) == 145


def test_later_names_are_at_least_forty_more() -> None:
    assert len(set(LATER) - set(ESTABLISHED)) == len(LATER) >= 40


def test_an_established_name_has_a_kind_or_a_reason_and_never_both() -> None:
    def law(one: EstablishedName) -> None:
        assert bool(one.kinds) != bool(one.reason)

    assert_each(NAMES, law, named=attrgetter("name"))


def test_the_kinds_of_an_established_name_exist_and_have_cases_and_near_misses() -> None:
    def law(one: EstablishedName) -> None:
        assert set(one.kinds) <= load().keys()
        assert one.cases >= len(one.kinds)
        assert one.near_misses >= len(one.kinds)

    assert_each([one for one in NAMES if one.kinds], law, named=attrgetter("name"))


def test_what_is_left_out_is_established() -> None:
    assert EXCLUDED.keys() <= {*ESTABLISHED, *LATER}
    assert not BEYOND.keys() & {*ESTABLISHED, *LATER}


def test_no_alias_is_the_name_of_a_kind() -> None:
    rules = load()
    assert not {alias for each in rules.values() for alias in each.aliases} & rules.keys()


def test_one_command_prints_the_table() -> None:
    done = CliRunner().invoke(cli, ["changes", "--established"])
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert len(lines) == 1 + len(NAMES) + 1
    assert f"{len(NAMES) - len(EXCLUDED) - len(BEYOND)} of {len(NAMES)} names have a kind" in lines[-1]
