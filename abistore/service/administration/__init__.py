"""Looking after a store: the database, baselines, the order of releases, and the facts recorded about them."""
