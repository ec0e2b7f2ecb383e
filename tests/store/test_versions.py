"""The order of release labels under each scheme."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abistore.errors import UsageError
from abistore.model.labels import AUTO
from abistore.model.versions import SCHEMES, SPECIFIED, LabelOrder, check_version, position, reading

ORDERED = {
    "pep440": "1.0.dev1 1.0a1 1.0rc1 1.0rc1-2-gabcdef0 1.0 1.0-3-g126bde0 1.0.post1 1.1 v1.2 1.10 1!0.1",
    "semver": "1.0.0-a 1.0.0-a.1 1.0.0-a.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0-rc.1-5-gabcdef0 "
    "1.0.0 1.0.0-dirty v1.0.0-1-g126bde0 1.0.0-14-g126bde0 v1.0.1",
    "debian": "1.0~~ 1.0~~a 1.0~ 1.0~rc1-1 1.0 1.0-0.1 1.0-1 1.0a 1.0+dfsg-1 1.0.1 1.2 1.10 1:0.1",
    "plain": "2.0 10.0 R_2_0 R_2_6_0 R_2_10_0 R_2_10_0a",
}

CONVENTIONS = {
    **{scheme: labels for scheme, labels in ORDERED.items() if scheme != "plain"},
    "git-describe": "v1.0.0-rc1 1.0.0-rc1-5-gabcdef0 v1.0.0-rc2 v1.0.0 v1.0.0-dirty v1.0.0-1-g126bde0 "
    "v1.0.0-1-g126bde0-dirty 1.0.0-2-gabcd v1.0.0-14-g126bde0 v1.0.1-rc1 v1.0.1",
    "git-describe, two numbers": "v2.0-rc1 v2.0 v2.0-7-g0123abc v2.0.1 v2.1-beta v2.1",
    "OpenSSL": "1.0.2-beta1 1.0.2 1.0.2a 1.0.2b 1.0.2k-fips 1.0.2za 1.1.0-pre1 1.1.0 3.0.0-alpha1 3.0.0-alpha17 "
    "3.0.0-beta1 3.0.0 3.0.1",
    "OpenSSL's tags": "OpenSSL_1_0_2-beta1 OpenSSL_1_0_2 OpenSSL_1_0_2a OpenSSL_1_0_2za OpenSSL_1_1_0",
    "days": "2023-12-31 2024-01-01-rc1 2024-01-01 2024-01-01-1 2024-01-02 2024-02-01 2024-10-01",
    "days without marks": "20231231 20240101 20240101a 20240102 20241001",
    "moments": "20240101120000 20240101130000 20241001000000",
    "calendar versions": "22.04 22.04.1 22.10 24.04-beta 24.04 24.04.1 24.10",
    "years and numbers": "2023.12.1 2024.1 2024.1.1 2024.2 2024.10",
    "Debian revisions": "2.36-1 2.36-9 2.36-9+deb12u1 2.36-9+deb12u7 2.36-9+deb12u10 2.36-10 2.37~rc1-1 2.37-1",
    "Debian revisions of three numbers": "1.2.3~beta1-1 1.2.3 1.2.3-1~bpo12+1 1.2.3-1 1.2.3-1+b1 1.2.3-2 1.2.3-10",
    "Ubuntu": "3.0.2-0ubuntu1 3.0.2-0ubuntu1.1 3.0.2-0ubuntu1.10 3.0.2-1",
    "Fedora": "1.2.3-4.fc39 1.2.3-4.fc40 1.2.3-5.fc39 1.2.3-10.fc39",
    "four numbers": "1.2.3.4 1.2.3.10 1.2.4.0 1.2.4.1 1.2.10.0",
    "revisions": "r9 r99 r123 r1000 r1234567",
    "LLVM": "15.0.0git 15.0.0-rc1 15.0.0-rc2 15.0.0 15.0.1",
    "ICU's tags": "release-74-rc release-74-1 release-74-2 release-75-rc",
    "curl's tags": "curl-7_9_8 curl-7_88_1 curl-8_0_0 curl-8_10_0",
    "libjpeg": "6a 6b 7 8 8a 8d 9 9e",
    "OpenSSH": "8.9p1 9.0p1 9.0p2 9.3p1",
    "BSD": "7.4-BETA2 7.4-RC1 7.4-RELEASE 7.4-RELEASE-p3 7.5-RC1",
    "Boost": "1.79.0 1.80.0.beta1 1.80.0 1.81.0",
    "Maven": "1.0-SNAPSHOT 1.0-alpha-1 1.0-beta-2 1.0-rc1 1.0 1.1-SNAPSHOT",
    "long numbers": f"1.{'9' * 5000} 2.0 2.{'1' * 5000}",
    "series": "1.0 2.0 nightly-2024-01-01 nightly-2024-01-02 nightly-20240103 nightly-20240201",
}

UNREAD = """nightly main foo 126bde0 1265780 abcdef0 deadbeef g126bde0 main-126bde0 main-1265780 126bde0-dirty 99999999
3f786850e387550fdabe836ed7e6dc881de23001 1.0@2 1.0é - . ~1 v"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_labels_are_ordered_as_the_scheme_says(scheme: str) -> None:
    labels = ORDERED[scheme].split()
    backwards = labels[::-1]
    assert sorted(backwards, key=lambda label: position(label, 0, scheme)) == labels


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_labels_of_every_convention_are_ordered_as_its_users_expect(convention: str) -> None:
    labels = CONVENTIONS[convention].split()
    backwards = labels[::-1]
    assert sorted(backwards, key=lambda label: position(label, 0)) == labels
    standings = {position(label, 0).standing for label in labels}
    assert LabelOrder.UNORDERED not in standings


@pytest.mark.parametrize("label", UNREAD.split())
def test_a_label_that_is_no_version_stands_in_the_order_of_ingestion(label: str) -> None:
    assert position(label, 7) > position("zzz-999", 1)
    assert position(label, 7) > position("main", 6)
    assert position(label, 7) < position("main", 8)


@pytest.mark.parametrize(
    ("scheme", "one", "other"),
    [
        ("pep440", "1.0", "1.0.0"),
        ("semver", "1.0.0+a", "1.0.0+b"),
        ("debian", "1.0", "1.0-0"),
        ("plain", "1.01", "1.1"),
        ("auto", "v1.0", "1.0.0"),
    ],
)
def test_labels_that_the_scheme_holds_equal_have_one_order(scheme: str, one: str, other: str) -> None:
    assert reading(one, scheme) == reading(other, scheme)
    keys = [position(one, 0, scheme), position(other, 0, scheme)]
    assert (keys[0] < keys[1]) is not (keys[1] < keys[0])


@pytest.mark.parametrize(("label", "scheme"), [("R_1", "pep440"), ("1.0", "semver"), ("a1", "debian")])
def test_a_label_that_a_declared_scheme_does_not_read_is_refused(label: str, scheme: str) -> None:
    with pytest.raises(UsageError, match=f"{label} is not a {scheme} version"):
        check_version(label, scheme)


def test_an_unknown_scheme_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        position("1.0", 0, "calver")
    assert "pep440" in caught.value.hint


numbers = st.lists(st.integers(0, 12).map(str), min_size=1, max_size=4).map(".".join)
SUFFIXES = "-rc1 rc2 -alpha -beta.2 a b1 .dev3 .post1 -1 -1+deb12u1 ~rc1 +dfsg-2 -SNAPSHOT -foo p1 -1-g126bde0 -dirty"
suffixes = st.sampled_from(SUFFIXES.split())
versions = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "v", "release-", "nightly-", "R_", "1:"]),
    numbers,
    st.just("") | suffixes,
    st.just("") | suffixes,
)
hashes = st.integers(0, 16**40 - 1).map("{:040x}".format).flatmap(lambda word: st.sampled_from([word, word[:7]]))
days = st.dates().map(str)
labels = st.one_of(
    versions, hashes, days, st.text(max_size=12), st.sampled_from(["nightly", "main", "v2.0-rc1", "v2.0"])
)
lines = st.lists(labels, max_size=8, unique=True)


def ordered(line: list[str], scheme: str) -> list[str]:
    """The labels of a line, which were ingested in the order given, in release order."""
    return sorted(line, key=lambda label: position(label, line.index(label), scheme))


@given(lines, labels)
@example(["v2.0-rc1", "v2.0"], "nightly")
@example(["1.0.2", "1.0.2a", "1.0.2-beta1"], "2.36-9+deb12u7")
def test_a_label_that_arrives_never_changes_the_order_of_the_others(line: list[str], arriving: str) -> None:
    if arriving in line:
        return
    for scheme in (AUTO, *SCHEMES):
        after = ordered([*line, arriving], scheme)
        after.remove(arriving)
        assert after == ordered(line, scheme)


@given(lines)
def test_a_label_that_is_taken_away_never_changes_the_order_of_the_others(line: list[str]) -> None:
    for scheme in (AUTO, *SCHEMES):
        whole = ordered(line, scheme)
        for gone in line:
            places = {label: number for number, label in enumerate(line)}
            left = sorted(set(line) - {gone}, key=lambda label: position(label, places[label], scheme))
            assert left == [label for label in whole if label != gone]


@given(labels, labels, labels)
def test_the_order_is_total_and_transitive(one: str, two: str, three: str) -> None:
    for scheme in (AUTO, *SCHEMES):
        a, b, c = (position(label, 0, scheme) for label in (one, two, three))
        assert (a < b) + (b < a) + (one == two) == 1
        assert not (a <= b <= c) or a <= c


@given(versions, versions)
def test_a_leading_v_is_irrelevant(one: str, other: str) -> None:
    for scheme in (AUTO, "semver", "pep440"):
        for label in (one, other):
            if label[0].isdigit() and ":" not in label:
                assert reading(f"v{label}", scheme) == reading(label, scheme)


@given(st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,2}){0,3}((a|b|rc)[0-9])?(\.post[0-9])?(\.dev[0-9])?", fullmatch=True))
@example("1.0.post1.dev0")
def test_python_versions_are_ordered_by_auto_as_by_their_scheme(label: str) -> None:
    for other in CONVENTIONS["pep440"].split():
        if "-g" not in other and "!" not in other:
            one, two = SPECIFIED["pep440"](label), SPECIFIED["pep440"](other)
            assert one and two
            assert (one < two, one > two) == (reading(label) < reading(other), reading(label) > reading(other))
