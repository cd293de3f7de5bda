"""A beam of paths, by the rules that its module names."""

from __future__ import annotations

from itertools import product

import numpy as np

from paddle._engine.steps.beam import Beam

END = 0


def searched(width: int, tables: list[list[list[float]]], longest: int = 9, samples: int = 1) -> Beam:
    """Each table has a row of probabilities for each path that is live then."""
    beam = Beam(samples, width, END, longest)
    for table in tables:
        beam.extend(np.array(table, np.float32))
    return beam


def words(beam: Beam, count: int = 9) -> list[list[tuple[int, ...]]]:
    return [[path.words for path in paths] for paths in beam.results(count)]


def test_the_most_probable_beginnings_go_on() -> None:
    beam = searched(2, [[[0.1, 0.5, 0.4, 0.0]]])
    assert [path.words for path in beam.live] == [(1,), (2,)]
    beam.extend(np.array([[0.1, 0.3, 0.3, 0.3], [0.0, 0.9, 0.1, 0.0]]))
    assert [path.words for path in beam.live] == [(2, 1), (1, 1)], "0.36 and 0.15, the first of equals"
    assert [path.row for path in beam.live] == [1, 0]


def test_a_path_ends_with_the_word_that_ends_or_when_it_is_long_enough() -> None:
    beam = searched(2, [[[0.7, 0.3, 0.0]]])
    assert words(beam) == [[(END,)]]
    assert [path.words for path in beam.live] == [(1,)]
    beam = searched(2, [[[0.0, 0.3, 0.7]], [[0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]], longest=2)
    assert words(beam) == [[(2, 1), (2, 2), (1, 1), (1, 2)]]
    assert not beam.live


def test_what_has_ended_is_dropped_where_all_that_goes_on_is_better() -> None:
    beam = searched(2, [[[0.2, 0.5, 0.3]], [[0.05, 0.5, 0.45], [0.5, 0.3, 0.2]]])
    assert words(beam) == [[]], "0.15 has ended, 0.25 and 0.225 go on"
    beam = searched(2, [[[0.6, 0.4, 0.0]], [[0.1, 0.5, 0.4]]])
    assert words(beam) == [[(END,)]]


def test_a_sample_is_done_when_nothing_better_can_come() -> None:
    beam = searched(1, [[[0.6, 0.4]]])
    assert not beam.live
    beam = searched(2, [[[0.5, 0.5]], [[0.9, 0.1]]])
    assert words(beam) == [[(END,), (1, END)]]
    assert not beam.live


def test_samples_are_searched_apart() -> None:
    beam = searched(2, [[[0.1, 0.9], [0.6, 0.4]]], samples=2)
    assert [(path.of, path.words) for path in beam.live] == [(0, (1,)), (1, (1,))]
    assert words(beam, 1) == [[], [(END,)]], "0.1 is less than what goes on of its sample"


def test_a_beam_that_holds_all_finds_the_most_probable_of_all() -> None:
    rng = np.random.default_rng(3)
    table = rng.dirichlet(np.ones(4), size=5)  # a chain: by the last word, 4 at the beginning

    def probability(path: tuple[int, ...]) -> float:
        return float(np.prod([table[a, b] for a, b in zip((4, *path), path, strict=False)]))

    every = [
        path
        for length in (1, 2, 3)
        for path in product(range(4), repeat=length)
        if END not in path[:-1] and (path[-1] == END or length == 3)
    ]
    best = sorted(every, key=probability, reverse=True)
    beam = Beam(1, 64, END, longest=3)
    while beam.live:
        beam.extend(table[[path.words[-1] if path.words else 4 for path in beam.live]])
    (found,) = beam.results(5)
    assert [path.words for path in found] == best[:5]
    np.testing.assert_allclose([path.score for path in found], np.log([probability(p) for p in best[:5]]))
