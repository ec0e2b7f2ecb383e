"""Packages and folders: unpacked within limits, never by the paths that they name, and searched for libraries."""
