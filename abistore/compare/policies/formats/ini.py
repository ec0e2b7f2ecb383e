"""Files of sections and ``key = value`` lines, as libabigail writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from abistore.compare.policies.formats.documents import MOST_ENTRIES
from abistore.errors import PolicyError

SECTION = re.compile(r"\[\s*(?P<name>\w+)\s*\]")
PROPERTY = re.compile(r"(?P<key>\w+)\s*=\s*(?P<value>.*)", re.DOTALL)
COMMENT = re.compile(r"(?:^|\s)[#;].*$")


@dataclass
class IniSection:
    """One section; sections may repeat. ``line`` is where it begins."""

    name: str
    line: int
    values: dict[str, str] = field(default_factory=dict)


def read_sections(path: Path, text: str) -> list[IniSection]:
    """The sections of a file, in order. ``\\\\`` stands for one backslash. Raises :class:`PolicyError`."""
    found: list[IniSection] = []
    for number, line in _lines(text):
        if match := SECTION.fullmatch(line):
            found.append(IniSection(match["name"], number))
            if len(found) > MOST_ENTRIES:
                raise PolicyError(f"{path}: line {number}: more than {MOST_ENTRIES:,} sections", "split the file")
            continue
        match = PROPERTY.fullmatch(line)
        if match is None or not found:
            what = "neither [section] nor key = value" if match is None else "a key before any [section]"
            raise PolicyError(f"{path}: line {number}: {what}", "see docs/suppressions.md")
        values = found[-1].values
        if match["key"] in values:
            raise PolicyError(f"{path}: line {number}: {match['key']} is given twice", "write a second section")
        if not match["value"]:
            raise PolicyError(f"{path}: line {number}: {match['key']} is empty", "give it a value")
        values[match["key"]] = match["value"].replace("\\\\", "\\")
    return found


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that say something, with their numbers; one that ends with a backslash goes on in the next."""
    found: list[tuple[int, str]] = []
    pending, start = "", 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        said = (COMMENT.sub("", line) if "#" in line or ";" in line else line).strip()
        start = start if pending else number
        if said.endswith("\\") and not said.endswith("\\\\"):
            pending += said[:-1].rstrip() + " "
            continue
        if pending + said:
            found.append((start, pending + said))
        pending = ""
    return found
