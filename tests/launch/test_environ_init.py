"""paddle.init: arguments over PADDLE_INIT_* over defaults."""

import pytest

from paddle._absent import NotInThisRelease
from paddle._launch.environ import read_init, read_ways
from paddle._launch.errors import ClusterError, FlagError

DOCUMENTED = {
    "PADDLE_INIT_USE_GPU": "False",
    "PADDLE_INIT_TRAINER_COUNT": "1",
    "PADDLE_INIT_PORT": "7164",
    "PADDLE_INIT_PORTS_NUM": "1",
    "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": "1",
    "PADDLE_INIT_NUM_GRADIENT_SERVERS": "2",
    "PADDLE_INIT_TRAINER_ID": "1",
    "PADDLE_INIT_PSERVERS": "10.0.0.1,10.0.0.2",
}


def test_the_documented_variables() -> None:
    flags = read_init({}, DOCUMENTED | {"PATH": "/bin"})
    assert (flags.use_gpu, flags.trainer_count, flags.port) == (False, 1, 7164)
    assert (flags.ports_num, flags.ports_num_for_sparse) == (1, 1)
    assert (flags.num_gradient_servers, flags.trainer_id) == (2, 1)
    assert flags.pservers == ("10.0.0.1", "10.0.0.2")
    assert flags.given == {name.removeprefix("PADDLE_INIT_").lower() for name in DOCUMENTED}


def test_the_documented_arguments() -> None:
    flags = read_init(
        {
            "use_gpu": False,
            "trainer_count": 1,
            "port": 7164,
            "ports_num": 1,
            "ports_num_for_sparse": 1,
            "num_gradient_servers": 1,
            "trainer_id": 0,
            "pservers": "127.0.0.1",
        },
        {},
    )
    assert flags.ports_num_for_sparse == 1
    assert flags.pservers == ("127.0.0.1",)


def test_nothing_given_means_the_documented_defaults() -> None:
    flags = read_init({}, {})
    assert (flags.port, flags.ports_num, flags.ports_num_for_sparse, flags.trainer_id) == (7164, 1, 0, 0)
    assert flags.given == frozenset()
    assert flags.notices == ()


def test_arguments_win_over_variables() -> None:
    flags = read_init({"port": 9000}, DOCUMENTED)
    assert flags.port == 9000
    assert flags.trainer_id == 1


def test_an_empty_variable_is_no_variable() -> None:
    assert read_init({}, {"PADDLE_INIT_PSERVERS": " ", "PADDLE_INIT_PORT": ""}).port == 7164


def test_flags_of_the_training_program_are_kept_for_it() -> None:
    flags = read_init({"log_period": 10}, {"PADDLE_INIT_SAVE_DIR": "./output"})
    assert (flags.values["log_period"], flags.values["save_dir"]) == (10, "./output")
    assert {"log_period", "save_dir"} == flags.given


@pytest.mark.parametrize(
    ("kwargs", "environ", "words"),
    [
        ({"trainer_cnt": 1}, {}, ["paddle.init(trainer_cnt=...)", "Did you mean trainer_count"]),
        ({}, {"PADDLE_INIT_TRAINER_CNT": "1"}, ["PADDLE_INIT_TRAINER_CNT", "Did you mean trainer_count"]),
        ({"port": "many"}, {}, ["paddle.init(port=...)", "'many'", "a whole number from 1 to 65535"]),
        ({"port": None}, {}, ["paddle.init(port=...)", "a whole number"]),
        ({}, {"PADDLE_INIT_USE_GPU": "perhaps"}, ["PADDLE_INIT_USE_GPU", "'perhaps'", "true or false"]),
        ({"pservers": ""}, {}, ["pservers names no host"]),
        ({"pservers": "10.0.0.1:7164"}, {}, ["pservers: '10.0.0.1:7164' is not a host", "ports that port"]),
        ({"pservers": "10.0.0.1 10.0.0.2"}, {}, ["pservers: '10.0.0.1 10.0.0.2' is not a host", "commas"]),
        ({}, {"PADDLE_INIT_PSERVERS": "a,http://b"}, ["pservers: 'http://b' is not a host"]),
        ({"port": 65535, "ports_num": 2}, {}, ["65536", "lower port"]),
        ({"dry_run": True}, {}, ["paddle.init has no flag 'dry_run'"]),
    ],
)
def test_what_cannot_be_is_refused_by_name(
    kwargs: dict[str, object], environ: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(FlagError) as caught:
        read_init(kwargs, environ)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_trainer_that_the_job_does_not_have_is_told_in_one_paragraph() -> None:
    with pytest.raises(ClusterError) as caught:
        read_init({"trainer_id": 2, "num_gradient_servers": 2}, {})
    message = str(caught.value)
    assert "\n" not in message
    assert "trainer_id is 2" in message
    assert "num_gradient_servers" in message
    assert "numbered 0 to 1" in message


@pytest.mark.parametrize("name", ["parallel_nn", "start_pserver"])
def test_what_is_not_built_is_refused_by_name(name: str) -> None:
    with pytest.raises(NotInThisRelease, match=name):
        read_init({name: True}, {})


@pytest.mark.parametrize(
    ("kwargs", "environ"), [({"use_gpu": "1"}, {}), ({}, {"PADDLE_INIT_USE_GPU": "True"})]
)
def test_a_gpu_is_gone_without_and_that_is_told_once(kwargs, environ) -> None:
    flags = read_init(kwargs, environ)
    (notice,) = flags.notices
    assert "not in this release, which trains on the CPU" in notice
    assert flags.use_gpu is False and flags.values["use_gpu"] is False


def test_what_has_no_effect_is_told() -> None:
    assert "sock_send_buf_size" in read_init({"sock_send_buf_size": 1}, {}).notices[0]


@pytest.mark.parametrize(
    "host", ["node-1", "node_1.lab", "10.0.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "bücher"]
)
def test_hosts_of_every_kind_are_taken(host: str) -> None:
    assert read_init({"pservers": host}, {}).pservers == (host,)


def test_of_fluid_and_fleet_only_the_ways_to_servers_are_read() -> None:
    place = {"PADDLE_INIT_TRAINER_ID": "1", "PADDLE_INIT_PSERVERS": "10.0.0.1:6174,10.0.0.2:6174"}
    flags = read_ways({**place, "PADDLE_INIT_WIRE": "bfloat16", "PADDLE_INIT_TOKEN_FILE": "here"})
    assert (flags.wire, flags.token_file) == ("bfloat16", "here")
