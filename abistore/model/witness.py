"""A witness: a program of an old user that shows one break, and what it printed before and after."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

WitnessSort: TypeAlias = Literal["layout", "link", "load", "source", "run"]
"""What a witness proves.

``layout``: what a program is compiled with (sizes, offsets, values, vtable slots) differs between both declarations;
the library is never loaded. ``link``: a program that links with the old library does not link with the new one.
``load``: the dynamic linker refuses a program that was built with the old library. ``source``: a program compiles with
the old declarations only. ``run``: a program that calls the library prints something else.
"""

WitnessState: TypeAlias = Literal["shown", "refuted", "written", "none"]
"""``shown``: the break happens. ``refuted``: the program behaves the same. ``written``: a program that nobody
compiled. ``none``: no program can be made; ``reason`` says why."""


class Witness(msgspec.Struct, frozen=True, omit_defaults=True):
    """The smallest program that an old user could have written and that shows one finding.

    ``finding`` is its id. ``declarations`` says where the declarations come from: the library's ``headers``, or the
    ``snapshot``, which spells them. ``files`` are further files that the program needs, by name: ``old/api.h``.
    ``lines`` are the lines of ``program`` that matter, counted from 1. ``commands`` compile and start it, as a user
    would type them. ``before`` and ``after`` are what it printed, or what the compiler, the linker or the dynamic
    linker said. ``compiler`` names what compiled it.
    """

    finding: str
    kind: str
    display: str
    state: WitnessState
    sort: WitnessSort | None = None
    reason: str = ""
    language: Literal["c", "c++"] = "c"
    declarations: Literal["headers", "snapshot", ""] = ""
    program: str = ""
    files: tuple[tuple[str, str], ...] = ()
    lines: tuple[int, ...] = ()
    commands: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    compiler: str = ""
    part: str = ""
