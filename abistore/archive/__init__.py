"""Archives: libraries by the thousand, read by many processes and stored by one."""
