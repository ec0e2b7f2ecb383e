"""Spelled C and C++ names: read, brought into one normal form, and demangled."""
