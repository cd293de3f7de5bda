"""What a shard makes of pushes in other numbers: what the trainer encoded, and whatever else may come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.encoding import Encoder, slices_by_parameter
from paddle._pserver.protocol.messages import Push
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.shard.decoding import Decoder
from paddle._pserver.tables.gradient import Gradient
from paddle._pserver.tables.tables import Tables
from tests.engine.wire_twins import Twin

from ..talk import update

# Odd sizes, so that no part of a body begins where its numbers would like to.
MODEL = (
    ParameterSpec(name="w", shape=(2049,)),
    ParameterSpec(name="t", shape=(9, 3), sparse=True),
    ParameterSpec(name="b", shape=(3,)),
    ParameterSpec(name="u", shape=(5, 1), sparse=True),
)
IDS = {"t": [0, 2, 7], "u": [4]}
COUNTS = tuple(len(ids) for ids in IDS.values())
TOPK = WireSpec(name="topk", share=0.01)
SYNC = ModeSpec()
FLOAT16 = WireSpec(name="float16")


def tables() -> Tables:
    return Tables(update(), dense_layout(MODEL, 0, 1), row_ranges(MODEL, 0, 1))


def gradients(seed: int) -> dict[str, np.ndarray | SparseRows]:
    random = np.random.default_rng(seed)

    def values(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32)

    return {
        p.name: SparseRows(np.array(IDS[p.name]), values(len(IDS[p.name]), p.shape[1]), p.shape[0])
        if p.sparse
        else values(*p.shape)
        for p in MODEL
    }


def pushed(encoder: Encoder, step: int) -> tuple[Push, bytes]:
    """What a trainer says to a shard that keeps all."""
    given = gradients(step)
    held = slices_by_parameter(dense_layout(MODEL, 0, 1).slices)
    specs = {p.name: p for p in MODEL}
    parts = [encoder.dense(specs[cut.name], given[cut.name].reshape(-1)).part(cut) for cut in held]  # type: ignore[union-attr]
    rows = [encoder.rows(given[p.name]) for p in MODEL if p.sparse]  # type: ignore[arg-type]
    forms = tuple(form for _, form in parts) + tuple(each.form for each in rows)
    body = [bytes(view) for views, _ in parts for view in views]
    body += [each.ids.tobytes() for each in rows] + [each.values.tobytes() for each in rows]
    return Push(step, 0, 1, COUNTS, forms if encoder.has_forms else ()), b"".join(body)


def received(decoder: Decoder, push: Push, body: bytes, counts: Sequence[int] = COUNTS) -> Gradient:
    gradient, into, decode = decoder.place(push, counts, len(body))
    at = 0
    for view in into:
        view[:] = body[at : at + view.nbytes]
        at += view.nbytes
    assert at == len(body)
    decode()
    return gradient


@pytest.mark.parametrize("wire", [WireSpec(name="bfloat16"), FLOAT16, TOPK])
def test_what_arrives_is_what_numpy_says_step_by_step(wire: WireSpec) -> None:
    encoder, decoder, twin = Encoder(wire, SYNC), Decoder(wire, SYNC, tables()), Twin(wire.name, wire.share)
    for step in range(1, 5):
        gradient = received(decoder, *pushed(encoder, step))
        given = gradients(step)
        for arrived, name in zip(gradient.dense, ("w", "b"), strict=True):
            assert arrived.tobytes() == twin.dense(name, given[name]).tobytes(), name  # type: ignore[arg-type]
        for rows, name in zip(gradient.rows, IDS, strict=True):
            assert rows.ids.tolist() == IDS[name]
            assert rows.values.tobytes() == twin.rows(given[name].values).tobytes(), name  # type: ignore[union-attr]


def test_pushes_are_smaller() -> None:
    sizes = {
        wire.name: len(pushed(Encoder(wire, SYNC), 1)[1])
        for wire in (WireSpec(), WireSpec(name="bfloat16"), TOPK)
    }
    ids = 8 * sum(COUNTS)
    assert sizes["float32"] == 4 * (2049 + 3 + 10) + ids
    assert sizes["bfloat16"] == 2 * (2049 + 3 + 10) + ids
    assert sizes["topk"] == 8 * 21 + 4 * (3 + 10) + ids


def test_in_float32_nothing_is_copied() -> None:
    gradient = np.ones(2049, np.float32)
    (mine,) = slices_by_parameter(dense_layout(MODEL[:1], 0, 1).slices)
    ((view,), _) = Encoder(WireSpec(), SYNC).dense(MODEL[0], gradient).part(mine)
    assert np.shares_memory(np.frombuffer(view, np.float32), gradient)


@pytest.mark.parametrize(
    ("wire", "forms", "saying"),
    [
        (TOPK, (), "4 parameters, the push tells 0 forms"),
        (TOPK, (1, 1, 0), "3 forms"),
        (TOPK, (22, 0, 0, 0), "22 values of 'w' are more than this job's share"),
        (TOPK, (1 << 61, 0, 0, 0), "more than this job's share"),
        (TOPK, (-1, 0, 0, 0), "-1 values of 'w'"),
        (FLOAT16, (0, 128, 0, 0), "an exponent outside -126..127"),
        (FLOAT16, (0, 0, 0, -127), "an exponent outside -126..127"),
    ],
)
def test_forms_that_cannot_be_are_refused(wire: WireSpec, forms: tuple[int, ...], saying: str) -> None:
    _, body = pushed(Encoder(wire, SYNC), 1)
    with pytest.raises(BadMessage, match=saying):
        Decoder(wire, SYNC, tables()).place(Push(1, 0, 1, COUNTS, forms), COUNTS, len(body))


@pytest.mark.parametrize("places", [[5, 5], [6, 5], [0, 2049], [1 << 31, (1 << 32) - 1]])
def test_places_that_cannot_be_are_refused(places: list[int]) -> None:
    push, body = pushed(Encoder(TOPK, SYNC), 1)
    changed = np.array(places, np.uint32).tobytes() + body[8:]
    with pytest.raises(BadMessage, match="places in 'w' are not ascending, or are outside"):
        received(Decoder(TOPK, SYNC, tables()), push, changed)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([TOPK, FLOAT16, WireSpec(name="bfloat16")]),
    st.lists(st.integers(0, 21) | st.integers(-(2**62), 2**62), min_size=4, max_size=4).map(tuple),
    st.sampled_from([0, 0, 0, 1, -8, 1 << 40]),
    st.binary(min_size=64, max_size=64),
)
def test_whatever_comes_is_decoded_inside_of_its_parameter_or_refused(
    wire: WireSpec, forms: tuple[int, ...], more: int, noise: bytes
) -> None:
    decoder = Decoder(wire, SYNC, tables())
    values = 8 * forms[0] + 4 * (3 + 10) if wire is TOPK else 2 * (2049 + 3 + 10)
    try:
        gradient, into, decode = decoder.place(
            Push(1, 0, 1, COUNTS, forms), COUNTS, values + 8 * sum(COUNTS) + more
        )
        for view in into:
            view[:] = (noise * (view.nbytes // len(noise) + 1))[: view.nbytes]
        decode()
    except BadMessage:
        return
    assert more == 0
    assert [part.size for part in gradient.dense] == [2049, 3]
    assert [rows.values.shape for rows in gradient.rows] == [(3, 3), (1, 1)]


def test_memory_is_made_only_for_what_the_wire_lets_come() -> None:
    decoder = Decoder(TOPK, SYNC, tables())
    with pytest.raises(BadMessage, match="should bring"):
        decoder.place(Push(1, 0, 1, COUNTS, (21, 3, 0, 0)), COUNTS, 1 << 40)
    assert decoder._raw.nbytes == 0
