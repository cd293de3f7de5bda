"""Parameter servers that a program names in ``pserver_spec``, as programs for servers with etcd do."""

import pytest

import paddle.v2 as paddle
from paddle.v2 import _flags

from ...ports import free_port


def trainer(**told):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    cost = paddle.layer.sum_cost(paddle.layer.fc(input=x, size=1))
    parameters = paddle.parameters.create(cost)
    return paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(), **told)


def test_addresses_without_etcd_are_hosts_with_ports_one_behind_another() -> None:
    paddle.init(pservers="10.0.0.9", port=7164, num_gradient_servers=3)
    spec = "10.0.0.1:8001,10.0.0.2:8002,10.0.0.1:8002, 10.0.0.2:8001"
    at = trainer(is_local=False, pserver_spec=spec, use_etcd=False)._at
    assert (at.pservers, at.port, at.ports_num) == (("10.0.0.1", "10.0.0.2"), 8001, 2)
    assert at.num_gradient_servers == 3


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("10.0.0.1", "is host:port,host:port, not '10.0.0.1'"),
        ("10.0.0.1:8001,", "is host:port,host:port"),
        ("10.0.0.1:8001,10.0.0.2:8002", "hosts have the same ports"),
        ("10.0.0.1:8001,10.0.0.1:8003", "one behind another"),
    ],
)
def test_addresses_that_no_job_has_are_refused(spec, says) -> None:
    with pytest.raises(ValueError, match=says):
        trainer(is_local=False, pserver_spec=spec, use_etcd=False)


def test_with_etcd_servers_are_those_of_the_flags_and_a_warning_says_so() -> None:
    paddle.init(pservers="127.0.0.1", port=7170)
    with pytest.warns(RuntimeWarning, match="no etcd is asked, .* those of the flags: 127.0.0.1 port 7170"):
        at = trainer(is_local=False, pserver_spec="http://10.0.0.1:2379", use_etcd=True)._at
    assert at == _flags.current()


def test_who_trains_alone_asks_nobody() -> None:
    trainer(pserver_spec="nonsense", use_etcd=False).train(lambda: iter([[([1.0, 2.0],)]]))


def test_servers_that_are_named_are_those_that_are_asked() -> None:
    paddle.init(connect_timeout=0.1)
    port = free_port(["127.0.0.1"])
    named = trainer(is_local=False, pserver_spec=f"127.0.0.1:{port}", use_etcd=False)
    with pytest.raises(Exception, match=f"127.0.0.1:{port}"):
        named.train(lambda: iter([[([1.0, 2.0],)]]))
