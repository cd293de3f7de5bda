"""What appends operators for people: layers' helper, initializers, penalties, clipping, backward passes,
optimizers, branches. It must never know a value, an engine or a run."""
