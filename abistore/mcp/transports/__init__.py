"""How clients reach the server: standard input and output, or HTTP with tokens."""
