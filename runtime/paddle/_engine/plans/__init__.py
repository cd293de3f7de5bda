"""What becomes of plans: how many are kept."""
