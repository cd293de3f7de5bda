"""A search through a step of its own, against all paths that there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
import pytest

from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.scope import Scope
from paddle._engine.steps.recurrence import Recurrence

WORDS, WIDTH = 4, 3
FIRST = np.array([[1], [3]])
Path = tuple[int, ...]


def searched(end: int, longest: int, results: int, has_state: bool) -> tuple[list[list[Path]], Scope]:
    """The best paths after each of FIRST, and the parameters of the step: the row of a word, where
    ``has_state`` the sum of it and all before it, says how probable each word is."""
    b = Builder()
    step = Recurrence(b)
    kept = [step.memory(WIDTH)] if has_state else []
    word = step.memory(1, b.data("first", (-1, 1), "int64"), dtype="int64")
    rows = step.step.parameter("rows", (WORDS, WIDTH), Normal())
    reached = step.step.op("lookup_table", W=rows, Ids=word)
    for memory in kept:
        reached = step.step.op("elementwise_add", X=reached, Y=memory)
        step.remember(memory, reached)
    said = step.step.op("mul", X=reached, Y=step.step.parameter("said", (WIDTH, WORDS), Normal()))
    how = {"end": end, "longest": longest, "beam_size": WORDS**longest, "results": results}
    ids, _, offsets = step.generate(step.step.op("softmax", X=said), word, **how)
    initialize(b.program, scope := Scope(), 7)
    words, starts = Executor(scope).run(b.program, {"first": FIRST}, [ids, offsets])
    runs = [words[start:stop].tolist() for start, stop in pairwise(starts)]
    return [list(paths(run)) if results > 1 else [tuple(run)] for run in runs], scope


def paths(run: list[int]) -> Iterator[Path]:
    """Each with its length before it and -1 behind."""
    while run:
        length, *run = run
        yield tuple(run[:length])
        assert run[length] == -1
        run = run[length + 1 :]


def score(path: Path, first: int, scope: Scope, has_state: bool) -> float:
    total, sums = 0.0, np.zeros(WIDTH)
    for before, after in pairwise((first, *path)):
        row = scope.get("rows")[before]
        sums = sums + row if has_state else row
        chances = np.exp(sums @ scope.get("said"))
        total += np.log(chances[after] / chances.sum())
    return total


def most_probable(end: int, longest: int, scores: dict[Path, float]) -> list[Path]:
    """Finished paths, but for those that were once less probable than all that went on."""
    going = [path for path in scores if end not in path]
    least = {n: min(scores[path] for path in going if len(path) == n) for n in range(1, longest)}
    finished = [path for path in scores if end not in path[:-1] and (path[-1] == end or len(path) == longest)]
    kept = [p for p in finished if all(scores[p] >= least[n] for n in range(len(p), longest))]
    return sorted(kept, key=lambda path: -scores[path])


@pytest.mark.parametrize("has_state", [False, True], ids=["of a word", "of all words before"])
@pytest.mark.parametrize(("end", "longest", "results"), [(0, 2, 5), (2, 3, 5), (2, 3, 1)])
def test_a_search_as_wide_as_there_are_paths_finds_the_most_probable_ones(
    end: int, longest: int, results: int, has_state: bool
) -> None:
    found, scope = searched(end, longest, results, has_state)
    every = [path for length in range(1, longest + 1) for path in product(range(WORDS), repeat=length)]
    for first, best in zip(FIRST[:, 0].tolist(), found, strict=True):
        scores = {path: score(path, first, scope, has_state) for path in every}
        assert best == most_probable(end, longest, scores)[:results]
