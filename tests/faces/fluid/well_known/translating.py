"""Sentences translated with attention: recurrences both ways over the source, a DynamicRNN that looks at
them in each step, Adam at a rate that falls, decay, clipped gradients; then a search by beams in a While."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle.fluid as fluid

from .beginning import begin, number

layers = fluid.layers
WORDS, WIDTH, HIDDEN, BEAM, LONGEST, BEGIN, END = 30, 12, 10, 3, 6, 0, 1


def _encoded() -> tuple[Any, Any, Any]:
    source = layers.data("source", [1], dtype="int64", lod_level=1)
    words = layers.embedding(source, [WORDS, WIDTH], param_attr="source_words")
    ways = [
        layers.dynamic_gru(
            layers.fc(words, 3 * HIDDEN, bias_attr=False, param_attr=name + "_in"),
            HIDDEN,
            is_reverse=name == "back",
            param_attr=name + "_gates",
            bias_attr=name + "_offset",
        )
        for name in ("forth", "back")
    ]
    whole = layers.concat(ways, axis=1)
    seen = layers.fc(whole, HIDDEN, bias_attr=False, param_attr="seen")
    first = layers.sequence_first_step(ways[1])
    return whole, seen, layers.fc(first, HIDDEN, act="tanh", bias_attr=False, param_attr="first")


def _attended(whole: Any, seen: Any, state: Any) -> Any:
    asked = layers.fc(state, HIDDEN, bias_attr=False, param_attr="asked")
    mixed = layers.tanh(layers.elementwise_add(seen, layers.sequence_expand(x=asked, y=seen)))
    shares = layers.sequence_softmax(layers.fc(mixed, 1, bias_attr=False, param_attr="shares"))
    weighed = layers.elementwise_mul(x=whole, y=layers.reshape(x=shares, shape=[-1]), axis=0)
    return layers.sequence_pool(weighed, pool_type="sum")


def _stepped(word: Any, context: Any, state: Any) -> Any:
    weights = ["step_context", "step_word"]
    gates = layers.fc([context, word], 3 * HIDDEN, param_attr=weights, bias_attr="step_offset")
    return layers.gru_unit(gates, state, 3 * HIDDEN, param_attr="unit", bias_attr="unit_offset")[0]


def _chances(state: Any) -> Any:
    return layers.fc(state, WORDS, act="softmax", param_attr="chances", bias_attr="chances_offset")


def network() -> Any:
    """The cost of training."""
    whole, seen, first = _encoded()
    target = layers.data("target", [1], dtype="int64", lod_level=1)
    words = layers.embedding(target, [WORDS, WIDTH], param_attr="target_words")
    recurrence = layers.DynamicRNN()
    with recurrence.block():
        word = recurrence.step_input(words)
        all_of, seen_of = recurrence.static_input(whole), recurrence.static_input(seen)
        state = recurrence.memory(init=first, need_reorder=True)
        now = _stepped(word, _attended(all_of, seen_of, state), state)
        recurrence.update_memory(state, now)
        recurrence.output(_chances(now))
    following = layers.data("following", [1], dtype="int64", lod_level=1)
    return layers.mean(layers.cross_entropy(input=recurrence(), label=following))


def searched() -> tuple[Any, Any]:
    """The sentences that a search finds, and their scores; its context is a mean of what was read."""
    whole, _, first = _encoded()
    most, at = layers.fill_constant([1], "int64", LONGEST), layers.zeros([1], "int64", force_cpu=True)
    begins = [
        layers.data("ids", [1], dtype="int64", lod_level=2),
        layers.data("scores", [1], dtype="float32", lod_level=2),
        first,
        layers.sequence_pool(whole, "average"),
    ]
    kept = [layers.array_write(each, i=at) for each in begins]
    goes_on = layers.less_than(x=at, y=most)
    with layers.While(cond=goes_on).block():
        ids, scores, state, context = (layers.array_read(array=array, i=at) for array in kept)
        word = layers.embedding(ids, [WORDS, WIDTH], param_attr="target_words")
        context = layers.sequence_expand(context, scores)
        now = _stepped(word, context, layers.sequence_expand(state, scores))
        likely, chosen = layers.topk(_chances(layers.lod_reset(x=now, y=scores)), k=BEAM)
        total = layers.elementwise_add(layers.log(likely), layers.reshape(scores, [-1]), axis=0)
        found, sums = layers.beam_search(ids, scores, chosen, total, BEAM, end_id=END, level=0)
        layers.increment(x=at, value=1, in_place=True)
        for array, value in zip(kept, (found, sums, now, context)):  # noqa: B905  Python 3.7 has no strict
            layers.array_write(value, array=array, i=at)
        is_left = layers.logical_not(layers.is_empty(x=found))
        layers.logical_and(layers.less_than(x=at, y=most), is_left, out=goes_on)
    return layers.beam_search_decode(ids=kept[0], scores=kept[1], beam_size=BEAM, end_id=END)


def _texts(draw: Any, count: int) -> list[list[int]]:
    return [draw.randint(2, WORDS, draw.randint(2, 6)).tolist() for _ in range(count)]


def _rows(texts: list[list[int]], dtype: str = "int64") -> Any:
    rows = np.concatenate(texts).reshape(-1, 1).astype(dtype)
    return fluid.create_lod_tensor(rows, [[len(text) for text in texts]], fluid.CPUPlace())


def _found(exe: Any, draw: Any) -> list[float]:
    program = fluid.Program()
    with fluid.program_guard(program, fluid.Program()):
        outs = searched()
    ones, place = [[1] * 3, [1] * 3], fluid.CPUPlace()
    feed = {
        "source": _rows(_texts(draw, 3)),
        "ids": fluid.create_lod_tensor(np.full((3, 1), BEGIN, "int64"), ones, place),
        "scores": fluid.create_lod_tensor(np.ones((3, 1), "float32"), ones, place),
    }
    ids, scores = exe.run(program, feed=feed, fetch_list=list(outs), return_numpy=False)
    lengths = np.cumsum(ids.recursive_sequence_lengths()[1])
    return [float(np.array(ids).sum()), *(float(np.array(scores).reshape(-1)[at - 1]) for at in lengths[:3])]


def costs(steps: int) -> list[float]:
    """Of each step, and last what a search finds: the sum of its words and the scores of three sentences."""
    cost = network()
    rate = layers.exponential_decay(0.05, 4, 0.9, staircase=True)
    decay = fluid.regularizer.L2DecayRegularizer(1e-4)
    fluid.clip.set_gradient_clip(fluid.clip.GradientClipByGlobalNorm(1.0))
    fluid.optimizer.Adam(rate, regularization=decay).minimize(cost)
    exe, draw, made = fluid.Executor(fluid.CPUPlace()), np.random.RandomState(1), []
    exe.run(fluid.default_startup_program())
    begin(fluid.default_main_program(), 0.2)
    for _ in range(steps):
        source, target = _texts(draw, 4), _texts(draw, 4)
        feed = {
            "source": _rows(source),
            "target": _rows([[BEGIN, *text] for text in target]),
            "following": _rows([[*text, END] for text in target]),
        }
        made.append(number(exe.run(feed=feed, fetch_list=[cost])[0]))
    return made + _found(exe, draw)
