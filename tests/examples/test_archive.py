"""The example of a whole archive: which packages it chooses, and the index that it writes of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from abistore.archive.repositories import items_of
from examples.archive.__main__ import count, ingest, obtain
from examples.archive.apt import NEW, OLD, Archive, Index, Package, packages
from examples.archive.choosing import chosen, development
from examples.obtain import Missing
from tests.build import build_library
from tests.packages import deb

STANZA = """Package: {name}
Source: {source}
Version: {version}
Architecture: amd64
Depends: {depends}
Section: {section}
Filename: pool/main/f/foo/{name}.deb
Size: {size}
"""


def stanza(name: str, version: str, **others: object) -> str:
    said: dict[str, object] = {"source": "foo", "depends": "libc6", "section": "libs", "size": 1000, **others}
    return STANZA.format(name=name, version=version, **said)


def index(suite: str, *stanzas: str) -> Index:
    return {each.name: each for each in packages(suite, "\n\n".join(stanzas))}


def test_a_library_is_chosen_that_kept_its_name_in_another_upstream_version() -> None:
    old = index(OLD, stanza("libfoo1", "1.0-1"), stanza("libbar2", "2:3.0-1"), stanza("libbaz4", "1.0-1"))
    new = index(NEW, stanza("libfoo1", "1.1-1"), stanza("libbar2", "2:3.0-7+b1"), stanza("libbaz5", "1.1-1"))
    assert chosen(old, new, 10) == ["libfoo1"]


def test_small_libraries_are_chosen_first() -> None:
    old = index(OLD, stanza("libbig1", "1.0-1"), stanza("libfoo1", "1.0-1"), stanza("libfoo-tools", "1.0-1"))
    new = index(NEW, stanza("libbig1", "1.1-1", size=2000), stanza("libfoo1", "1.1-1"), stanza("libfoo-tools", "1.1-1"))
    assert chosen(old, new, 1) == ["libfoo1"]
    assert chosen(old, new, 10) == ["libfoo1", "libbig1"]


def test_headers_come_with_a_library_where_they_are_small() -> None:
    devel = {"section": "libdevel", "depends": "libfoo1 (= 1.0-1)"}
    found = index(OLD, stanza("libfoo1", "1.0-1"), stanza("libfoo-dev", "1.0-1", **devel))
    assert [each.name for each in development(found, ["libfoo1"], 1000)] == ["libfoo-dev"]
    assert development(found, ["libfoo1"], 999) == []


class LocalArchive(Archive):
    """Two suites that each have one library, built here in place of a download."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.downloads = 0

    def text(self, suite: str) -> str:
        """The index, with a package that is not chosen."""
        version = "1.0-1" if suite == OLD else "1.1-1"
        foo_dev = stanza("libfoo-dev", version, section="libdevel", depends="libfoo1, libbar-dev")
        bar_dev = stanza("libbar-dev", version, section="libdevel", source="bar")
        return "\n".join((stanza("libfoo1", version), foo_dev, bar_dev, stanza("other", version)))

    def release(self, suite: str) -> str:
        """The point release."""
        return "1.0"

    def download(self, wanted: Iterable[Package], folder: Path) -> list[Path]:
        """Build the packages in place of a download."""
        return [self._built(each, folder) for each in wanted]

    def _built(self, package: Package, folder: Path) -> Path:
        self.downloads += 1
        source = "int one;" + " int two;" * (package.suite == OLD)
        library = build_library(source, soname="libfoo.so.1")
        path = folder / package.path
        path.parent.mkdir(parents=True, exist_ok=True)
        held = {"usr/lib/libfoo.so.1": library} if package.section == "libs" else {"usr/include/foo.h": b"int one;"}
        made = deb(path.parent, held, name=package.name, version=package.version)
        assert made == path
        return made


def test_both_releases_are_stored_and_judged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    obtain(LocalArchive(tmp_path / "apt"), tmp_path, ["libfoo1"], 0)
    items = items_of([tmp_path]).items
    assert sorted(str(each.path.relative_to(tmp_path)) for each in items) == [
        "bookworm/libfoo1_1.0-1_amd64.deb",
        "trixie/libfoo1_1.1-1_amd64.deb",
    ]
    assert ingest(tmp_path, str(tmp_path / "abi.db")) == 0
    capfd.readouterr()
    count(str(tmp_path / "abi.db"))
    assert capfd.readouterr().out == "    1  BREAKING\nlibfoo 1.0-1 -> 1.1-1\n"


def test_nothing_is_downloaded_that_exceeds_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = LocalArchive(tmp_path / "apt")
    monkeypatch.setattr("examples.archive.__main__.MOST_BYTES", 1999)
    with pytest.raises(Missing, match="2,000 bytes"):
        obtain(archive, tmp_path, ["libfoo1"], 0)
    assert archive.downloads == 0


def test_headers_come_with_those_that_they_depend_on(tmp_path: Path) -> None:
    obtain(LocalArchive(tmp_path / "apt"), tmp_path, ["libfoo1"], 1000, 1000)
    devel = {str(path.relative_to(tmp_path)) for item in items_of([tmp_path]).items for path in item.devel}
    names = ("libbar-dev_1.0-1", "libfoo-dev_1.0-1")
    assert {f"bookworm/{name}_amd64.deb" for name in names} < devel
