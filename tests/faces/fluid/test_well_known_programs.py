"""Models that people ran most on fluid, in small, trained unmodified: what each step costs is what it costs
paddlepaddle 1.8.5, from the same first values and on the same data (its numbers stand here)."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid

from .well_known import images, painting, playing, pretraining, rating, reading, transformer, translating

COSTS = {
    transformer: [3.16296, 3.12685, 3.33687, 2.98599, 2.94278, 3.38507],
    pretraining: [4.15844, 4.07775, 3.87285, 3.63798, 3.83222, 4.02464],
    images: [1.61156, 1.6141, 1.68353, 1.43397, 1.38097, 1.32583, 1.56891],
    painting: [0.7618, 0.63311, 0.64857, 0.75224, 0.64374, 0.65775, 0.01023],
    playing: [2.21302, 0.13764, 0.46991, 0.28386, 0.45465, 0.21442, 0.13107, 0.69653],
    translating: [3.45569, 3.40807, 3.28759, 3.0605, 3.24879, 3.12132, 107.0, -1.13306, -3.0556, -3.26398],
    rating: [10.7228, 18.94695, 2.1879, 4.47021, 1.93374, 3.56037, 1.09478, 0.88514, 43.80189, 43.80189],
    reading: [15.66175, 26.4937, 21.27439, 16.79778, 16.55357, 18.60961, 1.0, 14.17495],
}


@pytest.mark.parametrize("program", COSTS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_each_step_costs_what_it_costs_the_original(program) -> None:
    fluid.default_main_program().random_seed = 1
    np.testing.assert_allclose(program.costs(6), COSTS[program], rtol=2e-5, atol=6e-6)
