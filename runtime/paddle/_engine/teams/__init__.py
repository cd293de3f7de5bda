"""Teams: threads that compute the parts of a batch, and what they wait for, add up and compute together."""
