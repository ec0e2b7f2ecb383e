"""The statement of a release: one sentence, and everything that it rests on."""
