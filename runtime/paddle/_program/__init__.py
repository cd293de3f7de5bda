"""Programs as people write them: blocks of operators over named variables, and what runs them."""
