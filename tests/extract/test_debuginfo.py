"""Where debug information is found, and what is said when it is not."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.reader import DebugSearch, build_id_path, find_alternate, find_debug
from abistore.extract.files import read_supplement
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from tests.build import build_library
from tests.extract.elf_oracles import run

pytestmark = pytest.mark.full

SOURCE = "struct point { int x, y; }; int norm(struct point *p) { return p->x; }"


def library(*flags: str, source: str = SOURCE) -> Path:
    return build_library(source, flags=("-g", "-O1", "-Wl,--build-id=sha1", *flags))


class Split:
    """A library in a folder of its own, stripped, its debug file beside it and linked unless told otherwise."""

    def __init__(self, folder: Path, built: Path, *, link: bool = True) -> None:
        self.path = folder / "libcase.so"
        self.debug = folder / "libcase.so.debug"
        run("objcopy", "--only-keep-debug", built, self.debug)
        run("objcopy", "--strip-all", built, self.path)
        if link:
            self._link()

    def _link(self) -> None:
        # objcopy records the base name and the checksum of the file that it is given
        run("objcopy", f"--add-gnu-debuglink={self.debug}", self.path)

    def move_debug_to(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(self.debug, path)
        return path

    def search(self, *debug_dirs: Path) -> DebugSearch:
        return find_debug(ElfFile(self.path), ExtractOptions(debug_dirs=debug_dirs))


def found_at(search: DebugSearch) -> tuple[str, Path | None]:
    return search.source, search.file.path if search.file else None


def test_information_in_the_file_itself_is_taken() -> None:
    elf = ElfFile(library())
    search = find_debug(elf, ExtractOptions())
    assert search.file is elf
    assert search.source == "file"


@pytest.mark.parametrize("style", ["zlib", "zlib-gnu"])
def test_compressed_information_counts_and_reads_the_same(style: str) -> None:
    elf, plain = ElfFile(library(f"-gz={style}")), ElfFile(library("-gz=none"))
    assert find_debug(elf, ExtractOptions()).file is elf
    assert elf.section(".debug_abbrev") == plain.section(".debug_abbrev")


def test_a_linked_file_beside_the_library_is_taken(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    assert found_at(split.search()) == ("debuglink", split.debug)


def test_a_linked_file_in_the_debug_folder_beside_is_taken(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    moved = split.move_debug_to(tmp_path / ".debug" / split.debug.name)
    assert found_at(split.search()) == ("debuglink", moved)


def test_a_linked_file_is_found_below_a_debug_dir_by_the_library_folder(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    root = tmp_path / "root"
    moved = split.move_debug_to(root / tmp_path.relative_to("/") / split.debug.name)
    assert found_at(split.search(root)) == ("debug-dir", moved)


def test_a_linked_file_is_found_directly_in_a_debug_dir(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    moved = split.move_debug_to(tmp_path / "there" / split.debug.name)
    assert found_at(split.search(tmp_path / "empty", tmp_path / "there")) == ("debug-dir", moved)


def test_the_build_id_tree_needs_no_link(tmp_path: Path) -> None:
    split = Split(tmp_path, library(), link=False)
    build_id = ElfFile(split.path).build_id
    assert build_id
    moved = split.move_debug_to(build_id_path(tmp_path / "tree", build_id))
    assert found_at(split.search(tmp_path / "tree")) == ("debug-dir", moved)


def test_the_system_tree_is_asked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = Split(tmp_path, library(), link=False)
    moved = split.move_debug_to(build_id_path(tmp_path / "tree", ElfFile(split.path).build_id or ""))
    monkeypatch.setattr("abistore.extract.elf.reader.SYSTEM_DIRS", (tmp_path / "tree",))
    assert found_at(split.search()) == ("build-id", moved)


def test_a_split_off_file_that_is_gone_is_reported(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    split.debug.unlink()
    search = split.search()
    assert (search.file, search.reason) == (None, "debug-file-missing")
    assert "libcase.so.debug" in search.detail
    assert "--debug-dir" in search.hint


def test_a_stripped_library_without_links_has_no_debug_info() -> None:
    search = find_debug(ElfFile(build_library(SOURCE, flags=("-O1", "-Wl,--build-id=none"))), ExtractOptions())
    assert (search.file, search.reason) == (None, "no-debug-info")
    assert search.hint


def test_a_changed_debug_file_is_stale(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    with split.debug.open("ab") as file:
        file.write(b"\0")
    search = split.search()
    assert (search.file, search.reason, search.source) == (None, "stale-debug-file", "debuglink")
    assert "checksum" in search.detail


def test_a_debug_file_of_another_build_is_stale_in_every_place(tmp_path: Path) -> None:
    split = Split(tmp_path, library(), link=False)
    run("objcopy", "--only-keep-debug", library(source=SOURCE + " int more;"), split.debug)
    split._link()
    search = split.search()
    assert (search.file, search.reason) == (None, "stale-debug-file")
    assert "build-id" in search.detail
    split.move_debug_to(build_id_path(tmp_path / "tree", ElfFile(split.path).build_id or ""))
    search = split.search(tmp_path / "tree")
    assert (search.file, search.reason, search.source) == (None, "stale-debug-file", "debug-dir")


def test_a_good_file_further_on_beats_a_stale_one(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    good = tmp_path / "good" / split.debug.name
    good.parent.mkdir()
    shutil.copy(split.debug, good)
    split.debug.write_bytes(split.debug.read_bytes() + b"\0")
    assert found_at(split.search(good.parent)) == ("debug-dir", good)


def test_a_debug_file_for_another_machine_is_stale(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    other = build_library(SOURCE, compiler="aarch64-linux-gnu-gcc", flags=("-g", "-nostdlib", "-Wl,--build-id=none"))
    shutil.copy(other, split.debug)
    assert split.search().reason == "stale-debug-file"
    assert "another machine" in split.search().detail


def test_a_build_id_that_a_build_chose_for_itself_proves_no_debug_file(tmp_path: Path) -> None:
    """As where the linker is given one and the same for every release."""
    other = SOURCE.replace("return p->x", "return p->x * p->x + p->y")
    old, new = (library("-Wl,--build-id=0xdeadbeef", source=each) for each in (SOURCE, other))
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    stale, split = Split(tmp_path / "old", old, link=False), Split(tmp_path / "new", new, link=False)
    stale.move_debug_to(build_id_path(tmp_path / "kept", "deadbeef"))
    search = split.search(tmp_path / "kept")
    assert (search.file, search.reason) == (None, "stale-debug-file")
    assert ".text is not the library's" in search.detail
    shutil.copy(split.debug, build_id_path(tmp_path / "kept", "deadbeef"))
    assert split.search(tmp_path / "kept").file is not None


def test_a_debug_file_whose_symbols_lie_elsewhere_is_of_another_build(tmp_path: Path) -> None:
    """Functions of the same sizes changed their places: each would be described by the other's declaration."""
    first, second = "int first(int x) { return x; }\n", "int second(unsigned x) { return x; }\n"
    builds = {
        name: library("-Wl,--build-id=0xdeadbeef", source=text)
        for name, text in (("old", first + second), ("new", second + first))
    }
    for name in builds:
        (tmp_path / name).mkdir()
    stale, split = (Split(tmp_path / name, build, link=False) for name, build in builds.items())
    stale.move_debug_to(build_id_path(tmp_path / "kept", "deadbeef"))
    search = split.search(tmp_path / "kept")
    assert (search.file, search.reason) == (None, "stale-debug-file")
    assert "has another address in it than in the library" in search.detail
    run("strip", "--keep-section=.debug_*", "--strip-all", split.debug)
    shutil.copy(split.debug, build_id_path(tmp_path / "kept", "deadbeef"))
    assert split.search(tmp_path / "kept").file is not None  # no table of symbols contradicts it


def test_an_unreadable_debug_file_is_reported(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    split.debug.write_bytes(split.debug.read_bytes()[:200])
    assert split.search().reason == "unreadable-debug-file"


def test_a_debug_file_that_lacks_sections_says_which(tmp_path: Path) -> None:
    split = Split(tmp_path, library(), link=False)
    run("objcopy", "--remove-section=.debug_abbrev", split.debug)
    split._link()
    search = split.search()
    assert (search.file, search.reason) == (None, "incomplete-debug-info")
    assert ".debug_abbrev" in search.detail


def test_a_library_that_lacks_sections_says_which(tmp_path: Path) -> None:
    partial = tmp_path / "libcase.so"
    run("objcopy", "--remove-section=.debug_abbrev", library(), partial)
    search = find_debug(ElfFile(partial), ExtractOptions())
    assert (search.file, search.reason) == (None, "incomplete-debug-info")
    assert ".debug_abbrev" in search.detail


def test_line_tables_alone_are_no_debug_info(tmp_path: Path) -> None:
    partial = tmp_path / "libcase.so"
    run("objcopy", "--remove-section=.debug_abbrev", "--remove-section=.debug_info", library(), partial)
    search = find_debug(ElfFile(partial), ExtractOptions())
    assert (search.file, search.reason) == (None, "no-debug-info")
    assert ".debug_line" in search.detail


# --- dwz ----------------------------------------------------------------------------------------------------------

NAMES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
COMMON = "".join(f"struct {name} {{ long {name}_first, {name}_second; char {name}_text[64]; }};" for name in NAMES)


class Dwz:
    """Two libraries whose common entries ``dwz`` moved to a third file."""

    def __init__(self, folder: Path, recorded: str, *flags: str) -> None:
        self.libraries: list[Path] = []
        self.common = folder / "common.dwz"
        for number in (1, 2):
            uses = "".join(f"long {name}_{number}(struct {name} *p) {{ return p->{name}_first; }}" for name in NAMES)
            self.libraries.append(Path(shutil.copy(library(source=COMMON + uses), folder / f"libcase{number}.so")))
        run("dwz", *flags, "-m", self.common, "-M", recorded, *self.libraries)

    def alternate(self, *debug_dirs: Path) -> Path | None:
        found = find_alternate(ElfFile(self.libraries[0]), ExtractOptions(debug_dirs=debug_dirs))
        return found.path if found else None


def test_an_alternate_file_is_found_by_its_recorded_name(tmp_path: Path) -> None:
    dwz = Dwz(tmp_path, "common.dwz")
    name, build_id = ElfFile(dwz.libraries[0]).alternate_link or ("", "")
    assert (name, build_id) == ("common.dwz", ElfFile(dwz.common).build_id)
    assert dwz.alternate() == dwz.common


def test_an_alternate_file_is_found_in_an_unpacked_debug_tree(tmp_path: Path) -> None:
    dwz = Dwz(tmp_path, "/usr/lib/debug/.dwz/some/common.dwz")
    root = tmp_path / "root"
    (root / ".dwz" / "some").mkdir(parents=True)
    moved = Path(shutil.move(dwz.common, root / ".dwz" / "some" / "common.dwz"))
    assert dwz.alternate() is None
    assert dwz.alternate(root) == moved


def test_an_alternate_file_is_found_by_build_id(tmp_path: Path) -> None:
    dwz = Dwz(tmp_path, "/nowhere/common.dwz")
    place = build_id_path(tmp_path / "tree", ElfFile(dwz.common).build_id or "")
    place.parent.mkdir(parents=True)
    shutil.move(dwz.common, place)
    assert dwz.alternate(tmp_path / "tree") == place


def test_an_alternate_file_of_another_build_is_not_taken(tmp_path: Path) -> None:
    dwz = Dwz(tmp_path, "common.dwz")
    shutil.copy(library(source="int other;"), dwz.common)
    assert dwz.alternate() is None


def test_a_supplementary_file_of_dwarf_5_is_found_by_its_checksum(tmp_path: Path) -> None:
    dwz = Dwz(tmp_path, "common.sup", "--dwarf-5")
    elf = ElfFile(dwz.libraries[0])
    assert elf.has(".debug_sup") and not elf.has(".gnu_debugaltlink")
    name, checksum = elf.alternate_link or ("", "")
    assert (name, frozenset([checksum])) == ("common.sup", ElfFile(dwz.common).identities)
    assert dwz.alternate() is None
    assert dwz.alternate(tmp_path) is None
    moved = Path(shutil.move(dwz.common, tmp_path / "common.sup"))
    assert dwz.alternate() == moved


def test_a_supplementary_file_of_another_build_is_not_taken(tmp_path: Path) -> None:
    dwz = Dwz(tmp_path, "common.sup", "--dwarf-5")
    (tmp_path / "other").mkdir()
    source = "struct other { int first; long second; }; int one(struct other *p) { return p->first; }"
    others = [shutil.copy(library(source=source), tmp_path / "other" / name) for name in ("one.so", "two.so")]
    run("dwz", "--dwarf-5", "-m", tmp_path / "common.sup", *others)
    assert dwz.alternate() is None


def test_a_supplementary_file_gives_what_the_older_kind_of_common_file_gives(tmp_path: Path) -> None:
    dwz = Dwz(tmp_path, "common.dwz", "--dwarf-5")
    (tmp_path / "older").mkdir()
    older = Dwz(tmp_path / "older", "common.dwz")
    found, expected = (read_snapshot(each.libraries[0], ExtractOptions()) for each in (dwz, older))
    assert found.entries["layout"] == expected.entries["layout"]
    assert found.evidence_of("layout").state == "full"


@pytest.mark.parametrize("flags", [(), ("--dwarf-5",)])
def test_without_the_common_file_the_layout_is_missing_and_not_guessed(tmp_path: Path, flags: tuple[str, ...]) -> None:
    dwz = Dwz(tmp_path, "common.dwz", *flags)
    dwz.common.unlink()
    snapshot = read_snapshot(dwz.libraries[0], ExtractOptions())
    evidence = snapshot.evidence_of("layout")
    assert (evidence.state, evidence.reason) == ("missing", "alternate-file-missing")
    assert evidence.expected > 0 and "layout" not in snapshot.entries
    assert "common.dwz" in evidence.detail and "--debug-dir" in evidence.hint


@pytest.mark.parametrize(
    "data", [b"", b"\5\0\0", b"\5\0\0name\0", b"\5\0\0name\0\x14abc", b"\4\0\0name\0\1a", b"\5\0\0n\0\xff\xff"]
)
def test_a_supplementary_link_that_is_no_link_is_none(data: bytes) -> None:
    assert read_supplement(data, "<") is None


def test_a_file_without_link_has_no_alternate() -> None:
    assert find_alternate(ElfFile(library()), ExtractOptions()) is None


# --- through the reader -------------------------------------------------------------------------------------------


def test_missing_information_is_evidence_and_not_silence(tmp_path: Path) -> None:
    split = Split(tmp_path, library())
    split.debug.unlink()
    snapshot = read_snapshot(split.path, ExtractOptions())
    evidence = snapshot.evidence_of("layout")
    assert (evidence.state, evidence.reason, evidence.described, evidence.expected) == (
        "missing",
        "debug-file-missing",
        0,
        1,
    )
    assert "layout" not in snapshot.entries
    assert Name("function", "norm") in snapshot.entries["symbol"]


def test_layout_that_nobody_asked_for_is_not_requested() -> None:
    snapshot = read_snapshot(library(), ExtractOptions(layout=False))
    assert snapshot.evidence_of("layout").reason == "not-requested"


def test_a_split_debug_file_gives_the_same_layout_as_the_unsplit_library(tmp_path: Path) -> None:
    built = library()
    split = Split(tmp_path, built)
    whole, parted = read_snapshot(built, ExtractOptions()), read_snapshot(split.path, ExtractOptions())
    assert whole.entries["layout"] == parted.entries["layout"]
    assert Name("function", "norm") in parted.entries["layout"]
    assert (whole.evidence_of("layout").source, parted.evidence_of("layout").source) == ("file", "debuglink")
    assert (whole.provenance.debug_files, parted.provenance.debug_files) == ((), ("libcase.so.debug",))
    assert os.fspath(tmp_path) not in repr(parted)
