"""One cluster, written in the words of every generation and read back from each."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._absent import NotInThisRelease
from paddle._launch.agent import role
from paddle._launch.dialects import DIALECTS, VARIABLES, ClusterEnvironment, read
from paddle._launch.environ import child_environment, read_init
from paddle._launch.errors import ClusterError, FlagError, LaunchError

TWO = ClusterEnvironment(
    role="TRAINER",
    trainers=2,
    trainer_id=1,
    pservers=("10.0.0.1:7164", "10.0.0.2:7164"),
    host="10.0.0.2",
    port=7164,
    ports_num=2,
    ports_num_for_sparse=1,
)


@st.composite
def clusters(draw: st.DrawFn, one_port: bool = True) -> ClusterEnvironment:
    """Any place in any cluster; with ``one_port`` all servers listen on the same one."""
    octets = draw(st.lists(st.integers(1, 254), min_size=1, max_size=4, unique=True))
    port = draw(st.integers(1, 65000))
    ports = [port if one_port else port + index for index in range(len(octets))]
    pservers = tuple(f"10.0.0.{octet}:{own}" for octet, own in zip(octets, ports, strict=True))
    trainers = draw(st.integers(1, 4))
    role = draw(st.sampled_from(["TRAINER", "PSERVER"]))
    cluster = ClusterEnvironment(
        role=role,
        trainers=trainers,
        trainer_id=draw(st.integers(0, trainers - 1)) if role == "TRAINER" else 0,
        pservers=pservers,
        ports_num=draw(st.integers(1, 4)),
        ports_num_for_sparse=draw(st.integers(0, 4)),
        trainer_endpoints=draw(st.sampled_from([(), ("10.0.0.9:6170", "10.0.0.8:6170")])),
    )
    own = draw(st.sampled_from(pservers)) if role == "PSERVER" else "10.0.0.9:0"
    host, _, own_port = own.rpartition(":")
    return replace(cluster, host=host, port=int(own_port) or cluster.common_port)


def applied(changes: dict[str, str | None], base: dict[str, str]) -> dict[str, str]:
    """What an agent makes of them."""
    return role._environment(base, {"env": changes, "prepend": {}})


def only(dialect: str, environ: dict[str, str]) -> dict[str, str]:
    """What is left of an environment for a program that knows one generation's words."""
    words = DIALECTS[dialect]
    switch = {words.switch[0]} if words.switch else set()
    kept = {*words.variables, *words.spoken, *switch, "PADDLE_TRAINER_ENDPOINTS"}
    kept |= {"PADDLE_INIT_PORTS_NUM", "PADDLE_INIT_PORTS_NUM_FOR_SPARSE"} if dialect == "v2" else set()
    return {name: text for name, text in environ.items() if name in kept}


@pytest.mark.parametrize("dialect", DIALECTS)
@given(cluster=clusters())
def test_each_dialect_alone_tells_the_whole_cluster(dialect: str, cluster: ClusterEnvironment) -> None:
    environ = only(dialect, applied(child_environment(cluster), {}))
    told = replace(cluster, ports_num=1, ports_num_for_sparse=0)
    if dialect == "v2":  # it knows several ports, and no word for the role: a Python program is a trainer
        own = environ.get("PADDLE_INIT_TRAINER_ID", "0")
        told = replace(cluster, role="TRAINER", trainer_id=int(own), port=cluster.common_port)
    assert read(environ) == told
    assert read(environ, dialect) == told


@given(cluster=clusters())
def test_a_trainer_started_by_us_reads_its_flags(cluster: ClusterEnvironment) -> None:
    changes = child_environment(replace(cluster, role="TRAINER"), trainer_count=3, flags={"seed": 7})
    flags = read_init({}, applied(changes, {}))
    assert flags.pservers == cluster.pserver_hosts
    assert (flags.port, flags.ports_num) == (cluster.common_port, cluster.ports_num)
    assert flags.ports_num_for_sparse == cluster.ports_num_for_sparse
    assert (flags.trainer_id, flags.num_gradient_servers) == (cluster.trainer_id, cluster.trainers)
    assert (flags.trainer_count, flags.seed) == (3, 7)


@given(cluster=clusters(one_port=False))
def test_ports_that_differ_are_told_by_endpoints_and_never_half_told(cluster: ClusterEnvironment) -> None:
    environ = applied(child_environment(cluster), {})
    assert read(environ).pservers == cluster.pservers
    if cluster.common_port == 0:
        assert all(read(environ, name).role == "LOCAL" for name in DIALECTS if not DIALECTS[name].endpoints)


SHELL = (
    "PADDLE_HETER_TRAINER_IP_PORT_LIST",
    "PADDLE_INIT_NUM_PASSES",
    "PADDLE_INIT_OF_ANOTHER_GENERATION",
    "PADDLE_NUM_GRADIENT_SERVERS",
    "PADDLE_PORTS_NUM",
    "PADDLE_PSERVER_ID",
    "PADDLE_TRAINER_COUNT",
    "PADDLE_TRAINER_IPS",
    "PADDLE_WITH_GLOO",
    "PYTHONHOME",
    "PYTHONSAFEPATH",
)


@given(cluster=clusters(one_port=False))
def test_nothing_of_an_older_job_shines_through(cluster: ClusterEnvironment) -> None:
    old = dict.fromkeys([*VARIABLES, *SHELL], "9.9.9.9")
    changes = child_environment(cluster)
    assert "9.9.9.9" not in applied(changes, old).values()
    assert applied(changes, old) == applied(changes, {})


def test_what_is_the_users_own_is_left_alone() -> None:
    own = {"PADDLE_DATASET_HOME": "/data", "PADDLE_MY_PROGRAM": "1", "PYTHONPATH": "/lib", "HOME": "/home"}
    assert applied(child_environment(TWO), own).items() >= own.items()


def test_what_programs_ask_for_beside_the_dialects() -> None:
    changes = child_environment(TWO)
    assert changes["OMPI_COMM_WORLD_RANK"] == "1"
    assert changes["OMPI_COMM_WORLD_SIZE"] == "2"
    assert changes["PADDLE_CLUSTER_TRAIN"] == "True"
    assert changes["PADDLE_IS_LOCAL"] == "0"
    assert changes["PADDLE_INIT_USE_GPU"] == "False"
    assert changes["PADDLE_INIT_TRAINER_COUNT"] == "1"
    assert changes["GLOG_log_dir"] == "log"


@given(cluster=clusters())
def test_a_program_that_hands_words_to_init_itself_is_told_them(cluster: ClusterEnvironment) -> None:
    changes = child_environment(replace(cluster, role="TRAINER"), trainer_count=3)
    flags = read_init(
        {
            "trainer_count": int(changes["PADDLE_TRAINER_COUNT"] or 0),
            "port": int(changes["PADDLE_PORT"] or 0),
            "ports_num": int(changes["PADDLE_PORTS_NUM"] or 0),
            "ports_num_for_sparse": int(changes["PADDLE_PORTS_NUM_FOR_SPARSE"] or 0),
            "num_gradient_servers": int(changes["PADDLE_NUM_GRADIENT_SERVERS"] or 0),
            "trainer_id": int(changes["PADDLE_TRAINER_ID"] or 0),
            "pservers": changes["PADDLE_PSERVERS"],
        },
        {},
    )
    by_environment = read_init({}, applied(changes, {}))
    names = ("port", "ports_num", "ports_num_for_sparse", "num_gradient_servers", "trainer_id", "pservers")
    assert [getattr(flags, name) for name in names] == [getattr(by_environment, name) for name in names]
    assert flags.trainer_count == 3


def test_a_server_is_told_its_number() -> None:
    server = replace(TWO, role="PSERVER", trainer_id=0)
    changes = child_environment(server)
    assert changes["PADDLE_PSERVER_ID"] == changes["OMPI_COMM_WORLD_RANK"] == "1"
    assert changes["PADDLE_TRAINER_ID"] is None


@pytest.mark.parametrize("threads", [1, 4])
def test_blas_has_one_thread_in_each_of_a_trainers_and_no_pinned_kernel(threads: int) -> None:
    changes = child_environment(TWO, trainer_count=threads)
    for library in ("OMP", "OPENBLAS", "MKL"):
        assert changes[f"{library}_NUM_THREADS"] == "1"
    assert changes["PADDLE_INIT_TRAINER_COUNT"] == str(threads)
    assert "OPENBLAS_CORETYPE" not in applied(changes, {"OPENBLAS_CORETYPE": "Haswell"})


FLUID = {
    "PADDLE_TRAINING_ROLE": "TRAINER",
    "PADDLE_PSERVER_IPS": "127.0.0.1",
    "PADDLE_TRAINERS": "1",
    "PADDLE_CURRENT_IP": "127.0.0.1",
}
FLEET = {
    "PADDLE_PSERVERS_IP_PORT_LIST": "127.0.0.1:36001,127.0.0.1:36002",
    "PADDLE_TRAINERS_NUM": "2",
    "TRAINING_ROLE": "PSERVER",
    "POD_IP": "127.0.0.1",
    "PADDLE_PORT": "36002",
}


def test_fluid_has_defaults_for_port_and_trainer_id() -> None:
    place = read(FLUID)
    assert (place.role, place.pservers, place.trainer_id) == ("TRAINER", ("127.0.0.1:6174",), 0)


def test_two_fleet_servers_of_one_host_are_told_apart_by_their_ports() -> None:
    place = read(FLEET)
    assert (place.role, place.port, place.pserver_id, place.common_port) == ("PSERVER", 36002, 1, 0)


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"TRAINING_ROLE": "TRAINER", "PADDLE_TRAINERS_NUM": "2"},
        {"PADDLE_INIT_PSERVERS": "127.0.0.1", "PADDLE_CLUSTER_TRAIN": "False"},
        {"PADDLE_PSERVERS": "127.0.0.1", "TRAINING_ROLE": "TRAINER", "PADDLE_IS_LOCAL": "1"},
    ],
    ids=["nothing", "no servers", "v2 switched off", "cloud switched off"],
)
def test_who_is_told_of_no_cluster_trains_locally(environ: dict[str, str]) -> None:
    assert read(environ) == ClusterEnvironment()


def test_the_cloud_lists_hosts_or_endpoints() -> None:
    cloud = {"TRAINING_ROLE": "TRAINER", "PADDLE_TRAINERS_NUM": "1", "PADDLE_PORT": "7164"}
    assert read({**cloud, "PADDLE_PSERVERS": "a,b"}).pservers == ("a:7164", "b:7164")
    assert read({**cloud, "PADDLE_PSERVERS": "a:1,b:2"}).pservers == ("a:1", "b:2")


def test_the_systems_that_say_fluids_role_by_other_words_are_understood() -> None:
    edl = {"PADDLE_TRAINING_ROLE": "TRAINER", "PADDLE_PSERVERS": "a:1,b:2", "PADDLE_TRAINERS_NUM": "3"}
    place = read({**edl, "PADDLE_TRAINER_ID": "2"})
    assert (place.pservers, place.trainers, place.trainer_id) == (("a:1", "b:2"), 3, 2)
    for wrong, said in (
        ({"PADDLE_TRAINER_ID": "3"}, "but PADDLE_TRAINERS_NUM says"),
        ({"PADDLE_PSERVERS": "a:1,a:1"}, "PADDLE_PSERVERS lists a:1 twice"),
        ({"PADDLE_PSERVERS": "a", "PADDLE_PORT": "b"}, "PADDLE_PORT: 'b' is not"),
    ):
        with pytest.raises(LaunchError, match=said):
            read({**edl, **wrong})


def without(environ: dict[str, str], name: str) -> dict[str, str]:
    return {key: text for key, text in environ.items() if key != name}


@pytest.mark.parametrize(
    ("environ", "kind", "words"),
    [
        (without(FLEET, "PADDLE_TRAINERS_NUM"), ClusterError, ["PADDLE_TRAINERS_NUM is not set"]),
        (without(FLEET, "TRAINING_ROLE"), ClusterError, ["TRAINING_ROLE is not set"]),
        (without(FLEET, "POD_IP"), ClusterError, ["POD_IP is not set", "127.0.0.1:36002"]),
        (without(FLEET, "PADDLE_PORT"), ClusterError, ["PADDLE_PORT is not set"]),
        (FLEET | {"PADDLE_PORT": "1"}, ClusterError, ["127.0.0.1:1", "not in PADDLE_PSERVERS_IP_PORT_LIST"]),
        (FLEET | {"TRAINING_ROLE": "BOSS"}, ClusterError, ["TRAINING_ROLE is 'BOSS'", "TRAINER or PSERVER"]),
        (FLEET | {"TRAINING_ROLE": "HETER_TRAINER"}, NotInThisRelease, ["HETER_TRAINER"]),
        (FLEET | {"PADDLE_PSERVERS_IP_PORT_LIST": "127.0.0.1"}, ClusterError, ["host:port"]),
        (FLEET | {"TRAINING_ROLE": "TRAINER"}, ClusterError, ["PADDLE_TRAINER_ID is not set"]),
        (FLUID | {"PADDLE_TRAINER_ID": "1"}, ClusterError, ["PADDLE_TRAINER_ID is 1", "PADDLE_TRAINERS"]),
        (FLUID | {"PADDLE_TRAINERS": "some"}, FlagError, ["PADDLE_TRAINERS", "'some'", "whole number"]),
        (without(FLUID, "PADDLE_PSERVER_IPS"), ClusterError, ["PADDLE_PSERVER_IPS is not set"]),
        (without(FLUID, "PADDLE_TRAINERS"), ClusterError, ["PADDLE_TRAINERS is not set"]),
        (FLUID | {"PADDLE_TRAINING_ROLE": "BOSS"}, ClusterError, ["PADDLE_TRAINING_ROLE is 'BOSS'"]),
        (FLUID | {"PADDLE_PSERVER_PORT": "http"}, FlagError, ["PADDLE_PSERVER_PORT", "'http'"]),
        (FLUID | {"PADDLE_PSERVER_IPS": "a,b,a"}, ClusterError, ["lists a:6174 twice"]),
        (FLEET | {"PADDLE_PSERVERS_IP_PORT_LIST": " "}, ClusterError, ["_LIST lists no parameter server"]),
        (FLUID | {"PADDLE_PSERVER_IPS": ","}, ClusterError, ["PADDLE_PSERVER_IPS lists no parameter server"]),
        (FLEET | {"PADDLE_PSERVERS_IP_PORT_LIST": "a:http"}, ClusterError, ["'a:http'", "not an endpoint"]),
        (FLEET | {"PADDLE_PSERVERS_IP_PORT_LIST": "a:1,a:70000"}, ClusterError, ["'a:70000'"]),
    ],
)
def test_a_cluster_that_cannot_be_is_refused_by_its_variables(
    environ: dict[str, str], kind: type[Exception], words: list[str]
) -> None:
    with pytest.raises(kind) as caught:
        read(environ)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert isinstance(caught.value, LaunchError)
