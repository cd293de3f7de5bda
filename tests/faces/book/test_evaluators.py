"""Evaluators: what they say of batches adds up to what they say of a pass."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._engine.chunks import Scheme
from paddle.v2._measures.curve import Curve
from paddle.v2._measures.edits import Edits
from paddle.v2._measures.pairs import Pairs

RNG = np.random.default_rng(12)
evaluator, data = paddle.evaluator, paddle.data_type
SCORES = RNG.uniform(size=(30, 4))
LABELS = RNG.integers(0, 4, 30)
WEIGHTS = RNG.uniform(0.5, 2, 30)


def slot(name, type):
    return paddle.layer.data(name=name, type=type)


def metrics(rows, attach, sizes=(7, 11, 12)):
    """What the evaluators that ``attach`` writes say of rows in batches of these sizes."""
    read = attach()
    cost = paddle.layer.sum_cost(read[-1] if read[-1].parents else read[0])
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create([cost, *read]), paddle.optimizer.Momentum(), read
    )
    ends = np.cumsum(sizes)
    batches = [rows[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return trainer.test(lambda: iter(batches)).metrics


def scored(*more):
    """Rows of scores, label and weight."""
    return [(s, int(label), [w], *more) for s, label, w in zip(SCORES, LABELS, WEIGHTS, strict=True)]


def layers():
    return [
        slot("s", data.dense_vector(4)),
        slot("label", data.integer_value(4)),
        slot("w", data.dense_vector(1)),
    ]


def test_an_error_may_be_of_the_best_few_and_weighted() -> None:
    def attach():
        s, label, w = layers()
        evaluator.classification_error(s, label, name="one")
        evaluator.classification_error(s, label, name="two", top_k=2, weight=w)
        evaluator.column_sum(s, name="last")
        evaluator.sum(s, name="all", weight=w)
        return [s, label, w]

    found = metrics(scored(), attach)
    order = np.argsort(-SCORES, 1)
    assert found["one"] == pytest.approx((order[:, 0] != LABELS).mean())
    missed = (order[:, :2] != LABELS[:, None]).all(1)
    assert found["two"] == pytest.approx(WEIGHTS[missed].sum() / WEIGHTS.sum(), rel=1e-5)
    assert found["last"] == pytest.approx(SCORES[:, 3].mean(), rel=1e-5)
    assert found["all"] == pytest.approx((SCORES.sum(1) * WEIGHTS).sum() / WEIGHTS.sum(), rel=1e-5)


def test_an_area_is_how_often_a_positive_one_is_greater() -> None:
    def attach():
        p, label = slot("p", data.dense_vector(1)), slot("label", data.integer_value(2))
        evaluator.auc(p, label)
        evaluator.classification_error(p, slot("y", data.dense_vector(1)), threshold=0.4, name="side")
        return [p, label, slot("y", data.dense_vector(1))]

    p, labels = SCORES[:, :1], LABELS % 2
    found = metrics([(x, int(y), [float(y)]) for x, y in zip(p, labels, strict=True)], attach)
    pairs = np.subtract.outer(p[labels == 1, 0], p[labels == 0, 0])
    assert found["__auc_evaluator_0__"] == pytest.approx((pairs > 0).mean(), abs=1e-6)
    assert found["side"] == pytest.approx(((p[:, 0] > 0.4) != labels).mean())
    assert Curve.of(np.array([0.5, 0.5]), np.array([0, 1])).said() == {"": 0.5}
    assert Curve.of(np.array([0.5]), np.array([1])).said() == {"": 0.0}


def test_columns_of_several_labels_are_on_the_right_side_or_not() -> None:
    def attach():
        p, label, y = (
            slot("p", data.dense_vector(4)),
            slot("l", data.sparse_binary_vector(4)),
            slot("y", data.dense_vector(4)),
        )
        evaluator.classification_error(p, label, threshold=0.3, name="share")
        evaluator.classification_error(p, y, threshold=0.3, name="count")
        return [p, label, y]

    truth = np.random.default_rng(8).random((len(SCORES), 4)) < 0.4
    rows = zip(SCORES, [np.flatnonzero(each).tolist() for each in truth], truth.astype(float), strict=True)
    found, wrong = metrics(list(rows), attach), (SCORES > 0.3) != truth
    assert found["share"] == pytest.approx(wrong.mean(), abs=1e-6)
    assert found["count"] == pytest.approx(wrong.sum(1).mean(), abs=1e-6)


def test_precision_and_recall_are_of_one_class_or_of_all() -> None:
    def attach():
        s, label, w = layers()
        evaluator.precision_recall(s, label, positive_label=1, name="one")
        evaluator.precision_recall(s, label, name="all")
        return [s, label, w]

    found, said = metrics(scored(), attach), SCORES.argmax(1)
    hits = [((said == c) & (c == LABELS)).sum() for c in range(4)]
    precisions = [hit / (said == c).sum() for c, hit in enumerate(hits)]
    recalls = [hit / (c == LABELS).sum() for c, hit in enumerate(hits)]
    assert found["one.precision"] == pytest.approx(precisions[1])
    assert found["one.recall"] == pytest.approx(recalls[1])
    both = precisions[1] + recalls[1]
    assert found["one.F1-score"] == pytest.approx(2 * precisions[1] * recalls[1] / both if both else 0)
    assert found["all.macro-average-precision"] == pytest.approx(np.mean(precisions))
    assert found["all.macro-average-recall"] == pytest.approx(np.mean(recalls))
    assert found["all.micro-average-precision"] == pytest.approx(sum(hits) / 30)


@pytest.mark.parametrize(
    ("parts", "tags", "chunks"),
    [
        ("BI", [0, 1, 4, 2, 3, 3, 0, 0, 1], [(0, 0, 1), (1, 3, 5), (0, 6, 6), (0, 7, 8)]),
        ("BI", [1, 1, 3, 4, 3], [(0, 0, 1), (1, 2, 2), (1, 4, 4)]),
        ("IE", [0, 1, 0, 0, 4, 1], [(0, 0, 1), (0, 2, 3), (0, 5, 5)]),
        (
            "BIES",
            [0, 1, 2, 3, 8, 3, 4, 6, 5, 2],
            [(0, 0, 2), (0, 3, 3), (0, 5, 5), (1, 6, 7), (1, 8, 8), (0, 9, 9)],
        ),
        ("-", [0, 0, 1, 2, 1], [(0, 0, 1), (1, 2, 2), (1, 4, 4)]),
    ],
)
def test_tags_spell_chunks(parts, tags, chunks) -> None:
    """What is found right of sequences of one chunk, of each type and between each two places, is listed."""
    listed = set(chunks)
    for kept in (listed, {chunk for chunk in listed if chunk[0] != 1}):
        scheme = Scheme(parts, types=2, excluded=frozenset() if kept == listed else frozenset({1}))
        found = set()
        for chunk in product(range(2), range(len(tags)), range(len(tags))):
            compared = scheme.compare(only(chunk, parts, len(tags)), np.array(tags), np.array([0, len(tags)]))
            assert compared.there == len(kept)
            found |= {chunk} if compared.right else set()
        assert found == kept


def only(chunk: tuple[int, int, int], parts: str, length: int) -> np.ndarray:
    """Tags of no other chunk than this one, if it has a place at all."""
    (kind, first, last), tags = chunk, np.full(length, 2 * len(parts))
    begin, inside, end, alone = {"BI": (0, 1, 1, 0), "IE": (0, 0, 1, 1), "BIES": (0, 1, 2, 3), "-": (0,) * 4}[
        parts
    ]
    if first <= last:
        spelt = [begin, *[inside] * (last - first - 1), end] if first < last else [alone]
        tags[first : last + 1] = kind * len(parts) + np.array(spelt)
    return tags


def test_alignments_are_as_far_off_as_what_must_be_changed() -> None:
    rows = np.eye(4)[[0, 0, 3, 0, 1, 3, 2, 3, 3]]  # says 0 0 1 | 2 | nothing
    right = np.array([0, 1, 2, 2, 1])
    found = Edits.of(rows, np.array([0, 6, 7, 9]), right, np.array([0, 2, 3, 5])).said()
    assert found[".error"] == pytest.approx((1 / 3 + 0 + 1) / 3)
    assert found[".insertion_error"] == pytest.approx(1 / 9)
    assert found[".deletion_error"] == pytest.approx(1 / 3)
    assert (found[".substitution_error"], found[".sequence_error"]) == (0, pytest.approx(2 / 3))


def test_pairs_are_of_one_query_also_where_it_is_of_two_batches() -> None:
    def attach():
        s, label, query = (
            slot("s", data.dense_vector(1)),
            slot("l", data.integer_value(3)),
            slot("q", data.integer_value(9)),
        )
        evaluator.pnpair(s, label, query, name="pairs")
        evaluator.pnpair(input=s, label=label, info=query, name="as 0.10 calls it")
        return [s, label, query]

    scores, labels, queries = SCORES[:, 0], RNG.integers(0, 3, 30), RNG.integers(0, 9, 30)
    rows = [([s], int(a), int(q)) for s, a, q in zip(scores, labels, queries, strict=True)]
    right = wrong = 0
    for i in range(30):
        for j in range(i):
            if queries[i] == queries[j] and labels[i] != labels[j]:
                is_right = (scores[i] > scores[j]) == (labels[i] > labels[j])
                right, wrong = right + is_right, wrong + (not is_right)
    found = metrics(rows, attach)
    assert found["pairs"] == found["as 0.10 calls it"] == pytest.approx(right / wrong)
    assert Pairs.of(np.array([[0.1], [0.2]]), np.array([0, 1]), np.array([4, 4])).said() == {"": 1.0}


def test_printers_print_and_say_nothing(capsys, tmp_path) -> None:
    (tmp_path / "words").write_text("a\nb\nc\nd\n")

    def attach():
        s, label, w = layers()
        words = slot("words", data.integer_value_sequence(4))
        column = paddle.layer.embedding(words, size=1)
        evaluator.value_printer([w], name="v")
        evaluator.maxid_printer(s, num_results=2)
        evaluator.maxframe_printer(column)
        evaluator.classification_error_printer(s, label)
        result, words_file = str(tmp_path / "said"), str(tmp_path / "words")
        evaluator.seqtext_printer(words, result_file=result, dict_file=words_file)
        return [s, label, w, column]

    found = metrics(scored([3, 1])[:3], attach, sizes=(2, 1))
    assert found == {}
    printed = capsys.readouterr().out
    best = int(SCORES[0].argmax())
    for each in (
        "layer=w value matrix",
        "layer=s row max id",
        f"{best} : ",
        "total 2 frames",
        "Classification Error",
    ):
        assert each in printed
    assert (tmp_path / "said").read_text() == "0\t d b\n1\t d b\n0\t d b\n"


def test_what_does_not_fit_is_named() -> None:
    s, label, _ = layers()
    for use, says in (
        (lambda: evaluator.chunk(label, label, "BIO", 2), "chunk_scheme is one of IOB, IOE, IOBES, plain"),
        (lambda: evaluator.precision_recall(s, s), "its label is a data layer"),
        (lambda: evaluator.pnpair(s, s), "give it query_id"),
        (lambda: evaluator.precision_recall(s, label, positive_label=4), "has no class 4"),
        (lambda: evaluator.auc(label, label), "computes with numbers"),
    ):
        with pytest.raises(ValueError, match=says):
            use()
