"""Secrets in texts: what is hidden, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abistore.errors import LONGEST, UsageError
from abistore.urls import masked

SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"postgresql://user:{SECRET}@host/db", "postgresql://user:***@host/db"),
        (f"postgresql://user:a@{SECRET}/b?c@host/db", "postgresql://user:***@host/db"),
        (f"pg-sql://u:{SECRET}@", "pg-sql://u:***@"),
        (f"user:{SECRET}@host", "user:***@host"),
        (f"postgresql:/user:{SECRET}@host", "postgresql:***@host"),
        (f"https://user:{SECRET}@host/path", "https://***@host/path"),
        (f"https://{SECRET}@host/path", "https://***@host/path"),
        (f"https://user:a/{SECRET}@host/path", "https://***@host/path"),
        (f"http://a:{SECRET}@one http://b:{SECRET}@two", "http://***@one http://***@two"),
        (f"http://a:{SECRET}@one,http://b:{SECRET}@two", "http://***@one,http://***@two"),
        (f"postgresql://host/db?user=u&password={SECRET}&x=1", "postgresql://host/db?user=u&password=***&x=1"),
        (f"postgresql://host/db?sslpassword={SECRET}", "postgresql://host/db?sslpassword=***"),
        (f"https://host/job?access_token={SECRET}: not found", "https://host/job?access_token=***: not found"),
        (f"https://host/a?X-Amz-Signature={SECRET}&b=1", "https://host/a?X-Amz-Signature=***&b=1"),
        (f"host=a password='x {SECRET}' dbname=b", "host=a password=*** dbname=b"),
        (f"host=a PASSWORD = {SECRET} dbname=b", "host=a PASSWORD = *** dbname=b"),
        (f"postgresql://h/db?options=-c%20password%3D{SECRET}", "postgresql://h/db?options=-c%20password%3D***"),
    ],
)
def test_a_secret_is_hidden_wherever_urls_and_connection_strings_have_one(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(f"cannot read '{text}'").startswith(f"cannot read '{shown}"[:-1])
    assert masked(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "libfoo@baseline:release: no such release",
        "geo::area(geo::Shape const&)@@GEO_1.0",
        "https://ci.example.org/@scope/package@1.0",
        "https://host:8080/users/me@example.org",
        "postgresql://user@host:5432/db?host=/run/postgresql",
        "postgresql://host/db?passfile=/home/me/.pgpass&sslkey=/etc/key.pem",
        "/usr/lib/libz.so.1: truncated: 12 bytes are missing",
        "mail me@example.org",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_what_a_driver_quotes_of_a_known_secret_is_hidden() -> None:
    assert masked("invalid value 'p@ss' for port", ["p@ss"]) == "invalid value '***' for port"
    assert masked("a broken banana: a", ["a"]) == "*** broken banana: ***"


@given(st.text(), st.text(alphabet="abc:/@?&='% \n"))
def test_hiding_takes_any_text_and_hides_a_secret_at_once(text: str, other: str) -> None:
    for each in (text, other):
        assert masked(masked(each)) == masked(each)


def test_an_error_hides_what_it_quotes_and_is_of_bounded_length() -> None:
    error = UsageError(f"not a URL: http://u:{SECRET}@h", f"try http://u:{SECRET}@h")
    assert SECRET not in f"{error}{error.message}{error.hint}{error!r}"
    long = UsageError("x" * 20_000_000)
    assert long.message.endswith("... (19,990,000 more characters)")
    assert len(long.message) < LONGEST + 50
