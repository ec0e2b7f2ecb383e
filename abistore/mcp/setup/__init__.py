"""What helps people to set the server up: configurations of clients, readiness, and a client to try it with."""
