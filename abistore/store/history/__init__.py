"""Answers over several releases: logs, walks along a line, verdicts and their findings."""
