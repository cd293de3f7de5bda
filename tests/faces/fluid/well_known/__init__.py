"""Programs as people wrote them on fluid, in small: each trains for a few steps on what it makes up."""
