"""Edits whose truth is what programs do: small libraries, changed by one or two operators, built and run.

Each library has a client that observes it: it calls every function, reads and writes every public member, derives,
overrides, holds objects between guards, and prints what it gets. The old client is run on the new library and built
anew with the new headers; abistore and abidiff are asked afterwards.
"""
