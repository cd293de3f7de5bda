"""The curve of the cost: a table at once, a picture at the end."""

import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from paddle._launch.news import Progress
from paddle._launch.results import curve as of_curve
from paddle._launch.results import picture
from paddle._launch.results.curve import LossCurve, draw_again


def progress(rank: int = 0, batch_id: int = 0, cost: float = 7.0) -> Progress:
    return Progress(f"trainer-{rank}", 0, batch_id, cost, 100.0)


def test_the_curve_is_a_table_at_once_and_a_picture_at_the_end(tmp_path) -> None:
    curve = LossCurve(tmp_path, pytest.fail)
    assert curve.draw() is None
    for batch in range(5):
        curve.add(progress(batch_id=batch, cost=7 - batch), batch * 0.25)
    lines = (tmp_path / "loss.csv").read_text().splitlines()
    assert lines[0] == "seconds,trainer,pass_id,batch_id,cost,samples_per_s"
    assert lines[3] == "0.50,trainer-0,0,2,5,100.0"
    pytest.importorskip("matplotlib")
    assert curve.draw() == tmp_path / "loss.png"
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_the_curve_of_a_week_is_small(tmp_path, monkeypatch) -> None:
    """Of a trainer that reports all the time; a launcher has as many as there are trainers."""
    curve, seconds = LossCurve(tmp_path, pytest.fail), 0.0
    monkeypatch.setattr(curve, "_append", lambda mode, row: None)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        while seconds < 7 * 86_400:
            seconds += max(0.25, seconds / 2000)
            curve.add(progress(cost=seconds / 3), seconds)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert taken < 1 << 19


def test_a_cost_that_is_no_number_does_not_end_the_curve() -> None:
    costs = [float("nan"), 4.0, float("inf"), *[2.0] * 57]
    smooth = picture._smooth(costs)  # over three
    assert math.isnan(smooth[0])
    assert smooth[1:] == [4.0, 4.0, 3.0, *[2.0] * 56]


@pytest.mark.parametrize(
    ("module", "why"),
    [
        (
            "raise ModuleNotFoundError('none', name='matplotlib')",
            "matplotlib is not installed here (pip install matplotlib)",
        ),
        (
            "import nothing_of_this_name",
            "matplotlib cannot be imported: No module named 'nothing_of_this_name'",
        ),
        ("raise AttributeError('no _ARRAY_API')", "matplotlib cannot draw it: AttributeError: no _ARRAY_API"),
        ("import os; os.kill(os.getpid(), 11)", "what draws it ended with signal 11"),
        ("while True: pass", "matplotlib has not drawn it within 0.5 s"),
    ],
    ids=["none", "half", "broken", "crashes", "hangs"],
)
def test_without_a_matplotlib_that_works_the_table_is_the_curve(tmp_path, monkeypatch, module, why) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(of_curve, "_PATIENCE_S", 0.5 if "while" in module else 60.0)
    (tmp_path / "matplotlib.py").write_text(module)
    told: list[str] = []
    curve = LossCurve(tmp_path, told.append)
    curve.add(progress(), 0.0)
    assert curve.draw() == tmp_path / "loss.csv"
    assert told == [f"no loss.png: {why}. Costs are in loss.csv"]


def test_a_week_of_reports_is_a_table_that_can_be_read(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(LossCurve, "_append", lambda *_: None)
    curve = LossCurve(tmp_path, pytest.fail)
    for second in range(0, 7 * 24 * 3600, 5):
        curve.add(progress(), float(second))
    assert 1000 < len(curve._points["trainer-0"]) < 20_000


def test_a_full_disk_under_the_curve_is_told_once(tmp_path) -> None:
    (tmp_path / "loss.csv").symlink_to("/dev/full")
    told: list[str] = []
    curve = LossCurve(tmp_path, told.append)
    curve.add(progress(), 1.0)
    assert len(told) == 1
    assert "No space left" in told[0]
    assert str(tmp_path / "loss.csv") in told[0]


def pixels(png: Path) -> np.ndarray:
    from matplotlib import image

    return np.round(image.imread(png)[:, :, :3] * 255).astype(int)


def colours(png: Path) -> set[tuple[int, ...]]:
    """What is neither black, white nor in between."""
    numbers = np.unique(pixels(png) @ (1 << 16, 1 << 8, 1))
    cells = [(number >> 16, number >> 8 & 255, number & 255) for number in numbers.tolist()]
    return {cell for cell in cells if max(cell) - min(cell) > 30}


def drawn(folder: Path, number: int, cost: float | None = None) -> Path:
    folder.mkdir()
    curve = LossCurve(folder, pytest.fail, "JOB1")
    for rank in range(number):
        for batch in range(50):
            curve.add(progress(rank, batch, 7 - rank / 10 - batch / 20 if cost is None else cost), batch)
    found = curve.draw()
    assert found is not None
    assert names(folder) == {"loss.csv", "loss.png"}
    return found


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_picture_shows_a_line_for_each_of_few_trainers_and_all_of_many(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one, two, many = (drawn(tmp_path / str(number), number) for number in (1, 2, 40))
    assert pixels(one).shape == (600, 960, 3)
    blue, orange = (31, 119, 180), (255, 127, 14)
    assert blue in colours(one) and orange not in colours(one)
    assert {blue, orange} <= colours(two)
    assert orange not in colours(many) and len(colours(many)) > 10


def test_costs_that_are_no_numbers_are_said_to_be(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert drawn(tmp_path / "nan", 1, float("nan")).name == "loss.png"


def test_a_curve_is_drawn_again_from_its_table_also_where_half_a_line_is_its_last(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first = drawn(tmp_path / "one", 2)
    picture = first.read_bytes()
    first.unlink()
    with (tmp_path / "one" / "loss.csv").open("a") as file:
        file.write("50.00,trainer-0,0,")
    assert draw_again(tmp_path / "one", pytest.fail, "JOB1") == first
    assert first.read_bytes() == picture
    assert draw_again(tmp_path, pytest.fail) is None
