"""Libraries of Debian's and RPM's repositories, paired with what belongs to them."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Mapping
from pathlib import Path

import pytest

from abistore.archive.items import Item
from abistore.archive.repositories import items_of
from abistore.errors import InputError, UsageError

pytestmark = pytest.mark.fast

STANZA = """Package: {name}
Version: {version}
Architecture: {architecture}
Section: {section}
Filename: pool/{name}_{version}.deb
{more}
"""


def stanza(name: str, version: str = "1.0-1", section: str = "libs", architecture: str = "amd64", **more: str) -> str:
    fields = "".join(f"{key}: {value}\n" for key, value in more.items())
    return STANZA.format(name=name, version=version, section=section, architecture=architecture, more=fields)


def debian(root: Path, stanzas: list[str], suite: str = "stable", name: str = "Packages.gz") -> Path:
    """A repository with these packages, all of which are there."""
    folder = root / "dists" / suite / "main" / "binary-amd64"
    folder.mkdir(parents=True)
    text = "".join(stanzas).encode()
    packed = {".gz": gzip.compress, ".xz": lzma.compress}.get(Path(name).suffix, bytes)(text)
    (folder / name).write_bytes(packed)
    (root / "pool").mkdir(exist_ok=True)
    for line in text.decode().splitlines():
        if line.startswith("Filename: "):
            (root / line.removeprefix("Filename: ")).touch()
    return root


def by_name(items: tuple[Item, ...]) -> Mapping[str, Item]:
    return {each.path.name.partition("_")[0].rpartition("/")[2]: each for each in items}


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name.partition("_")[0] for path in paths]


FOO = [
    stanza("libfoo1", Source="foo"),
    stanza("libfoo-dev", section="libdevel", Source="foo", Depends="libfoo1 (= 1.0-1), libbar-dev, a | b"),
    stanza("libfoo1-dbgsym", section="debug", Source="foo", Depends="libfoo1 (= 1.0-1)"),
    stanza("foo-tools", section="utils", Source="foo"),
    stanza("libbar2", Source="bar"),
    stanza("libbar-dev", section="libdevel", Source="bar", Depends="libbar2 (= 1.0-1), libbaz-dev"),
    stanza("libbaz-dev", section="libdevel", Source="baz"),
]


@pytest.mark.parametrize("name", ["Packages", "Packages.gz", "Packages.xz"])
def test_a_library_has_the_packages_of_its_source_and_what_its_headers_need(tmp_path: Path, name: str) -> None:
    found = by_name(items_of([debian(tmp_path, FOO, name=name)]).items)
    assert sorted(found) == ["libbar2", "libfoo1"]
    foo = found["libfoo1"]
    assert (names(foo.debug), names(foo.devel)) == (["libfoo1-dbgsym"], ["libfoo-dev", "libbar-dev", "libbaz-dev"])
    assert (foo.suite, foo.version) == ("stable", None)
    assert (names(found["libbar2"].debug), names(found["libbar2"].devel)) == ([], ["libbar-dev", "libbaz-dev"])


def test_of_several_development_packages_of_a_source_a_library_has_that_built_with_it(tmp_path: Path) -> None:
    packages = [
        stanza("libqt1", Source="qt"),
        stanza("libqtgui1", Source="qt"),
        stanza("libqt-dev", section="libdevel", Source="qt", Depends="libqt1 (= 1.0-1)"),
        stanza("libqtgui-dev", section="libdevel", Source="qt", Depends="libqtgui1 (= 1.0-1)"),
    ]
    found = by_name(items_of([debian(tmp_path, packages)]).items)
    assert {name: names(each.devel) for name, each in found.items()} == {
        "libqt1": ["libqt-dev"],
        "libqtgui1": ["libqtgui-dev"],
    }


def test_a_development_package_may_be_called_otherwise(tmp_path: Path) -> None:
    packages = [
        stanza("libkrb1", Source="krb"),
        stanza("libkrb-dev", section="libdevel", Source="krb", Depends="libkrb1 (= 1.0-1), krb-multidev (= 1.0-1)"),
        stanza("krb-multidev", section="libdevel", Source="krb", Depends="libkrb1 (= 1.0-1)"),
    ]
    (item,) = items_of([debian(tmp_path, packages)]).items
    assert names(item.devel) == ["libkrb-dev", "krb-multidev"]


def test_another_version_or_architecture_of_a_source_is_not_paired(tmp_path: Path) -> None:
    packages = [
        stanza("libfoo1", Source="foo"),
        stanza("libfoo-dev", version="2.0-1", section="libdevel", Source="foo"),
        stanza("libfoo1-dbgsym", architecture="i386", section="debug", Source="foo"),
    ]
    (item,) = items_of([debian(tmp_path, packages)]).items
    assert (item.debug, item.devel) == ((), ())


def test_a_library_that_was_built_again_is_paired_by_the_version_of_its_source(tmp_path: Path) -> None:
    packages = [
        stanza("libfoo1", version="1.0-1+b2", Source="foo (1.0-1)"),
        stanza("libfoo-dev", section="libdevel", architecture="all", Source="foo"),
    ]
    (item,) = items_of([debian(tmp_path, packages)]).items
    assert names(item.devel) == ["libfoo-dev"]


def test_debug_information_may_have_an_index_of_its_own(tmp_path: Path) -> None:
    main, debug = debian(tmp_path / "a", FOO[:2]), debian(tmp_path / "b", FOO[2:3], suite="stable-debug")
    (item,) = items_of([main, debug]).items
    assert names(item.debug) == ["libfoo1-dbgsym"]


def test_packages_that_are_not_there_are_left_out_and_counted(tmp_path: Path) -> None:
    root = debian(tmp_path, FOO)
    (root / "pool" / "libbar2_1.0-1.deb").unlink()
    (root / "pool" / "libbar-dev_1.0-1.deb").unlink()
    listed = items_of([root])
    (item,) = listed.items
    assert names(item.devel) == ["libfoo-dev"]
    assert listed.notes == ("1 library packages of the index are not in the repository's folder",)
    for each in (root / "pool").iterdir():
        each.unlink()
    with pytest.raises(UsageError, match="2 library packages"):
        items_of([root])


PRIMARY = """<?xml version="1.0" encoding="UTF-8"?>
<metadata xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm">{packages}</metadata>
"""
RPM = """<package type="rpm"><name>{name}</name><arch>x86_64</arch><version epoch="0" ver="1.0" rel="1"/>
<location href="{name}.rpm"/><format><rpm:sourcerpm>{source}.src.rpm</rpm:sourcerpm>
<rpm:provides>{provides}</rpm:provides><rpm:requires>{requires}</rpm:requires></format></package>
"""
REPOMD = """<?xml version="1.0"?><repomd xmlns="http://linux.duke.edu/metadata/repo">
<data type="primary"><location href="repodata/primary.xml.gz"/></data></repomd>
"""


def package(name: str, source: str, provides: str = "", requires: str = "") -> str:
    entries = ("".join(f'<rpm:entry name="{each}"/>' for each in text.split()) for text in (provides, requires))
    return RPM.format(name=name, source=source, **dict(zip(("provides", "requires"), entries, strict=True)))


def rpm(root: Path, packages: str) -> Path:
    (root / "repodata").mkdir()
    (root / "repodata" / "repomd.xml").write_text(REPOMD)
    (root / "repodata" / "primary.xml.gz").write_bytes(gzip.compress(PRIMARY.format(packages=packages).encode()))
    for name in ("foo", "foo-devel", "foo-debuginfo", "bar-devel", "tool"):
        (root / f"{name}.rpm").touch()
    return root


def test_a_library_of_rpm_is_paired_by_its_source(tmp_path: Path) -> None:
    root = rpm(
        tmp_path,
        package("foo", "foo-1", "libfoo.so.1()(64bit) foo")
        + package("foo-devel", "foo-1", "", "foo pkgconfig(bar)")
        + package("foo-debuginfo", "foo-1")
        + package("bar-devel", "bar-1", "pkgconfig(bar)")
        + package("tool", "tool-1", "tool"),
    )
    for source in (root, root / "repodata" / "repomd.xml"):
        (item,) = items_of([source]).items
        assert item.path == root / "foo.rpm"
        assert [path.stem for path in item.debug] == ["foo-debuginfo"]
        assert [path.stem for path in item.devel] == ["foo-devel", "bar-devel"]


def test_a_damaged_index_is_an_error(tmp_path: Path) -> None:
    root = rpm(tmp_path, "<package>")
    with pytest.raises(InputError, match=r"primary\.xml"):
        items_of([root])
    (root / "repodata" / "primary.xml.gz").write_bytes(b"\x1f\x8b\x08\x00 and no more")
    with pytest.raises(InputError, match="unpacked"):
        items_of([root])
