"""Trust: who may speak to whom, shown by tokens, certificates and the owner of a socket."""
