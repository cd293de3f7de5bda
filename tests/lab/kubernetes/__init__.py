"""A Kubernetes of one node for tests: every part of it real, in namespaces that end with the tests."""
