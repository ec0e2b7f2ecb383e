"""A law asked of many subjects fails for each that breaks it, and for want of any."""

from __future__ import annotations

import pytest

from tests.subjects import assert_each


def positive(number: int) -> None:
    assert 1 / number > 0, "negative"


def test_a_law_that_holds_passes() -> None:
    assert_each([1, 2], positive)


def test_every_subject_that_breaks_a_law_is_listed_and_no_other() -> None:
    with pytest.raises(pytest.fail.Exception) as raised:
        assert_each([-1, 2, 0, -3], positive, named="number {}".format)
    lines = str(raised.value).splitlines()
    assert lines[0] == "3 of 4 break the law"
    found = [line for line in lines if line.startswith("number")]
    assert [line.split(":")[0] for line in found] == ["number -1", "number 0", "number -3"]
    assert found[0].endswith(": negative")
    assert found[1].endswith(": ZeroDivisionError: division by zero")


def test_what_pytest_itself_fails_is_a_failure_of_its_subject() -> None:
    def law(number: int) -> None:
        with pytest.raises(ValueError, match="invalid literal"):
            int(str(number))

    with pytest.raises(pytest.fail.Exception, match=r"2 of 2 break the law\n1: .*DID NOT RAISE.*\n2: .*DID NOT RAISE"):
        assert_each([1, 2], law)


def test_a_law_without_a_subject_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="0 of 0"):
        assert_each([], positive)
