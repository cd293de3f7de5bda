"""Tables that servers have before their trainers come."""

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import TableRows
from paddle._pserver.errors import PserverError
from paddle._pserver.trainer.remote import RemoteExchange
from tests.pserver.service.endpoints import Endpoints

TABLE = ParameterSpec(name="table", shape=(10, 2), sparse=True)
UPDATE = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec())


def started(exchange: RemoteExchange) -> np.ndarray:
    found = exchange.start([TABLE], UPDATE, {"table": np.zeros((10, 2), np.float32)})
    exchange.fetch()
    return found["table"].copy()


@pytest.mark.parametrize("servers", [1, 3])
def test_rows_that_servers_were_given_take_the_place_of_first_values(servers: int) -> None:
    ids = np.array([7, 0, 3], np.int64)
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    endpoints = Endpoints(
        servers, tables={"table": (TableRows(ids, rows), 0), "another": (TableRows(ids, rows), 0)}
    )
    (found,) = endpoints.train(started)
    expected = np.zeros((10, 2), np.float32)
    expected[ids] = rows
    np.testing.assert_array_equal(found, expected)
    assert all(endpoints.outcomes())


def test_rows_of_another_model_are_refused() -> None:
    given = TableRows(np.array([11], np.int64), np.ones((1, 2), np.float32)), 0
    endpoints = Endpoints(1, tables={"table": given})
    with pytest.raises(PserverError, match="they are of another model"):
        endpoints.train(started)
