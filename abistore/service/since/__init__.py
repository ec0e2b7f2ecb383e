"""Since when, until when: the release that broke something, and the releases that a program can run on."""
