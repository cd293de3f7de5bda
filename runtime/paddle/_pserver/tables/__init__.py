"""Tables: values, dense and sparse, and the state of their rules."""
