"""The order of release labels under each scheme."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abistore.errors import UsageError
from abistore.model.versions import SCHEMES, scheme_for, sort_key

ORDERED = {
    "pep440": "1.0.dev1 1.0a1 1.0rc1 1.0 1.0.post1 1.1 v1.2 1.10 1!0.1",
    "semver": "1.0.0-a 1.0.0-a.1 1.0.0-a.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 v1.0.1",
    "debian": "1.0~~ 1.0~~a 1.0~ 1.0~rc1-1 1.0 1.0-0.1 1.0-1 1.0a 1.0+dfsg-1 1.0.1 1.2 1.10 1:0.1",
    "plain": "2.0 10.0 R_2_0 R_2_6_0 R_2_10_0 R_2_10_0a",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_labels_are_ordered_as_the_scheme_says(scheme: str) -> None:
    labels = ORDERED[scheme].split()
    backwards = labels[::-1]
    assert sorted(backwards, key=lambda label: sort_key(label, scheme)) == labels


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        (["1.0", "1.1rc1"], "pep440"),
        (["1.0.0-alpha.beta", "1.0.0"], "semver"),
        (["1.0.2", "1.0.2k"], "debian"),
        (["1.0", "R_2_0"], "plain"),
        ([], "pep440"),
    ],
)
def test_auto_is_the_first_scheme_that_reads_every_label(labels: list[str], scheme: str) -> None:
    assert scheme_for(labels) == scheme


def test_a_declared_scheme_is_taken_as_it_is() -> None:
    assert scheme_for(["1.0"], "debian") == "debian"


@pytest.mark.parametrize(
    ("scheme", "one", "other"),
    [
        ("pep440", "1.0", "1.0.0"),
        ("semver", "1.0.0+a", "1.0.0+b"),
        ("debian", "1.0", "1.0-0"),
        ("plain", "1.01", "1.1"),
    ],
)
def test_labels_that_the_scheme_holds_equal_have_one_order(scheme: str, one: str, other: str) -> None:
    keys = [sort_key(one, scheme), sort_key(other, scheme)]
    assert keys[0][0] == keys[1][0]
    assert (keys[0] < keys[1]) is not (keys[1] < keys[0])


@pytest.mark.parametrize(("label", "scheme"), [("R_1", "pep440"), ("1.0", "semver"), ("a1", "debian")])
def test_a_label_that_the_scheme_does_not_read_is_refused(label: str, scheme: str) -> None:
    with pytest.raises(UsageError, match=f"{label} is not a {scheme} version"):
        sort_key(label, scheme)


def test_an_unknown_scheme_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        sort_key("1.0", "calver")
    assert "pep440" in caught.value.hint


texts = st.one_of(st.text(max_size=12), st.from_regex(r"v?[0-9]{1,3}([.~+a-z-][0-9]{0,3}){0,4}", fullmatch=True))


@given(st.lists(texts, max_size=6))
def test_any_labels_have_a_total_order(labels: list[str]) -> None:
    for scheme in (*SCHEMES, scheme_for(labels)):
        try:
            keys = {label: sort_key(label, scheme) for label in labels}
        except UsageError:
            assert scheme != "plain"
            continue
        ordered = sorted(labels, key=keys.__getitem__)
        backwards = labels[::-1]
        assert ordered == sorted(backwards, key=keys.__getitem__)
        assert len(set(keys.values())) == len(keys)
