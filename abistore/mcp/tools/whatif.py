"""``abi_whatif``: an edit of headers, judged before anything is built."""

from __future__ import annotations

from typing import Annotated

import msgspec

from abistore.interface import WhatIf, WhatIfBaseline, WhatIfPlan, WhatIfWay
from abistore.mcp.answers.answer import Answer, brief
from abistore.mcp.answers.changes import ChangeItem, change_item
from abistore.mcp.call import Call
from abistore.mcp.operands import headers_of, operand
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Folders, Headers, Language, described
from abistore.report.model import VerdictName

MOST_BASELINES, MOST_CHANGES, MOST_WAYS = 8, 5, 3
MOST_TEXT = 1200
"""The longest declaration of another way that is sent, in characters."""


class WayItem(msgspec.Struct, frozen=True):
    """Another way to make a change, judged by the same rules, and what is declared then."""

    title: str
    verdict: str
    declaration: str


class BaselineItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the edit means for one release, and for the channels that stand at it."""

    reference: str
    platform: str
    channels: tuple[str, ...]
    verdict: str
    total: int
    changes: tuple[ChangeItem, ...]
    room: tuple[str, ...] = ()
    ways: tuple[WayItem, ...] = ()
    not_checked: tuple[str, ...] = ()


class WhatIfAnswer(Answer, frozen=True, kw_only=True):
    """The worst verdict, and what the edit means for each baseline."""

    verdict: VerdictName
    exit_code: int
    edited: tuple[str, ...]
    baselines: tuple[BaselineItem, ...]
    warnings: tuple[str, ...] = ()


@tool()
def abi_whatif(
    call: Call,
    *,
    library: Annotated[str, described("libfoo (each baseline), libfoo@1.2.0")],
    header_patch: Annotated[str | None, described("Unified diff of the headers")] = None,
    declaration: Annotated[str | None, described("Replaces its namesake")] = None,
    headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
) -> WhatIfAnswer:
    """Judge an edit of headers before it is built: whom it breaks, and ways that do not.

    Give header_patch with headers, or declaration.
    """
    plan = WhatIfPlan(
        headers_of(call.settings, headers, include_dirs, language, "headers"),
        header_patch or "",
        (declaration,) if declaration else (),
    )
    with call.store() as store:
        return _answer(store.whatif(operand(call.settings, library, "library"), plan))


def _answer(found: WhatIf) -> WhatIfAnswer:
    shown = sorted(found.judged, key=lambda each: each.report.verdict != found.verdict)[:MOST_BASELINES]
    hidden = len(found.judged) - len(shown)
    at = f"{shown[0].reference}{_channels(shown[0])}"
    return WhatIfAnswer(
        headline=f"{found.verdict} for {at}{f' and {len(found.judged) - 1} more' if len(found.judged) > 1 else ''}",
        verdict=found.verdict,
        exit_code=found.exit_code,
        edited=tuple(map(brief, found.edited[:50])),
        baselines=tuple(map(_item, shown)),
        warnings=(f"{hidden} more baselines are not shown, and none is worse",) if hidden else (),
    )


def _channels(each: WhatIfBaseline) -> str:
    return f" (baseline {', '.join(each.channels)})" if each.channels else ""


def _item(each: WhatIfBaseline) -> BaselineItem:
    changes = each.report.changes
    embedding = (f"the layout of {name}, which embeds what changes" for name in each.unsettled)
    unseen = (f"{gap.facet}: {gap.detail or gap.reason}" for gap in each.report.not_checked)
    return BaselineItem(
        reference=each.reference,
        platform=each.target,
        channels=each.channels,
        verdict=each.report.verdict,
        total=len(changes),
        changes=tuple(change_item(change, "summary") for change in changes[:MOST_CHANGES]),
        room=tuple(f"{room.symbol}: {', '.join(room.rooms)}" for room in each.rooms),
        ways=tuple(map(_way, each.ways[:MOST_WAYS])),
        not_checked=tuple(map(brief, (*embedding, *unseen))),
    )


def _way(way: WhatIfWay) -> WayItem:
    return WayItem(brief(way.title), way.verdict, brief(way.declaration, MOST_TEXT))
