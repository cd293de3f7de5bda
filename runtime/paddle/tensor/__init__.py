"""Functions of tensors by their modules; ``paddle`` has all of them."""
