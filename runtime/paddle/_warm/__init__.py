"""What jobs usually compile, compiled before there is a job: ``python -m paddle._warm``."""
