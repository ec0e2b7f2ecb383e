"""The slots of vtables: who misses those that a class got."""
