"""BeamSearchDecoder: a decoder that chooses words, and keeps the best beginnings of each sentence.

It must never know a state's name. Guarantee: as of the loop, the arrays and the beam search that it is made
of; a sentence ends with ``end_id``, and the search when all sentences have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle.fluid import layers
from paddle.fluid.contrib.decoder.states import InitState, StateCell


def _array(block: Block, name: str, first: Variable, index: Variable) -> Variable:
    """An array around the loop, with its first element."""
    made = block.create_var(unique_name.generate(name), type=VarType.LOD_TENSOR_ARRAY, dtype=first.dtype)
    block.append_op("write_to_array", {"X": [first], "I": [index]}, {"Out": [made]})
    return made


class _Element:
    """A state as the last element of an array, which has its own count of steps."""

    def __init__(self, block: Block, state: InitState) -> None:
        self._count = block.create_var(unique_name.generate("array_state_counter"), dtype=VarType.INT64)
        zero = {"shape": [1], "dtype": int(VarType.INT64), "value": 0.0, "force_cpu": True}
        block.append_op("fill_constant", {}, {"Out": [self._count]}, zero)
        self._count.stop_gradient = True
        self._states = _array(block, "array_state_array", state.value, self._count)

    def get(self) -> Variable:
        return layers.array_read(self._states, self._count)

    def update(self, state: Variable) -> None:
        layers.increment(self._count)
        layers.array_write(state, self._count, self._states)


class BeamSearchDecoder:
    """``decode()`` writes a search as translation has it, ``with decoder.block():`` one of your own;
    ``decoder()`` is the sentences and their scores, int64 and float32, [words] with a LoD of two levels.

    ``init_ids`` (int64) and ``init_scores`` (float32): what each sentence begins with, [N, 1] with a LoD of
    two levels. ``target_dict_dim`` words are chosen from, of ``word_dim`` numbers each; ``max_len`` is in
    steps. Raises BadArgument where it is used in another order. Source of the semantics: fluid 1.8's
    ``contrib.decoder``, but that sentences end with ``end_id``.
    """

    BEFORE_BEAM_SEARCH_DECODER, IN_BEAM_SEARCH_DECODER, AFTER_BEAM_SEARCH_DECODER = range(3)

    def __init__(
        self,
        state_cell: StateCell,
        init_ids: Variable,
        init_scores: Variable,
        target_dict_dim: int,
        word_dim: int,
        input_var_dict: Mapping[str, Variable] | None = None,
        topk_size: int = 50,
        sparse_emb: bool = True,
        max_len: int = 100,
        beam_size: int = 1,
        end_id: int = 1,
        name: str | None = None,
    ) -> None:
        self._status, self._cell = self.BEFORE_BEAM_SEARCH_DECODER, state_cell
        self._counter = layers.zeros(shape=[1], dtype="int64")
        self._counter.stop_gradient = True
        self._most = layers.fill_constant([1], "int64", max_len)
        self._goes_on = layers.less_than(self._counter, self._most)
        self._loop = layers.While(self._goes_on)
        self._zero = layers.fill_constant([1], "int64", 0, force_cpu=True)
        self._begins, self._sizes = (init_ids, init_scores), (target_dict_dim, word_dim)
        self._more, self._is_sparse = dict(input_var_dict or {}), sparse_emb
        self._top, self._width, self._end = topk_size, beam_size, end_id
        self._array_of: dict[str, Variable] = {}
        self._written: list[tuple[Variable, Variable]] = []
        self._ids: Variable | None = None
        self._scores: Variable | None = None
        state_cell.enter(self)

    def keep(self, state: InitState) -> _Element:
        """Keep a state from step to step."""
        return _Element(self._around(), state)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Write a step of the search."""
        if self._status != self.BEFORE_BEAM_SEARCH_DECODER:
            raise BadArgument("BeamSearchDecoder: its block is written once")
        self._status = self.IN_BEAM_SEARCH_DECODER
        with self._loop.block():
            yield
            with layers.Switch() as switch, switch.case(self._goes_on):
                layers.increment(self._counter)
                for value, array in self._written:
                    layers.array_write(value, self._counter, array)
                layers.less_than(self._counter, self._most, cond=self._goes_on)
        self._status = self.AFTER_BEAM_SEARCH_DECODER
        self._cell.leave()

    def early_stop(self) -> None:
        """End the search with this step, of which nothing is kept."""
        layers.fill_constant([1], "bool", False, force_cpu=True, out=self._goes_on)

    def decode(self) -> None:
        """Write the search: words before are looked up in a table, states are computed from them, and words
        are chosen by the ``topk_size`` likeliest of each beginning."""
        with self.block():
            ids = self.read_array(self._begins[0], is_ids=True)
            scores = self.read_array(self._begins[1], is_scores=True)
            words = layers.embedding(ids, list(self._sizes), is_sparse=self._is_sparse)
            read = {name: self.read_array(variable) for name, variable in self._told().items()}
            fed = {name: layers.sequence_expand(each, scores) for name, each in read.items()}
            for name in self._cell.begins:
                self._cell.set_state(name, layers.sequence_expand(self._cell.get_state(name), scores))
            self._cell.compute_state({name: fed.get(name, words) for name in self._cell.inputs})
            chosen, chances = self._choose(ids, scores)
            left = [(ids, chosen), (scores, chances), *((each, fed[name]) for name, each in read.items())]
            self._leave(left, layers.is_empty(chosen))

    def _leave(self, left: list[tuple[Variable, Variable]], is_over: Variable) -> None:
        """To the next step, unless there is none."""
        with layers.Switch() as switch:
            with switch.case(is_over):
                self.early_stop()
            with switch.default():
                self._cell.update_states()
                for array, value in left:
                    self.update_array(array, value)

    def _told(self) -> dict[str, Variable]:
        if unknown := sorted(set(self._more) - set(self._cell.inputs)):
            raise BadArgument(
                f"BeamSearchDecoder: the cell has no input {unknown[0]!r}, as input_var_dict says"
            )
        return self._more

    def _choose(self, ids: Variable, scores: Variable) -> Any:
        """The words that go on with the best sentences, and the scores of these."""
        state = layers.lod_reset(self._cell.out_state(), scores)
        likely, words = layers.topk(layers.fc(state, self._sizes[0], act="softmax"), k=self._top)
        total = layers.elementwise_add(layers.log(likely), layers.reshape(scores, [-1]), axis=0)
        return layers.beam_search(ids, scores, words, total, self._width, end_id=self._end, level=0)

    def read_array(self, init: Variable, is_ids: bool = False, is_scores: bool = False) -> Variable:
        """What the step before left in a new array, ``init`` in the first; the words' or the scores' array
        where so told."""
        self._need_block("read_array")
        if is_ids and is_scores:
            raise BadArgument("read_array: an array is of words or of scores, not of both")
        if not isinstance(init, Variable):
            raise BadArgument(f"read_array: init is a Variable of the program, not {init!r}")
        array = _array(self._around(), "beam_search_decoder_array", init, self._zero)
        self._ids = array if is_ids else self._ids
        self._scores = array if is_scores else self._scores
        read = layers.array_read(array, self._counter)
        self._array_of[read.name] = array
        return read

    def update_array(self, array: Variable, value: Variable) -> None:
        """Leave a value to the next step, in the array that ``array`` was read from."""
        self._need_block("update_array")
        for name, each in (("array", array), ("value", value)):
            if not isinstance(each, Variable):
                raise BadArgument(f"update_array: {name} is a Variable of the program, not {each!r}")
        if array.name not in self._array_of:
            raise BadArgument(f"update_array: {array.name!r} was not read by read_array")
        self._written.append((value, self._array_of[array.name]))

    def __call__(self) -> Any:
        """The sentences and their scores."""
        if self._status != self.AFTER_BEAM_SEARCH_DECODER:
            raise BadArgument("BeamSearchDecoder: what it found is there after its block")
        return layers.beam_search_decode(self._ids, self._scores, self._width, self._end)

    @property
    def state_cell(self) -> StateCell:
        """The cell, within the block."""
        self._need_block("state_cell")
        return self._cell

    def _around(self) -> Block:
        """The block in which the loop stands."""
        block = default_main_program().current_block()
        return block.program.block(block.parent_idx)

    def _need_block(self, what: str) -> None:
        if self._status != self.IN_BEAM_SEARCH_DECODER:
            raise BadArgument(f"BeamSearchDecoder: {what} is of its block")
