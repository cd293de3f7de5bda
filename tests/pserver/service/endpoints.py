"""Endpoints for tests: the real service, each in a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from typing import Any

from paddle._pserver.service.endpoint import EndpointOptions, serve
from paddle._pserver.trainer.remote import RemoteExchange
from tests.waiting import PATIENCE_S

TIMEOUT_S = PATIENCE_S


class Endpoints:
    """So many of them on this machine, on ports that were free."""

    def __init__(self, count: int, trainers: int = 1, **options: Any) -> None:
        self.trainers = trainers
        self.ends: list[Future[bool]] = []
        self.names: list[str] = []
        for _ in range(count):
            ready: Future[str] = Future()
            end: Future[bool] = Future()
            made = EndpointOptions(address="127.0.0.1", port=0, trainers=trainers, **options)
            threading.Thread(target=_serve, args=(made, ready, end), daemon=True).start()
            self.names.append(ready.result(TIMEOUT_S))
            self.ends.append(end)

    def exchange(self, trainer_id: int = 0, **options: Any) -> RemoteExchange:
        """A trainer's."""
        known: dict[str, Any] = {
            "connect_timeout_s": TIMEOUT_S,
            "call_timeout_s": TIMEOUT_S,
            "notice": lambda text: None,
        }
        return RemoteExchange(
            self.names, num_gradient_servers=self.trainers, trainer_id=trainer_id, **(known | options)
        )

    def train(self, work: Callable[[RemoteExchange], Any], **options: Any) -> list[Any]:
        """What ``work`` returns for each trainer, run in a thread with its exchange and closed after it."""
        results: list[Future[Any]] = [Future() for _ in range(self.trainers)]

        def run(trainer_id: int) -> None:
            exchange = self.exchange(trainer_id, **options)
            try:
                results[trainer_id].set_result(work(exchange))
            except BaseException as error:
                results[trainer_id].set_exception(error)
                exchange.close(str(error))
            exchange.close()

        for id in range(self.trainers):
            threading.Thread(target=run, args=(id,), daemon=True).start()
        # Who fails first says why, and not the one that waits for it.
        for result in wait(results, TIMEOUT_S, return_when=FIRST_EXCEPTION).done:
            result.result()
        return [result.result(0) for result in results]

    def outcomes(self) -> Sequence[bool]:
        """How they ended."""
        return [end.result(TIMEOUT_S) for end in self.ends]


def _serve(options: EndpointOptions, ready: Future[str], end: Future[bool]) -> None:
    try:
        end.set_result(serve(options, lambda address, port: ready.set_result(f"{address}:{port}")))
    except BaseException as error:
        end.set_exception(error)
        if not ready.done():
            ready.set_exception(error)
