"""What a pserver needs to keep an open table, over its rows."""
