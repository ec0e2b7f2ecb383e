"""abistore remembers the ABI of every release of a C or C++ shared library, and answers from that memory."""

__version__ = "0.1.0"
