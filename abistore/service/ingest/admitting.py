"""Letting a snapshot into the store: at once where everything passes, else through a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.service.ingest.gates import Admitted, Arrival, Gate, GateOutcome, as_known, store_as

if TYPE_CHECKING:
    from abistore.store.store import Store


def admit(store: Store, arrival: Arrival, gate: Gate) -> Admitted:
    """Store ``arrival`` as ``gate`` says: judged first, where it asks for anything."""
    if not gate.is_open:
        from abistore.service.ingest.admission import admit_judged  # what judges is imported where something is judged

        return admit_judged(store, arrival, gate)
    return Admitted(GateOutcome(), as_known(arrival.release) if arrival.release else store_as(store, arrival))
