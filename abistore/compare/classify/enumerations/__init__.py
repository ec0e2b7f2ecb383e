"""Enumerations as a whole: who stores one that shrinks, and what joined flags stand for."""
