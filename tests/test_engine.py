"""The number that stored verdicts are kept under goes up with every change of what the cases find."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import pytest

from abistore.model import findings
from tests.cases import RULES, cases

FILE = Path(findings.__file__)
NUMBER, DIGEST = (re.compile(rf"^{name}: Final = (.+)$", re.MULTILINE) for name in ("ENGINE", "CORPUS"))


def digest(found: Iterable[str]) -> str:
    """What tells whether any case finds something else; that each finds what it says is what its own test tells."""
    return blake2b("\0".join(sorted(found)).encode(), digest_size=8).hexdigest()


def corpus() -> list[str]:
    return [f"{case.label}\n{case.expected}" for path in RULES.glob("*.md") for case in cases(path)]


def raised(text: str, said: str) -> str:
    """The module with the next number, and the digest that it stands for."""
    number = int(NUMBER.findall(text)[0]) + 1
    return DIGEST.sub(f'CORPUS: Final = "{said}"', NUMBER.sub(f"ENGINE: Final = {number}", text))


def test_the_number_goes_up_where_the_cases_find_something_else(request: pytest.FixtureRequest) -> None:
    said = digest(corpus())
    if request.config.getoption("--update-cases") and said != findings.CORPUS:
        FILE.write_text(raised(FILE.read_text(), said))
    else:
        assert said == findings.CORPUS, "the cases find something else: `pytest tests/test_engine.py --update-cases`"


def test_each_finding_has_a_part_in_the_digest() -> None:
    found = corpus()
    impact = found[0].replace("breaking", "risk") if "breaking" in found[0] else f"{found[0]}risk x  y\n"
    assert len({digest(found), digest([impact, *found[1:]]), digest(found[1:])}) == 3
    assert digest(reversed(found)) == digest(found)


def test_another_digest_comes_with_another_number() -> None:
    before = FILE.read_text()
    after = raised(before, "0123456789abcdef")
    assert int(NUMBER.findall(after)[0]) == int(NUMBER.findall(before)[0]) + 1
    assert DIGEST.findall(after) == ['"0123456789abcdef"']
