"""What findings are called: the same change has the same identity in every comparison that finds it.

An identity begins with a place: of ``42b2958d22e2`` and 8 more digits, the first 12 name the kind, the declaration and
its part, the rest the values before and after, and those consequences that nothing else determines. ``int y`` and
``int y[100]`` added to one struct have one place and two identities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from abistore.model.blake2 import blake2b
from abistore.model.digest import encode
from abistore.model.findings import Finding
from abistore.model.judging.kinds import first_name
from abistore.patterns import pattern

PLACE_SIZE = 6
IDENTITY_SIZE = 10
"""In bytes; text has two digits for each."""

_BEGINNING = pattern(r"([0-9a-f]+(-[0-9]*)?)?")
_WHOLE = pattern(rf"[0-9a-f]{{{2 * IDENTITY_SIZE}}}(-[0-9]+)?")


def place(finding: Finding) -> bytes:
    """What kind of change it is, of what, and of which part: the beginning of its identity.

    A kind that is called otherwise now counts as what it was called first.
    """
    words = "\0".join((first_name(finding.kind), finding.name.kind, finding.name.spelling, finding.part))
    return blake2b(words.encode(), digest_size=PLACE_SIZE).digest()


def identity(finding: Finding) -> bytes:
    """The place, the values before and after, however they are spaced, and the consequences that are bound to it.

    Nothing else has a part in it: not the report, the order, the impact, the wording, or where the source stands.
    """
    return identity_of(finding, covered(finding))


def identity_of(finding: Finding, covers: Sequence[str]) -> bytes:
    """The identity of a finding that covers consequences of these identities, whatever consequences it has here."""
    values = encode((canonical(finding.old_value), canonical(finding.new_value)))
    more = "".join(f"\0{each}" for each in sorted(covers)).encode()
    return place(finding) + blake2b(values + more, digest_size=IDENTITY_SIZE - PLACE_SIZE).digest()


def covered(finding: Finding) -> tuple[str, ...]:
    """The identities of the consequences that are bound to a finding, in hexadecimal digits, sorted."""
    return tuple(sorted(identity(each).hex() for each in finding.consequences if each.bound))


def parts_of(finding: Finding) -> frozenset[str]:
    """The identities of all that a finding covers, each by itself: its own, and those of what is bound to it."""
    return frozenset((identity_of(finding, ()).hex(), *covered(finding)))


def identified(findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Each finding with its identity in hexadecimal digits.

    Findings of one comparison with one identity, such as those of several variants, are numbered from the second on.
    """
    seen: dict[str, int] = {}
    for finding in findings:
        name = identity(finding).hex()
        seen[name] = number = seen.get(name, 0) + 1
        yield f"{name}-{number}" if number > 1 else name, finding


def may_begin(text: str) -> bool:
    """Whether an identity can begin with ``text``, as :func:`identified` writes it. Every one begins with nothing."""
    return _BEGINNING.fullmatch(text) is not None


def is_whole(text: str) -> bool:
    """Whether ``text`` is an identity with all of its digits."""
    return _WHOLE.fullmatch(text) is not None


def canonical(value: str | None) -> str | None:
    """A value however it is spaced."""
    return None if value is None else " ".join(value.split())
