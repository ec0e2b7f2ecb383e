"""Packages and folders: unpacked within limits, and searched for libraries and headers."""
