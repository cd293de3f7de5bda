"""Flight: a trainer's step under way with all its shards: what is given ahead, pushed, and answered later.

1.  All shards are asked before any is waited for.
2.  Of a step that is under way as much is waited for as somebody needs: new values of some parameters, or
    that sparse shards have taken its gradient.
3.  What failed is not waited for again.

It must never know where gradients come from. Guarantee: a step is over when all shards have answered.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from paddle._engine.errors import ExchangeError
from paddle._pserver.errors import told
from paddle._pserver.protocol.encoding import Coded, CodedRows
from paddle._pserver.protocol.messages import Answer, Push
from paddle._pserver.trainer.delivery import Delivery
from paddle._pserver.trainer.dense_shard import DenseShard
from paddle._pserver.trainer.sieve import Sieve
from paddle._pserver.trainer.sparse_shard import SparseShard


class Flight:
    """See the module's text."""

    def __init__(self, dense: Sequence[DenseShard], sparse: Sequence[SparseShard]) -> None:
        self.deliveries = [Delivery(shard) for shard in dense]
        self.is_under_way = False
        self._sparse = sparse
        self._taken: list[Answer] = []

    def begin(self) -> None:
        """See Delivery."""
        for delivery in self.deliveries:
            delivery.begin()

    def give(self, name: str, gradient: Coded) -> None:
        """See Delivery."""
        for delivery in self.deliveries:
            delivery.give(name, gradient)

    def push(
        self,
        push: Push,
        dense: Mapping[str, Coded],
        rows: Mapping[str, CodedRows],
        *,
        forms: bool,
        is_in_room: bool,
    ) -> None:
        """Give all shards their parts of the gradients."""
        self._taken.clear()
        for delivery in self.deliveries:
            delivery.push(push, dense, forms=forms, is_in_room=is_in_room)
        if self._sparse:
            sieve = Sieve({name: part.ids for name, part in rows.items()})
            for sparse in self._sparse:
                sparse.ask_push(push, rows, sieve, forms=forms)
        self.is_under_way = True

    def settle(self, names: Collection[str] | None = None) -> None:
        """Wait for the new values of these dense parameters, of all if None."""
        if self.is_under_way:
            try:
                for delivery in self.deliveries:
                    delivery.settle(names)
            except BaseException:
                self.is_under_way = False  # rule 3
                raise

    def settle_sparse(self) -> None:
        """Wait until the sparse shards have taken the gradient."""
        if self.is_under_way:
            try:
                for shard in self._sparse[len(self._taken) :]:
                    self._taken.append(shard.hear_done())
            except BaseException:
                self.is_under_way = False  # rule 3
                raise

    def end(self) -> Sequence[Answer]:
        """All has been settled: what shards have answered, the dense ones first."""
        self.is_under_way = False
        return [each.answer for each in self.deliveries if each.answer is not None] + self._taken

    def failure(self) -> str | None:
        """Why the step under way failed; None where it did not, or is none."""
        try:
            self.settle()
            self.settle_sparse()
        except ExchangeError as error:
            return told(error)
        return None

    def leave(self) -> None:
        """Let nobody use a line any more; what is under way is nobody's."""
        self.is_under_way = False
        for delivery in self.deliveries:
            delivery.recall()
