"""Class templates: which bases their users miss."""
