"""Report formats: each module renders a `Report` and defines `FORMAT`; nothing else is here."""
