"""How often abistore and abidiff are right about releases that people shipped."""
