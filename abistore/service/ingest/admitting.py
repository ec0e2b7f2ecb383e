"""Storing a snapshot: at once if its gate is open, else after judging."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.service.ingest.gates import Admitted, Arrival, Gate, GateOutcome, as_known, store_as

if TYPE_CHECKING:
    from abistore.store.store import Store


def admit(store: Store, arrival: Arrival, gate: Gate, *, dry_run: bool = False) -> Admitted:
    """Store ``arrival``; it is judged first if ``gate`` asks for anything. With ``dry_run`` nothing is written."""
    if dry_run:
        from abistore.service.ingest.admission import foresee

        return foresee(store, arrival, gate)
    if not gate.is_open:
        from abistore.service.ingest.admission import admit_judged  # imports all that judges

        return admit_judged(store, arrival, gate)
    return Admitted(GateOutcome(), as_known(arrival.release) if arrival.release else store_as(store, arrival))
