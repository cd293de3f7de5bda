"""Data generators: what writes lines of slots on the other end of a dataset's ``pipe_command``."""

from paddle._data.data_generator import DataGenerator, MultiSlotDataGenerator, MultiSlotStringDataGenerator

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]

__path__: list[str] = []  # programs import it as fleet.data_generator.data_generator, too
