"""Reading history back: timelines, logs, verdicts and findings."""
