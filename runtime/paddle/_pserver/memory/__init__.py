"""Memory: arrays that grow where they are, or that two processes of a machine see."""
