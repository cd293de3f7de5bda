"""Objects in images, found by boxes: what stands on a grid, what a batch costs, and what is found.

Sources of the semantics: v2's ``priorbox``, ``multibox_loss`` and ``detection_output``. Guarantee: no
gradient goes through the choice of a box; it goes through offsets and scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

import numpy as np

from paddle._engine import boxes
from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Gradient, Kernel, Row, Runs, Steps

Array = np.ndarray
_PRIOR, _LABEL, _FOUND = 8, 6, 7
"""Numbers of a prior (its box, and a variance of each side), of a label (class, box, whether it is difficult)
and of what is found (image, class, score, box)."""
_LEFT_OUT, _NOTHING = -1, -2
"""Instead of the row of a label: the prior does not count, or is to show nothing."""


def _grid_shape(forms: Forms) -> Mapping[str, Form]:
    attrs = forms.attrs
    return {"Out": Form((1, attrs["grid"][0] * attrs["grid"][1] * len(attrs["sizes"]) * _PRIOR), "float32")}


def _grid(call: Call) -> Steps:
    """Boxes of all sizes (width, height) in the middle of each cell, held within the image."""
    (rows, columns), image = call.attrs["grid"], np.array(call.attrs["image"][::-1], np.float64)
    cells = np.stack(np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5), -1)
    middles = (cells / (columns, rows)).reshape(-1, 1, 2)
    half = np.array(call.attrs["sizes"]) / image / 2
    found = np.empty((len(middles), len(half), _PRIOR), np.float32)
    found[..., :4] = np.clip(np.concatenate([middles - half, middles + half], -1), 0, 1)
    found[..., 4:] = call.attrs["variances"]
    yield partial(np.copyto, call["Out"], found.reshape(1, -1))


def _priors(forms: Forms) -> int:
    """How many priors there are, which all inputs fit."""
    wide, count = [shapes.matrix(forms, slot).shape[1] for slot in ("Loc", "Conf", "Priors")], 0
    count = wide[2] // _PRIOR
    if wide != [4 * count, forms.attrs["num_classes"] * count, _PRIOR * count]:
        raise ShapeError(
            f"{wide[0]} offsets, {wide[1]} scores of {forms.attrs['num_classes']} classes and {wide[2]} "
            "numbers of priors are not of as many boxes"
        )
    images = [forms[slot].shape[0] for slot in ("Loc", "Conf")]
    rows = forms["Priors"].shape[0]
    if not shapes.agree(*images) or not shapes.agree(rows, 1):
        raise ShapeError(f"offsets of {images[0]} images, scores of {images[1]}, and {rows} rows of priors")
    return count


def _loss_shape(forms: Forms) -> Mapping[str, Form]:
    loc, label = forms["Loc"], shapes.matrix(forms, "Label")
    if label.shape[1] != _LABEL:
        raise ShapeError(f"a label is {_LABEL} numbers: class, box and difficult, not {label.shape[1]}")
    matches = Form((loc.shape[0], _priors(forms)), "int64")
    return {"Out": Form((1, 1), loc.dtype), "Matches": matches}


class _Loss:
    """A batch, its priors, and those of them that count: ``chosen``."""

    def __init__(self, call: Call) -> None:
        self._call, self.matches = call, call["Matches"]
        images, count = self.matches.shape
        self.loc = call["Loc"].reshape(images, count, 4)
        self.conf = call["Conf"].reshape(images, count, call.attrs["num_classes"])

    def match(self) -> None:
        """Say of each prior which row of the labels it is to show, if any."""
        priors, label = self._call["Priors"].reshape(-1, _PRIOR), self._call["Label"]
        self.matches.fill(_LEFT_OUT)
        for image, (first, end) in enumerate(pairwise(self._call["Offsets"].tolist())):
            if first < end:
                near = boxes.overlaps(priors[:, :4], label[first:end, 1:5])
                self._match_image(self.matches[image], self.conf[image], near, first)

    def _match_image(self, own: Array, scores: Array, near: Array, first: int) -> None:
        attrs = self._call.attrs
        found = boxes.matched(near, attrs["overlap_threshold"])
        own[:] = np.where(found >= 0, found + first, _LEFT_OUT)
        may = np.flatnonzero((found < 0) & (near.max(1) < attrs["neg_overlap"]))
        wanted = int(attrs["neg_pos_ratio"]) * int((found >= 0).sum())
        hard = self._shares(scores[may])
        hard[:, attrs["background_id"]] = -1
        own[may[np.argsort(-hard.max(1), kind="stable")[:wanted]]] = _NOTHING

    def parts(self) -> tuple[Array, Array, Array, Array]:
        """How far offsets are off; of what counts the shares of classes, the right ones; how many match."""
        priors, label = self._call["Priors"].reshape(-1, _PRIOR), self._call["Label"]
        image, prior = np.nonzero(self.matches >= 0)
        rows = self.matches[image, prior]
        right = boxes.encoded(label[rows, 1:5], priors[prior, :4], priors[prior, 4:])
        chosen = self.matches != _LEFT_OUT
        named = self.matches[chosen]
        shown = label[np.maximum(named, 0), 0].astype(np.int64)
        classes = np.where(named >= 0, shown, self._call.attrs["background_id"])
        return self.loc[image, prior] - right, self.conf[chosen], classes, rows

    @staticmethod
    def _shares(scores: Array) -> Array:
        grown = np.exp(scores - scores.max(1, keepdims=True, initial=-np.inf))
        return np.asarray(grown / grown.sum(1, keepdims=True))

    def cost(self) -> None:
        """What the offsets of priors that match cost, and the classes of all that count, for each match."""
        away, scores, classes, rows = self.parts()
        bounded = np.clip(away, -1, 1)
        top = scores.max(1, initial=-np.inf)
        logs = np.log(np.exp(scores - top[:, None]).sum(1)) + top
        total = (bounded * (away - bounded / 2)).sum() + (logs - _named(scores, classes)).sum()
        self._call["Out"][...] = total / max(len(rows), 1)

    def slopes(self) -> None:
        """Those of offsets and scores."""
        away, scores, classes, rows = self.parts()
        given = self._call["Out@GRAD"][0, 0] / max(len(rows), 1)
        if (dloc := self._call.wanted("Loc@GRAD")) is not None:
            dloc.fill(0)
            dloc.reshape(self.loc.shape)[self.matches >= 0] = np.clip(away, -1, 1) * given
        if (dconf := self._call.wanted("Conf@GRAD")) is not None:
            shares = self._shares(scores)
            shares[np.arange(len(shares)), classes] -= 1
            dconf.fill(0)
            dconf.reshape(self.conf.shape)[self.matches != _LEFT_OUT] = shares * given


def _named(scores: Array, classes: Array) -> Array:
    return np.asarray(scores[np.arange(len(scores)), classes])


def _loss(call: Call) -> Steps:
    loss = _Loss(call)
    yield loss.match
    yield loss.cost


def _loss_gradient(call: Call) -> Steps:
    yield _Loss(call).slopes


def _each_shape(forms: Forms) -> Mapping[str, Form]:
    if forms["X"].shape != (1, 1):
        raise ShapeError(f"what a batch has is one number, not {list(forms['X'].shape)}")
    return {"Out": Form((forms["Like"].shape[0], 1), forms["X"].dtype)}


def _each(call: Call) -> Steps:
    yield partial(np.copyto, call["Out"], call["X"])


def _each_gradient(call: Call) -> Steps:
    yield partial(np.mean, call["Out@GRAD"], axis=0, keepdims=True, out=call["X@GRAD"])


def _found_shape(forms: Forms) -> Mapping[str, Form]:
    _priors(forms)
    images, loc = forms["Loc"].shape[0], forms["Loc"]
    rows = images * forms.attrs["keep_top_k"] if images > 0 else images
    return {
        "Out": Form((rows, _FOUND), loc.dtype),
        "Offsets": Form((images + 1 if images >= 0 else -1,), "int64"),
    }


class _Found:
    """What is found in each image: its first rows, where Offsets say, and behind all of them -1."""

    def __init__(self, call: Call) -> None:
        self._call, self._attrs = call, call.attrs
        images = len(call["Loc"])
        self._conf = call["Conf"].reshape(images, -1, self._attrs["num_classes"])
        self._loc = call["Loc"].reshape(images, -1, 4)

    def find(self) -> None:
        priors, out, ends = self._call["Priors"].reshape(-1, _PRIOR), self._call["Out"], self._call["Offsets"]
        out.fill(-1)
        ends[0] = 0
        for image, (offsets, scores) in enumerate(zip(self._loc, self._conf, strict=True)):
            grown = np.exp(scores - scores.max(1, keepdims=True))
            found = boxes.decoded(offsets, priors[:, :4], priors[:, 4:])
            rows = self._rows(found, grown / grown.sum(1, keepdims=True))
            rows[:, 0] = self._call.run.before + image
            ends[image + 1] = ends[image] + len(rows)
            out[ends[image] : ends[image + 1]] = rows

    def _rows(self, places: Array, shares: Array) -> Array:
        """Class by class, the best first; where there are too many in an image, the best of all."""
        attrs, parts = self._attrs, []
        how = (attrs["confidence_threshold"], attrs["nms_top_k"], attrs["nms_threshold"])
        for number in range(shares.shape[1]):
            if number != attrs["background_id"]:
                best = boxes.kept(places, shares[:, number], *how)
                part = np.empty((len(best), _FOUND), places.dtype)
                part[:, 1], part[:, 2] = number, shares[best, number]
                part[:, 3:] = np.clip(places[best], 0, 1)
                parts.append(part)
        rows: Array = np.concatenate(parts)
        best = np.argsort(-rows[:, 2], kind="stable")[: attrs["keep_top_k"]]
        return rows[np.sort(best)]


def _found(call: Call) -> Steps:
    yield _Found(call).find


_BOXES = ("Loc", "Conf", "Priors")
ROWS = (
    Row(
        type="prior_boxes",
        inputs=(),
        attrs=dict.fromkeys(("grid", "image", "sizes", "variances"), REQUIRED),
        shape=_grid_shape,
        forward=Kernel(_grid),
    ),
    Row(
        type="multibox_loss",
        inputs=(*_BOXES, "Label", "Offsets"),
        outputs=("Out", "Matches"),
        attrs={
            "num_classes": REQUIRED,
            "overlap_threshold": 0.5,
            "neg_pos_ratio": 3.0,
            "neg_overlap": 0.5,
            "background_id": 0,
        },
        shape=_loss_shape,
        forward=Kernel(_loss),
        gradient=Gradient(_loss_gradient, of=("Loc", "Conf"), needs=(*_BOXES, "Label", "Matches")),
        runs=(Runs("Offsets", of="Label"),),
    ),
    Row(
        type="of_batch",
        inputs=("X", "Like"),
        shape=_each_shape,
        forward=Kernel(_each),
        gradient=Gradient(_each_gradient),
    ),
    Row(
        type="detection_output",
        inputs=_BOXES,
        outputs=("Out", "Offsets"),
        attrs={
            "num_classes": REQUIRED,
            "nms_threshold": 0.45,
            "nms_top_k": 400,
            "keep_top_k": 200,
            "confidence_threshold": 0.01,
            "background_id": 0,
        },
        shape=_found_shape,
        forward=Kernel(_found),
    ),
)
