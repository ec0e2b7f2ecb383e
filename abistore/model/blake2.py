"""BLAKE2b as ``hashlib`` has it, without OpenSSL, which importing ``hashlib`` loads."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that keeps it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
