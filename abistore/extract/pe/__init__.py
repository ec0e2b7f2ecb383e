"""The PE format: what the tables of a Windows DLL say."""
