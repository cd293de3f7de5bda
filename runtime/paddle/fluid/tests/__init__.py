"""Where upstream ships its tests. Programs take one function from there (unittests.op_test)."""
