"""Shapes in the encoding that leaves defaults out; with it their digests, those of snapshots, and what is made of them.

A shape that cannot be read stays as it is. A digest or sum that was wrong before is wrong afterwards, so that
``db check`` tells what it told. A snapshot keeps its former digest, by which it is found too. The audit is what was
written, former digests and all.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FACETS = ("symbol", "layout", "source")
OPEN = 2**31 - 1
MASK = (1 << 40) - 1
FEW = 500
"""So many rows, or ids in one statement, are in memory at a time."""

CARD = (
    "snapshot.id, library.name, line.target, line.profile, sequence, version, superseded, digest, sha256, size, "
    "read_here, build_id, soname, exports, declarations, facets, snapshot.target, provenance, evidence, revision, url, "
    "ingested, released, candidate, members, places"
)
CARDS = f"SELECT {CARD}, snapshot.checksum FROM snapshot"
CARDS_AFTER = f"SELECT candidate, superseded, snapshot.checksum, {CARD}, former FROM snapshot"
MOVES = (
    "SELECT baseline_move.checksum, baseline_move.id, library.name, line.target, line.profile, channel, version, "
    "moved, actor, reason, baseline_move.digest FROM baseline_move"
)
LINE = "library_id, target, profile, releases, candidates, moves, scheme, checksum"


def upgrade() -> None:
    op.add_column(
        "snapshot",
        sa.Column(
            "former", sa.LargeBinary(), comment="Its digest before schema 0009, NULL where it was ingested since"
        ),
    )
    op.create_index("ix_snapshot_former", "snapshot", ["former"], unique=False)
    op.create_table(
        "former_shape",
        sa.Column("id", Identifier, primary_key=True, autoincrement=False),
        sa.Column("digest", sa.LargeBinary()),
        sa.Column("body", sa.Text()),
    )
    _run("INSERT INTO former_shape (id, digest, body) SELECT id, digest, body FROM shape")
    _convert_shapes()
    for (line,) in _rows("SELECT id FROM line ORDER BY id"):
        sound = {row[0] for *row, seal in _of_line(CARDS, line) if _checksum(*row) == seal}
        _convert_entries(line)
        _seal_line(line, sound)
    op.drop_table("former_shape")


# --- what rows are sealed with: as abistore did when this schema was new --------------------------------------------

_encode = msgspec.json.Encoder(order="deterministic").encode


def _begun(data: bytes) -> Any:
    return blake2b(data, digest_size=16, person=b"abistore-1")


def _digest(data: bytes) -> bytes:
    return bytes(_begun(data).digest())


def _checksum(*values: object) -> int:
    return int.from_bytes(_digest(_encode(values))[:5], "big")


def _key(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big")


def _member(facet: int, name: int, shape: int) -> int:
    return ((name + facet) * shape >> 44) & MASK


def _entry(line: int, facet: int, shape: int, first: int, last: int) -> int:
    place = line * 0x9E3779B97F4A7C15 + facet * 0xC2B2AE3D27D4EB4F
    place += first * 0x165667B19E3779F9 + last * 0xD6E8FEB86659FD93
    return (shape * (place & (1 << 64) - 1 | 1) >> 44) & MASK


def _rows(statement: str, **values: Any) -> list[Any]:
    return list(op.get_bind().execute(sa.text(statement), values).all())


def _run(statement: str, rows: list[dict[str, Any]] | None = None) -> None:
    if rows is None:
        op.get_bind().execute(sa.text(statement))
    elif rows:
        op.get_bind().execute(sa.text(statement), rows)


def _among(statement: str, identifiers: Iterable[int]) -> Iterator[Any]:
    """The rows of these ids, which stand where the statement says ``{}``."""
    ordered = sorted(set(identifiers))
    for start in range(0, len(ordered), FEW):
        yield from _rows(statement.format(", ".join(map(str, ordered[start : start + FEW]))))


# --- shapes -------------------------------------------------------------------------------------------------------


def _convert_shapes() -> None:
    last = -1
    statement = f"SELECT id, digest, body FROM former_shape WHERE id > :last ORDER BY id LIMIT {FEW}"
    while rows := _rows(statement, last=last):
        last = rows[-1][0]
        changed = []
        for identifier, key, body in rows:
            new = converted(body) if _digest(body.encode()) == bytes(key) else None
            if new is not None:
                changed.append({"id": identifier, "digest": _digest(new), "body": new.decode()})
        _run("UPDATE shape SET digest = :digest, body = :body WHERE id = :id", changed)


class _Held:
    """What holds in one facet of a line at one moment, before and after: sums, and for each name its shapes."""

    def __init__(self) -> None:
        self.difference = 0
        self._names: list[tuple[str, str]] = []
        self._shapes: dict[tuple[str, str], dict[int, tuple[bytes, bytes]]] = defaultdict(dict)

    def change(self, name: tuple[str, str], shape: int, bodies: tuple[bytes, bytes] | None, difference: int) -> None:
        """Let a shape of a name begin, or end (``None``)."""
        self.difference += difference
        shapes = self._shapes[name]
        if bodies is None:
            shapes.pop(shape, None)
        else:
            shapes[shape] = bodies
        place = bisect_left(self._names, name)
        known = self._names[place : place + 1] == [name]
        if shapes and not known:
            self._names.insert(place, name)
        elif known and not shapes:
            del self._names[place]

    def parts(self, after: bool) -> Iterator[bytes]:
        """What the digest is of, name by name."""
        for name in self._names:
            bodies = sorted(pair[after] for pair in self._shapes[name].values())
            yield b"%b,[%b]]" % (_encode(name), b",".join(bodies))


def _convert_entries(line: int) -> None:
    """The sums over the entries of one line, and its snapshots' digests, one snapshot after the other."""
    spans = _rows("SELECT facet, first_seq, last_seq, name_id, shape_id FROM entry WHERE line_id = :line", line=line)
    moments: dict[int, list[tuple[bool, int, int, int]]] = defaultdict(list)
    for facet, first, last, name, shape in spans:
        if facet in range(len(FACETS)):
            moments[first].append((True, facet, name, shape))
            moments[last + 1].append((False, facet, name, shape))
    _convert_name_sums(line, spans)
    held = [_Held() for _ in FACETS]
    pending = sorted(moments, reverse=True)
    columns = "id, sequence, facets, target, digest, members"
    for identifier, sequence, facets, *card in _rows(
        f"SELECT {columns} FROM snapshot WHERE line_id = :line ORDER BY sequence", line=line
    ):
        while pending and pending[-1] <= sequence:
            _step(held, sorted(moments.pop(pending.pop())))
        _convert_snapshot(identifier, facets, card, held)


def _convert_name_sums(line: int, spans: list[Any]) -> None:
    for start in range(0, len(spans), FEW):
        some = spans[start : start + FEW]
        keys = {row[0]: (_key(row[1]), _key(row[2])) for row in _shapes("shape.digest", (span[4] for span in some))}
        sums: dict[int, int] = defaultdict(int)
        for facet, first, last, name, shape in some:
            if shape in keys:
                before, after = keys[shape]
                sums[name] += _entry(line, facet, after, first, last) - _entry(line, facet, before, first, last)
        changed = [{"id": name, "sum": sums[name]} for name in sorted(sums) if sums[name]]
        _run("UPDATE name SET entries = entries + :sum WHERE id = :id", changed)


def _shapes(columns: str, identifiers: Iterable[int]) -> Iterator[Any]:
    """Of these shapes the id, the former digest, and ``columns``."""
    joined = "former_shape JOIN shape ON shape.id = former_shape.id"
    yield from _among(
        f"SELECT shape.id, former_shape.digest, {columns} FROM {joined} WHERE shape.id IN ({{}})", identifiers
    )


def _step(held: list[_Held], changes: list[tuple[bool, int, int, int]]) -> None:
    """What ends and begins at one moment, ends first."""
    for start in range(0, len(changes), FEW):
        some = changes[start : start + FEW]
        statement = "SELECT id, kind, spelling FROM name WHERE id IN ({})"
        names = {row[0]: (row[1], row[2]) for row in _among(statement, (change[2] for change in some))}
        bodies = {row[0]: (row[1].encode(), row[2].encode()) for row in _bodies(change[3] for change in some)}
        for begins, facet, name, shape in some:
            if name in names and shape in bodies:
                key = _key(_digest(_encode(names[name])))
                before, after = (_member(facet, key, _key(_digest(body))) for body in bodies[shape])
                difference = after - before if begins else before - after
                held[facet].change(names[name], shape, bodies[shape] if begins else None, difference)


def _bodies(identifiers: Iterable[int]) -> Iterator[Any]:
    joined = "former_shape JOIN shape ON shape.id = former_shape.id"
    yield from _among(
        f"SELECT shape.id, former_shape.body, shape.body FROM {joined} WHERE shape.id IN ({{}})", identifiers
    )


def _convert_snapshot(identifier: int, facets: str, card: list[Any], held: list[_Held]) -> None:
    target, key, members = card
    try:
        counts = msgspec.json.decode(facets, type=dict[str, int])
    except msgspec.MsgspecError:
        return  # its card is damaged, and told as such
    members += sum(each.difference for facet, each in zip(FACETS, held, strict=True) if counts.get(facet))
    new, former = bytes(key), None
    if _snapshot_digest(target, counts, held, after=False) == new:
        new, former = _snapshot_digest(target, counts, held, after=True), new
    changed = {"id": identifier, "members": members, "digest": new, "former": former}
    _run("UPDATE snapshot SET members = :members, digest = :digest, former = :former WHERE id = :id", [changed])


def _snapshot_digest(target: str, counts: Mapping[str, int], held: list[_Held], *, after: bool) -> bytes:
    state = _begun(target.encode())
    for facet, each in zip(FACETS, held, strict=True):
        if facet in counts:
            state.update(b'["%b",[' % facet.encode())
            begin = b"["
            for part in each.parts(after) if counts[facet] else ():
                state.update(begin)
                state.update(part)
                begin = b",["
            state.update(b"]]")
    return bytes(state.digest())


# --- what is made of them -------------------------------------------------------------------------------------------


def _of_line(statement: str, line: int) -> list[Any]:
    joined = "JOIN line ON line.id = line_id JOIN library ON library.id = library_id WHERE line_id = :line ORDER BY 1"
    return _rows(f"{statement} {joined}", line=line)


def _seal_line(line: int, sound: set[int]) -> None:
    """The checksums of a line's snapshots, of its baselines' moves, and its own, where they were right before."""
    sums = {"releases": 0, "candidates": 0, "moves": _seal_moves(line)}
    changed = []
    for candidate, superseded, before, *row in _of_line(CARDS_AFTER, line):
        if row[0] in sound:
            seal = _checksum(*row)
            changed.append({"id": row[0], "seal": seal})
            if not superseded:
                sums["candidates" if candidate else "releases"] += seal - before
    _run("UPDATE snapshot SET checksum = :seal WHERE id = :id", changed)
    _seal_sums(line, sums)


def _seal_moves(line: int) -> int:
    """Let moves name the digests of today; what that adds to the sum of their checksums."""
    statement = "SELECT former, digest FROM snapshot WHERE line_id = :line AND former IS NOT NULL"
    digests = {bytes(former): bytes(digest) for former, digest in _rows(statement, line=line)}
    changed = []
    difference = 0
    for before, *row, digest in _of_line(MOVES, line):
        if _checksum(*row, digest) == before and digest is not None and bytes(digest) in digests:
            new = digests[bytes(digest)]
            seal = _checksum(*row, new)
            difference += seal - before
            changed.append({"id": row[0], "digest": new, "seal": seal})
    _run("UPDATE baseline_move SET digest = :digest, checksum = :seal WHERE id = :id", changed)
    return difference


def _seal_sums(line: int, sums: Mapping[str, int]) -> None:
    ((library, target, profile, *before, scheme, seal),) = _rows(f"SELECT {LINE} FROM line WHERE id = :line", line=line)
    own = () if scheme is None else (scheme,)
    after = [old + sums[name] for old, name in zip(before, ("releases", "candidates", "moves"), strict=True)]
    if _checksum(library, target, profile, *before, *own) == seal:
        seal = _checksum(library, target, profile, *after, *own)
    changed = dict(zip(("releases", "candidates", "moves"), after, strict=True)) | {"id": line, "seal": seal}
    assigned = "releases = :releases, candidates = :candidates, moves = :moves, checksum = :seal"
    _run(f"UPDATE line SET {assigned} WHERE id = :id", [changed])


# --- one shape: what its class, or that of a part of it, was called, had, and has -------------------------------------

SHORT = {
    **{"name": "n", "spelling": "s", "size": "z", "target": "to", "sort": "k", "element": "of", "count": "c"},
    **{"qualifiers": "q", "result": "r", "parameters": "p", "owner": "in", "shape": "sh", "display": "d", "type": "t"},
    **{"method": "m", "access": "a", "fields": "f", "offset": "o", "bit_size": "w", "bases": "b", "virtuals": "v"},
    **{"symbol": "y", "slot": "i", "arguments": "g", "alignment": "al", "enumerators": "e", "value": "x"},
}
TYPES = {
    "n": ("n", "name"),
    "p": ("p", "spelling size"),
    "*": ("*", 'target:type sort="*"'),
    "a": ("a", "element:type count vector=false"),
    "q": ("q", "target:type qualifiers"),
    "f": ("f", "result:type parameters:type*=[] variadic=false"),
    "m": ("m", "owner:type target:type"),
    "i": ("i", "shape:shape"),
    "?": ("?", "spelling"),
}
SHAPES = {
    "Import": ("I", "weak=false version=null library=null"),
    "Function": (
        "F",
        "display result:type parameters:type*=[] variadic=false noreturn=false prototyped=true calling_convention=null "
        "method:Method=null",
    ),
    "Variable": ("V", 'display type:type owner=null access="public"'),
    "Record": (
        "R",
        "sort size fields:Field*=[] bases:Base*=[] virtuals:VirtualMethod*=[] alignment=null passing=null deleted=[] "
        "arguments:type*=[] has_vptr=false",
    ),
    "Opaque": ("O", "sort"),
    "Foreign": ("X", "sort size alignment arguments:type*=[]"),
    "Enum": ("E", "size enumerators:Enumerator*=[] underlying:type=null scoped=false"),
    "Alias": ("A", "target:type"),
    "Declared": ("D", "traits=[] parameters:Argument*=[] value=null"),
}
PARTS = {
    "Method": (
        None,
        'owner access="public" static=false virtual="no" slot=null qualifiers=[] reference="" explicit=false '
        "deleted=false defaulted=false",
    ),
    "Field": (None, 'name type:type offset bit_size=null access="public" mutable=false'),
    "Base": (None, 'type:type offset virtual=false access="public"'),
    "VirtualMethod": (
        None,
        'display symbol slot result:type parameters:type*=[] pure=false access="public"',
    ),
    "Enumerator": (None, "name value"),
    "Argument": (None, 'name="" default=null'),
}
NONE = object()
Plan = tuple[str | None, tuple[tuple[str, str, Any], ...]]


def _plan(tag: str | None, fields: str) -> Plan:
    """The tag of today, and of each field its name of today, what stands there, and its default."""
    found = []
    for word in fields.split():
        declared, _, default = word.partition("=")
        name, _, form = declared.partition(":")
        found.append((SHORT.get(name, name), form, msgspec.json.decode(default) if default else NONE))
    return tag, tuple(found)


PLANS = {
    kind: {tag: _plan(*said) for tag, said in table.items()} for kind, table in (("type", TYPES), ("shape", SHAPES))
}
PART_PLANS = {name: _plan(*said) for name, said in PARTS.items()}


def converted(body: str) -> bytes | None:
    """A shape's canonical bytes from those that it had, which were arrays of all fields; ``None`` where it had none."""
    try:
        return msgspec.json.encode(_tagged("shape", msgspec.json.decode(body)))
    except (msgspec.MsgspecError, KeyError, RecursionError, TypeError, ValueError):
        return None


def _tagged(kind: str, row: list[Any]) -> dict[str, Any]:
    tag, *values = row
    if kind == "shape" and tag in ("Symbol", "Library"):
        return _symbol(*values) if tag == "Symbol" else _library(*values)
    return _object(PLANS[kind][tag], values)


def _object(plan: Plan, values: list[Any]) -> dict[str, Any]:
    tag, fields = plan
    found = {} if tag is None else {"is": tag}
    for (name, form, default), value in zip(fields, values, strict=True):
        if value is not default and (type(value), value) != (type(default), default):
            found[name] = _value(form, value)
    return found


def _value(form: str, value: Any) -> Any:
    if not form or value is None:
        return value
    if form.endswith("*"):
        return [_value(form[:-1], each) for each in value]
    return _object(PART_PLANS[form], value) if form in PART_PLANS else _tagged(form, value)


def _without_defaults(**values: Any) -> dict[str, Any]:
    return {SHORT.get(name, name): value for name, value in values.items() if value not in (None, False, 0, [], {})}


COMMON = {
    **{"function": "function", "ifunc": "function", "object": "data", "common": "data"},
    **{"tls": "thread_local", "notype": "unknown"},
}


def _symbol(type: str, binding: str, visibility: str, size: int, version: str | None, default: bool) -> dict[str, Any]:
    bound = {"global": {}, "weak": {"weak": True}, "unique": {}}[binding]
    elf = _without_defaults(
        chosen_at_load=type == "ifunc",
        common=type == "common",
        unique=binding == "unique",
        protected={"default": False, "protected": True}[visibility],
    )
    symbol = {"is": "S", "t": COMMON[type], **bound, **_without_defaults(size=size, version=version)}
    return {**symbol, **({} if default else {"default": False}), **_without_defaults(elf=elf)}


WORDS = {"partial RELRO", "full RELRO", "immediate binding", "stack canary", "FORTIFY"}


def _library(
    file_kind: str,
    name: str | None,
    needed: list[str],
    rpath: list[str],
    runpath: list[str],
    defined: list[str],
    required: list[list[str]],
    hardening: list[Any],
    features: list[str],
) -> dict[str, Any]:
    relro, bind_now, executable_stack, canary, fortify, branches, text_relocations, writable_code = hardening
    own = [
        *{"none": [], "partial": ["partial RELRO"], "full": ["full RELRO"]}[relro],
        *(["immediate binding"] if bind_now else []),
        *(["stack canary"] if canary else []),
        *(["FORTIFY"] if fortify else []),
    ]
    others = [f"branches: {each}" if each in WORDS else each for each in branches]
    # what no reader wrote stays another shape than what they write
    protections = sorted([*own, *others]) if others == sorted(set(others)) else [*others, *own]
    weaknesses = {
        "executable stack" if executable_stack else "",
        "text relocations" if text_relocations else "",
        "a writable executable segment" if writable_code else "",
    }
    said = _without_defaults(
        name=name,
        needed=needed,
        search_paths=runpath,
        protections=protections,
        weaknesses=sorted(weaknesses - {""}),
        features=features,
        elf=_without_defaults(rpath=rpath, version_definitions=defined, version_requirements=required),
    )
    return {"is": "L", "file_kind": file_kind, **said}
