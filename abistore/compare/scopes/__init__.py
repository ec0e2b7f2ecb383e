"""Namespaces that have another name on the new side: found once, and all else is compared under the old names."""
