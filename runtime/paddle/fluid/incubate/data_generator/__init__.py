"""Data generators, as programs of 1.6 to 1.8 import them: `import paddle.fluid.incubate.data_generator as
dg`."""

from paddle._data.data_generator import DataGenerator, MultiSlotDataGenerator, MultiSlotStringDataGenerator

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]
