"""What the search of a site finds, as scripts that pages read from a disk may load."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from abistore.model.words import bounded, json_text
from abistore.report.model import Report, every

NAMES_SEARCHED = 500
"""How many changed names of a release can be searched for: those of its first findings."""

TOGETHER = 20_000
"""So many names are one script; more are told apart by how their words begin."""

ALL = "all"
WORD = re.compile(r"[a-z0-9]{2,}|[A-Z][a-z0-9]+")
ENTRY, END = "abistore_index(", ");\n"


class Searched(NamedTuple):
    """A hit of the search: its name, its sort, and the path of its page from the folder of the script."""

    text: str
    about: str
    address: str


def search_index(found: Iterable[Searched], shards: Sequence[str] = ()) -> str:
    """An index as a script. ``shards`` are the scripts of names, which the search loads when they are asked for."""
    rows = json.dumps([[bounded(one.text, 200), one.about, one.address] for one in found], separators=(",", ":"))
    listed = f"abistore_shards({json.dumps(shards, separators=(',', ':'))});\n" if shards else ""
    return f"{ENTRY}{json_text(rows)}{END}{listed}"


def read_index(script: str) -> Iterator[Searched]:
    """The entries of a library's index, as :func:`search_index` wrote it."""
    yield from (Searched(*row) for row in json.loads(script.removeprefix(ENTRY).removesuffix(END)))


def names_in(report: Report, page: str) -> tuple[Searched, ...]:
    """The declarations that a release changed, each once, with the place on its page."""
    found: dict[str, Searched] = {}
    for finding in every(report.changes):
        found.setdefault(finding.display, Searched(finding.display, f"{finding.kind}, {report.new}", f"{page}#"))
        if len(found) == NAMES_SEARCHED:
            break
    first = {finding.display: finding.id for finding in reversed(report.changes)}
    return tuple(one._replace(address=f"{page}#{first.get(one.text, '')}".rstrip("#")) for one in found.values())


def sharded(found: Sequence[Searched]) -> Mapping[str, Sequence[Searched]]:
    """The names by their scripts: all in one, or each in those of its words' first two letters."""
    if len(found) <= TOGETHER:
        return {ALL: found}
    shards: dict[str, list[Searched]] = defaultdict(list)
    for one in found:
        for start in sorted(beginnings(one.text)):
            shards[start].append(one)
    return dict(sorted(shards.items()))


def beginnings(name: str) -> set[str]:
    """The first two letters of each word of a name, as :file:`site.js` asks for them, without its parameters."""
    words = re.findall(r"[A-Za-z0-9]{2,}", name.partition("(")[0])
    inner = (part for word in words for part in (word, *WORD.findall(word)))
    return {part[:2].lower() for part in inner if part[:2].isascii()}
