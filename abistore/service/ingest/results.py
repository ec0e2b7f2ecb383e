"""What a call of ``ingest`` asks for, and what became of each file."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from abistore.model.history import Release
from abistore.model.labels.blanks import Given
from abistore.service.ingest.gates import OPEN, Gate, Status
from abistore.service.project.configuration import VersionFrom
from abistore.service.snapshots import ExtractOptions

if TYPE_CHECKING:
    from abistore.report.model import Report


class IngestPlan(Given, frozen=True):
    """What holds for every file of one call.

    Files for another platform than ``target`` are refused. Each file must pass the ``gate`` to be stored. ``replace``
    allows another binary under a taken version; if a baseline points at that release, ``replace_baseline`` must give
    the reason. ``profile``, ``revision``, ``url`` and ``released`` default to what a JSON snapshot was exported with.
    ``tags`` are put on each release. A file whose digest does not begin with ``expected_digest`` is refused. With
    ``dry_run`` nothing is written: the results say what would become of each file. What an exported snapshot says is
    approved is left out, and told, unless ``approvals`` takes it over.
    """

    library: str | None = None
    version: str | None = None
    version_from: VersionFrom | None = None
    target: str | None = None
    profile: str | None = None
    replace: bool = False
    replace_baseline: str = ""
    revision: str | None = None
    url: str | None = None
    released: datetime | None = None
    actor: str = ""
    tags: tuple[str, ...] = ()
    expected_digest: str | None = None
    dry_run: bool = False
    approvals: bool = False
    options: ExtractOptions = msgspec.field(default_factory=ExtractOptions)
    gate: Gate = OPEN


AS_IT_SAYS = IngestPlan()
"""Every file is stored under the names that it gives itself."""


class Ingested(msgspec.Struct, frozen=True):
    """What became of one file.

    ``status``: ``stored``, ``replaced``, ``known`` (stored already: nothing was read), ``candidate`` (it failed its
    gate and was kept), ``refused`` (it failed its gate and was not stored), or ``failed``. ``created`` tells that the
    store did not hold it before; with ``dry_run`` nothing was written, and ``status`` is what would become of it.
    ``code``, ``error`` and ``hint`` describe a failure, or missing evidence. ``verdict`` is the worst verdict; a
    replacement may have an ``other_verdict``, as it is judged against the release that it replaces too. ``unjudged``
    says why a first release has no verdict. ``mended`` names the facts of a known release that were empty and are
    filled now. Of a package with several libraries, ``members`` has a result for each, ``verdict`` is about all of
    them, and ``status`` the worst. ``notes`` say what is unusual about the file, and which facts of a known release
    stay as they are.
    """

    path: str
    status: Status
    exit_code: int = 0
    created: bool = False
    dry_run: bool = False
    release: Release | None = None
    verdict: Report | None = None
    other_verdict: Report | None = None
    unjudged: str = ""
    baseline: str | None = None
    entries_written: int = 0
    shapes_written: int = 0
    code: str = ""
    error: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    members: tuple[Ingested, ...] = ()
