"""Looking after a store: the database, baselines, the order of releases, and what is said about them."""
