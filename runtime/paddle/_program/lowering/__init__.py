"""How a description becomes programs of the engine: the table of operators, what a name stands for,
gradients, updates, and a block cut into what the engine computes and what the host does. It must never run
anything."""
