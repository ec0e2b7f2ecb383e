"""A file is opened once: whoever replaces or writes to it meanwhile never gets its digest on other contents."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from abistore.errors import ExtractError, InputError
from abistore.extract.capture import read_all, read_snapshot
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.snapshot import Snapshot
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import IngestPlan
from abistore.store.store import Store
from tests.build import build_library

pytestmark = pytest.mark.fast

OLD, NEW = "int before(int x) { return x; }", "int after(int x) { return x; } int more(void) { return 2; }"


def functions(snapshot: Snapshot) -> set[str]:
    return {name.spelling for name in snapshot.entries["symbol"] if name.kind == "function"}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_replaced_between_its_head_and_its_tables_is_read_as_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "libcase.so"
    old, new = build_library(OLD).read_bytes(), build_library(NEW)
    path.write_bytes(old)
    with InputFile(path) as file:
        assert file.head.startswith(b"\x7fELF")
        path.unlink()
        path.write_bytes(new.read_bytes())
        (snapshot,) = read_all(file, ExtractOptions())
    assert functions(snapshot) == {"before"}
    assert snapshot.provenance.sha256 == digest(old)
    assert snapshot.provenance.size == len(old)


def test_a_file_replaced_after_the_store_was_asked_for_it_is_stored_as_it_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "libcase.so", tmp_path / "other.so"
    old = build_library(OLD).read_bytes()
    path.write_bytes(old)
    other.write_bytes(build_library(NEW).read_bytes())

    def swap(*_arguments: object) -> bool:
        other.replace(path)
        return False

    monkeypatch.setattr(Store, "may_know", swap)
    (result,) = ingest([path], IngestPlan(version="1"), database=tmp_path / "db.sqlite")
    with Store.open(tmp_path / "db.sqlite", write=False) as store:
        assert result.release is not None
        snapshot = store.load(result.release)
    assert functions(snapshot) == {"before"}
    assert snapshot.provenance.sha256 == digest(old)


def test_a_file_written_to_while_it_is_read_is_an_error_and_no_digest_of_other_contents(tmp_path: Path) -> None:
    path = tmp_path / "libcase.so"
    path.write_bytes(build_library(OLD).read_bytes())
    os.utime(path, (1, 1))
    other = path.read_bytes()[:-8] + b"\1" * 8

    def overwrite(_what: str, _done: float) -> None:
        path.write_bytes(other)

    with pytest.raises(ExtractError, match="was written to while it was read") as raised:
        read_snapshot(path, ExtractOptions(progress=overwrite))
    assert raised.value.hint


def test_a_sparse_file_is_refused_by_its_size_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "libcase.so"
    path.write_bytes(b"\x7fELF")
    os.truncate(path, 1 << 40)
    with pytest.raises(InputError, match="more than the limit"):
        read_snapshot(path, ExtractOptions())


def test_a_descriptor_is_closed_after_reading_and_after_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "libcase.so"
    path.write_bytes(build_library(OLD).read_bytes())
    (tmp_path / "broken.so").write_bytes(path.read_bytes()[:300])
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert Name("function", "before") in read_snapshot(path, ExtractOptions()).entries["symbol"]
    with pytest.raises(InputError):
        read_snapshot(tmp_path / "broken.so", ExtractOptions())
    assert len(list(Path("/proc/self/fd").iterdir())) == before
