"""``abi_tag``: put a word on a release."""

from __future__ import annotations

from typing import Annotated

import msgspec

from abistore.interface import TagPlan, release_tag
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.call import Call
from abistore.mcp.lines import line_of
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Library, Line, Version, described
from abistore.mcp.tools.writing.releases import release_of


class TagItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A word on a release, and what people say about it."""

    name: str
    note: str = ""


class TagAnswer(Answer, frozen=True, kw_only=True):
    """The tags that a release has now; ``created`` where the one that was asked for is new."""

    created: bool
    library: str
    version: str
    tags: tuple[TagItem, ...]
    warnings: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


@tool(writes=True)
def abi_tag(
    call: Call,
    *,
    library: Library,
    version: Version,
    tag: Annotated[str, described("A word, e.g. lts")],
    note: Annotated[str, described("What to know about it")] = "",
    line: Line = None,
) -> TagAnswer:
    """Put a word on a stored release, such as lts or shipped, with a note. A tag that is there stays as it is."""
    with call.store() as store:
        found = release_of(store, line_of(store, library, line), version)
    plan = TagPlan(note, actor=call.actor, digest=found.digest, target=found.line.target, profile=found.line.profile)
    with call.writing() as store:
        done = release_tag(found.reference, tag, plan, database=store)
    other = [one.note for one in done.release.tags if one.name == tag and one.note != note]
    warning = f"{tag} was there before, with another note, which stays: {other[0]!r}" if other and note else ""
    return TagAnswer(
        headline=f"{'TAGGED' if done.changed else 'UNCHANGED'}: {library} {found.version}: {tag}",
        created=done.changed,
        library=library,
        version=found.version,
        tags=tuple(TagItem(one.name, brief(one.note)) for one in done.release.tags),
        warnings=(brief(warning),) if warning else (),
        next=(asking("abi_list", library=library),),
    )
