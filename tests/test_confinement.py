"""Files are read below the folders that may be read, whatever names lead there or away."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from abistore.errors import InputError, PathDenied, PolicyError
from abistore.extract.files import InputFile
from abistore.files import canonical, confined, exists, is_file, open_file, status


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder that may be read, with a file; beside it another folder with a secret."""
    (tmp_path / "root" / "inner").mkdir(parents=True)
    (tmp_path / "root" / "file").write_text("known")
    (tmp_path / "rooted").mkdir()
    (tmp_path / "rooted" / "secret").write_text("secret")
    found = tmp_path / "root"
    with confined([canonical(found)]):
        yield found


def contents(path: Path) -> str:
    descriptor = open_file(path)
    try:
        return os.read(descriptor, 100).decode()
    finally:
        os.close(descriptor)


def test_a_file_below_the_folder_is_read(root: Path) -> None:
    (root / "inner" / "link").symlink_to("../file")
    for path in (root / "file", root / "inner" / ".." / "file", root / "inner" / "link"):
        assert contents(path) == "known"
        assert is_file(path) and exists(path)
        assert status(path).st_size == 5


WAYS: dict[str, Callable[[Path], str]] = {
    "a path outside": lambda root: f"{root.parent}/rooted/{{}}",
    "a folder whose name begins the same": lambda root: f"{root}ed/{{}}",
    "dots": lambda root: f"{root}/inner/../../rooted/{{}}",
    "a link to a folder": lambda root: f"{linked(root, root.parent / 'rooted')}/{{}}",
    "a link over a link": lambda root: f"{linked(root, linked(root, root.parent / 'rooted'))}/{{}}",
    "the root of the process": lambda root: f"/proc/self/root{root.parent}/rooted/{{}}",
    "another name of the folder": lambda root: f"/proc/self/task/../../self/root/{root.parent}/rooted/{{}}",
}


def linked(root: Path, target: Path) -> Path:
    link = root / f"link{len(list(root.iterdir()))}"
    link.symlink_to(target)
    return link


@pytest.mark.parametrize("way", WAYS)
def test_what_stands_elsewhere_is_refused_and_nobody_hears_whether_it_is_there(way: str, root: Path) -> None:
    named = WAYS[way](root)
    told = set()
    for name in ("secret", "absent", "secret/absent", "", "x" * 300, "a\0b"):
        path = Path(named.format(name))
        with pytest.raises(PathDenied) as refused:
            open_file(path)
        told.add(refused.value.message.replace(path.name, "NAME"))
        assert not exists(path) and not is_file(path)
    assert told == {"NAME: not below a folder that may be read"}


def test_a_link_that_leads_nowhere_outside_is_refused_as_one_that_leads_somewhere(root: Path) -> None:
    for target in ("/nowhere/at/all", "/etc/passwd", str(root.parent / "rooted" / "secret")):
        link = linked(root, Path(target))
        with pytest.raises(PathDenied):
            open_file(link)


def test_what_is_missing_below_the_folder_is_missing(root: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_file(root / "absent")
    with pytest.raises(NotADirectoryError):
        open_file(root / "file" / "absent")


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/fd/0", "/dev/null", "/sys/kernel/notes"])
def test_the_whole_disk_is_without_what_the_kernel_makes_up(path: str) -> None:
    with confined([canonical("/")]), pytest.raises(PathDenied):
        open_file(Path(path))


def test_a_pipe_or_a_device_is_not_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(InputError, match="not a regular file"):
        InputFile(root / "pipe")
    with pytest.raises(InputError, match="is a directory"):
        InputFile(root / "inner")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_path_that_is_changed_meanwhile_reads_what_was_judged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The moment after the judgement is the one that a racing attacker waits for."""
    from abistore import files as judged

    secret, path, leads_below = root.parent / "rooted" / "secret", root / "file", judged._leads_below

    def swapped(handle: int) -> bool:
        found = leads_below(handle)
        path.unlink(missing_ok=True)
        path.symlink_to(secret)
        return found

    monkeypatch.setattr(judged, "_leads_below", swapped)
    assert contents(path) == "known"
    with pytest.raises(PathDenied):
        contents(path)


def test_a_folder_that_is_replaced_is_another_folder(root: Path) -> None:
    (root.parent / "rooted" / "file").write_text("secret")
    root.rename(root.parent / "away")
    root.symlink_to(root.parent / "rooted")
    with pytest.raises(PathDenied):
        open_file(root / "file")


def test_a_file_that_was_removed_is_no_file_of_its_name(root: Path) -> None:
    descriptor = os.open(root / "file", os.O_RDONLY)
    (root / "file").unlink()
    try:
        with pytest.raises(PathDenied):
            open_file(Path(f"/proc/self/fd/{descriptor}"))
    finally:
        os.close(descriptor)


def test_a_linker_script_leads_to_no_library_elsewhere(tmp_path: Path) -> None:
    from abistore.extract.capture import read_snapshot
    from abistore.extract.reader import ExtractOptions
    from tests.build import build_library

    library = build_library("int f(void) { return 1; }\n", soname="libf.so.1", name="libf.so")
    (tmp_path / "root").mkdir()
    (tmp_path / "outside.so").write_bytes(library.read_bytes())
    script = tmp_path / "root" / "libf.so"
    for target in ("../outside.so", str(tmp_path / "outside.so")):
        script.write_text(f"INPUT({target})\n")
        assert read_snapshot(script, ExtractOptions()).library == "libf"
        with confined([canonical(tmp_path / "root")]), pytest.raises(InputError, match="none of which exists"):
            read_snapshot(script, ExtractOptions())


def test_a_debug_file_elsewhere_is_not_read(tmp_path: Path) -> None:
    import subprocess

    from abistore.extract.capture import read_snapshot
    from abistore.extract.reader import ExtractOptions
    from tests.build import build_library

    library = build_library("struct s { int a; };\nint f(struct s *s) { return s->a; }\n", name="libf.so")
    (tmp_path / "root").mkdir()
    (tmp_path / "debug").mkdir()
    copy, debug = tmp_path / "root" / "libf.so", tmp_path / "debug" / "libf.debug"
    subprocess.run(["objcopy", "--only-keep-debug", library, debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={debug}", library, copy], check=True)
    options = ExtractOptions(debug_dirs=(debug.parent,))
    layout = {evidence.facet: evidence.state for evidence in read_snapshot(copy, options).evidence}
    with confined([canonical(copy.parent)]):
        without = {evidence.facet: evidence.state for evidence in read_snapshot(copy, options).evidence}
    assert (layout["layout"], without["layout"]) == ("full", "missing")


def test_a_policy_elsewhere_is_not_read(root: Path) -> None:
    from datetime import date

    from abistore.diffing.policy_documents import read_policy

    policy = root.parent / "rooted" / "policy.yaml"
    policy.write_text("base: strict_abi\n")
    with pytest.raises(PathDenied):
        read_policy(policy, date(2026, 1, 1))
    os.mkfifo(root / "policy.yaml")
    with pytest.raises(PolicyError, match="not a regular file"):
        read_policy(root / "policy.yaml", date(2026, 1, 1))


def test_another_thread_is_confined_too(tmp_path: Path) -> None:
    from threading import Thread

    from abistore.extract.reader import ExtractOptions
    from abistore.service.snapshots import capture
    from tests.build import build_library

    library = build_library("int f(void) { return 1; }\n", soname="libf.so.1", name="libf.so")
    (tmp_path / "root").mkdir()
    (tmp_path / "outside.so").write_bytes(library.read_bytes())
    (tmp_path / "root" / "libf.so").write_text("INPUT(../outside.so)\n")
    told: list[str] = []

    def ask() -> None:
        try:
            told.append(capture(tmp_path / "root" / "libf.so", options=ExtractOptions()).library)
        except InputError as error:
            told.append(error.message)

    with confined([canonical(tmp_path / "root")]):
        thread = Thread(target=ask)
        thread.start()
        thread.join()
    assert "none of which exists" in told[0]
