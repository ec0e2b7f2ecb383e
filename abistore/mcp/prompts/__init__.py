"""What people start: a task for an agent, with the calls that solve it."""
