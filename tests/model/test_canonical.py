"""Canonical bytes: what a shape does not use is not in them, so that a fact that comes later changes no digest."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import msgspec

import abistore
from abistore.model import shapes
from abistore.model.declarations import SHORT, Encoded
from abistore.model.snapshot import Snapshot, encode
from abistore.model.snapshot_files import from_json, to_json
from abistore.model.structure import CLASSES
from tests.cases import RULES, cases, snapshot_of
from tests.diffing.test_every_fact import OLD
from tests.model.test_codec import real
from tests.subjects import assert_each

PACKAGE = Path(abistore.__file__).parent
EVERY = 12
"""Of so many cases of rules, one is in the corpus."""

DIGESTS = """
import sys
from operator import attrgetter
from pathlib import Path
from abistore.model.snapshot import digest, encode, snapshot_digest
from abistore.model.snapshot_files import from_json
for path in sorted(Path(sys.argv[1]).iterdir()):
    snapshot = from_json(path.read_bytes())
    shapes = [shape for held in snapshot.entries.values() for each in held.values() for shape in each]
    print(path.name, snapshot_digest(snapshot).hex(), *(digest(encode(shape)).hex() for shape in shapes))
"""
GROWN = """
from abistore.model import shapes, snapshot
from abistore.model.declarations import Encoded
from abistore.model.structure import CLASSES
found = [each for each in CLASSES.values() if isinstance(each, type) and issubclass(each, Encoded)]
grown = [snapshot.Target, *(each for each in found if each.__struct_fields__)]
assert len(grown) > 25, len(grown)
assert all(each.__struct_fields__[-1] == "later" for each in grown), shapes.__file__
"""


def classes() -> list[type[Encoded]]:
    """The classes of which canonical bytes are made."""
    found = [each for each in CLASSES.values() if isinstance(each, type) and issubclass(each, Encoded)]
    return sorted((each for each in found if each.__struct_fields__), key=lambda each: each.__name__)


def corpus() -> dict[str, Snapshot]:
    """Snapshots with every class of shape, of real builds, and of cases of rules."""
    found = {"every-fact": OLD, "c": real("c"), "c++": real("c++")}
    for path in sorted(RULES.glob("*.md"))[::EVERY]:
        case = cases(path)[0]
        found |= {f"{path.stem}-{side}": snapshot_of(case, side) for side in ("old", "new")}
    return found


def digests(package: Path, folder: Path, *code: str) -> str:
    command = [sys.executable, "-c", "\n".join((*code, DIGESTS)), str(folder)]
    # with -c, the folder that it runs in comes first
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def grow(path: Path, names: set[str]) -> None:
    """Give classes of a module one more field."""
    lines = path.read_text().splitlines(keepends=True)
    for node in reversed(ast.parse("".join(lines)).body):
        if isinstance(node, ast.ClassDef) and node.name in names:
            last = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            lines.insert(last[-1].end_lineno or 0, "    later: str | None = None\n")
    path.write_text("".join(lines))


def test_a_field_that_every_class_gets_later_changes_no_digest(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    for name, snapshot in corpus().items():
        (tmp_path / "corpus" / f"{name}.json").write_bytes(to_json(snapshot))
    shutil.copytree(PACKAGE, tmp_path / "later" / "abistore", ignore=shutil.ignore_patterns("__pycache__"))
    for module in {each.__module__ for each in classes()}:
        grow(tmp_path / "later" / f"{module.replace('.', '/')}.py", {each.__name__ for each in classes()})
    grow(tmp_path / "later" / "abistore" / "model" / "snapshot.py", {"Target"})
    today = digests(PACKAGE.parent, tmp_path / "corpus")
    assert len(today.split()) > 400
    assert digests(tmp_path / "later", tmp_path / "corpus", GROWN) == today


def test_a_default_is_one_that_is_met_wherever_the_value_came_from() -> None:
    def law(struct: type[Encoded]) -> None:
        fields, defaults = reversed(struct.__struct_fields__), reversed(struct.__struct_defaults__)
        for field, default in zip(fields, defaults, strict=False):
            assert (
                default in (None, True, False, 0, "", ())
                or "Literal" in str(struct.__annotations__[field])
                or field in {"access", "sort", "virtual", "reference"}
            )

    assert_each(classes(), law, named=attrgetter("__name__"))


def test_what_was_read_back_has_the_same_bytes() -> None:
    for name, snapshot in corpus().items():
        for facet, held in from_json(to_json(snapshot)).entries.items():
            for each, found in held.items():
                assert list(map(encode, found)) == list(map(encode, snapshot.entries[facet][each])), (name, each)


def test_defaults_that_are_written_out_are_not_in_canonical_bytes() -> None:
    written = b'{"is":"V","d":"x","t":{"is":"*","to":{"is":"p","s":"int","z":4},"k":"*"},"in":null,"a":"public"}'
    shape = msgspec.json.decode(written, type=shapes.AnyShape)
    assert encode(shape) == b'{"is":"V","d":"x","t":{"is":"*","to":{"is":"p","s":"int","z":4}}}'


def test_no_two_fields_have_one_name_in_canonical_bytes() -> None:
    assert len(set(SHORT.values())) == len(SHORT)
    every = {field for each in classes() for field in each.__struct_fields__}
    assert not {short for short in SHORT.values() if short in every}
    assert SHORT.keys() <= every
