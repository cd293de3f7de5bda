"""Plans without passes, beside those that tests run."""
