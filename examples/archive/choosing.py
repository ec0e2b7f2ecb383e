"""Which packages of two suites promise that one replaces the other, and an index of those alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from examples.archive.apt import Index, Package

NAME: Final = re.compile(r"lib.*\d[a-z]?")
"""A package of a library is named after its SONAME, which ends with a number."""

REBUILT: Final = re.compile(r"\+b\d+$")


def chosen(old: Index, new: Index, most: int) -> list[str]:
    """The names of the ``most`` smallest library packages that both suites have in different upstream versions."""
    found = [name for name in old.keys() & new.keys() if is_promise(old[name], new[name])]
    return sorted(found, key=lambda name: (new[name].size, name))[:most]


def is_promise(old: Package, new: Package) -> bool:
    """Whether a library kept the name of its package, so that programs built for the old one may run with the new."""
    libraries = all(each.section == "libs" and each.architecture == "amd64" for each in (old, new))
    return libraries and NAME.fullmatch(old.name) is not None and _upstream(old) != _upstream(new)


def _upstream(package: Package) -> str:
    version = package.source_version.partition(":")[2] or package.source_version
    return version.rpartition("-")[0] or REBUILT.sub("", version)


def development(index: Index, names: Iterable[str], most_bytes: int) -> list[Package]:
    """The packages with the headers of these libraries, where those of a library have at most ``most_bytes``."""
    by_library = defaultdict[str, list[Package]](list)
    for package in index.values():
        if package.name.endswith("-dev"):
            for name in package.needed & index.keys():
                if index[name].source == package.source:
                    by_library[name].append(package)
    small = (by_library[name] for name in names if sum(each.size for each in by_library[name]) <= most_bytes)
    return list(dict.fromkeys(each for packages in small for each in packages))


def write_index(text: str, packages: Iterable[Package], folder: Path) -> Path:
    """Write an index of these packages below ``dists`` in the folder where they are; ``text`` is their suite's own."""
    wanted = {each.name: each for each in packages}
    suite = next(iter(wanted.values())).suite
    path = folder / "dists" / suite / "main" / "binary-amd64" / "Packages"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{each}\n\n" for each in _stanzas(text, wanted)))
    return path


def _stanzas(text: str, wanted: Mapping[str, Package]) -> Iterator[str]:
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version): (.*)$", stanza, re.MULTILINE))
        package = wanted.get(fields.get("Package", ""))
        if package is not None and package.version == fields["Version"]:
            yield re.sub(r"^Filename: .*$", f"Filename: {package.path}", stanza.strip("\n"), flags=re.MULTILINE)
