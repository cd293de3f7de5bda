"""Layer functions by family: how a program writes each one down. ``paddle.layer`` hands them on."""
