"""Ploter."""

import warnings

import pytest

import paddle.v2 as paddle


def test_curves_are_drawn_into_a_file(tmp_path):
    pytest.importorskip("matplotlib")
    plot = paddle.plot.Ploter("Train cost", "Test cost")
    for step in range(5):
        plot.append("Train cost", step, 1.0 / (step + 1))
    plot.plot(str(tmp_path / "cost.png"))
    assert (tmp_path / "cost.png").read_bytes().startswith(b"\x89PNG")
    plot.reset()
    assert plot._curves["Train cost"] == ([], [])


def test_nothing_is_drawn_where_plotting_is_disabled(tmp_path, monkeypatch):
    monkeypatch.setenv("DISABLE_PLOT", "True")
    plot = paddle.plot.Ploter("cost")
    plot.append("cost", 0, 1.0)
    plot.plot()
    plot.plot(str(tmp_path / "cost.png"))
    assert list(tmp_path.iterdir()) == []


def test_a_curve_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="there is no curve 'test'; there are train"):
        paddle.plot.Ploter("train").append("test", 0, 1.0)


def test_outside_a_notebook_a_warning_says_once_that_nothing_is_drawn(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(__import__("sys").modules, "IPython", None)
    plot = paddle.plot.Ploter("cost")
    with pytest.warns(RuntimeWarning, match=r"nothing is drawn here .*: give plot\(path\)"):
        plot.plot()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot.plot()
    plot.plot(str(tmp_path / "cost.png"))
    assert (tmp_path / "cost.png").exists()
