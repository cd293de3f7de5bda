"""Moving parameters: who keeps them, several of these as one, threads in turn, and averages over steps."""
