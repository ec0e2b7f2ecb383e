"""Reading files in a process of its own, which can be killed: for threads, and for servers."""
