"""Report formats: each module renders a report and defines ``FORMAT``, a :class:`abistore.report.registry.Format`."""
