"""Who a process of fleet is, as its environment or its program says, and what cannot be."""

import pytest

from paddle._absent import NotInThisRelease
from paddle._fleet.general_role import GeneralRoleMaker
from paddle._fleet.place import Role
from paddle._fleet.role_makers import PaddleCloudRoleMaker, UserDefinedRoleMaker

SERVERS = "127.0.0.1:6170,127.0.0.1:6171"
JOB = {
    "PADDLE_PSERVERS_IP_PORT_LIST": SERVERS,
    "PADDLE_TRAINERS_NUM": "2",
    "TRAINING_ROLE": "TRAINER",
    "PADDLE_TRAINER_ID": "1",
    "PADDLE_TRAINER_ENDPOINTS": "127.0.0.1:7000,127.0.0.1:7001",
}
SERVER = {**JOB, "TRAINING_ROLE": "PSERVER", "POD_IP": "127.0.0.1", "PADDLE_PORT": "6171"}


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch):
    import os

    for name in [name for name in os.environ if name.startswith(("PADDLE_", "TRAIN", "POD_IP"))]:
        monkeypatch.delenv(name)

    def change(variables: dict[str, str], **others: str | None) -> None:
        for name, value in {**variables, **others}.items():
            if value is not None:
                monkeypatch.setenv(name, value)

    return change


def test_a_worker_is_read_from_upstreams_variables(environ) -> None:
    environ(JOB)
    role = PaddleCloudRoleMaker()
    assert role.is_worker() and not role.is_server() and not role.is_first_worker()
    assert (role.worker_index(), role.worker_num(), role.server_num()) == (1, 2, 2)
    assert role.get_pserver_endpoints() == SERVERS.split(",")
    assert role.get_current_endpoint() == "127.0.0.1:7001"
    assert role._worker_index() == 1 and role._get_trainer_endpoints() == ["127.0.0.1:7000", "127.0.0.1:7001"]


def test_a_server_is_the_place_of_its_address_in_the_list(environ) -> None:
    environ(SERVER)
    role = PaddleCloudRoleMaker()
    assert role.is_server() and role.server_index() == 1
    assert role.get_current_endpoint() == "127.0.0.1:6171"


def test_without_a_list_of_servers_one_process_does_all(environ) -> None:
    environ({"TRAINING_ROLE": "PSERVER", "PADDLE_TRAINERS_NUM": "4"})
    role = PaddleCloudRoleMaker()
    assert role.is_first_worker() and role.worker_num() == 1 and role.server_num() == 0
    assert role._is_non_distributed()


def test_the_trainers_own_addresses_may_be_left_out(environ) -> None:
    environ(JOB, PADDLE_TRAINER_ENDPOINTS="")
    assert PaddleCloudRoleMaker().get_trainer_endpoints() == []


@pytest.mark.parametrize("variable", ["PADDLE_TRAINERS_NUM", "TRAINING_ROLE", "PADDLE_TRAINER_ID"])
def test_a_variable_that_a_worker_lacks_is_named(environ, variable: str) -> None:
    environ({name: value for name, value in JOB.items() if name != variable})
    with pytest.raises(ValueError, match=f"{variable} is not set"):
        PaddleCloudRoleMaker().generate_role()


@pytest.mark.parametrize("variable", ["POD_IP", "PADDLE_PORT", "PADDLE_TRAINERS_NUM", "TRAINING_ROLE"])
def test_a_variable_that_a_server_lacks_is_named(environ, variable: str) -> None:
    environ({name: value for name, value in SERVER.items() if name != variable})
    with pytest.raises(ValueError, match=f"{variable} is not set"):
        PaddleCloudRoleMaker().generate_role()


@pytest.mark.parametrize(
    ("variables", "changed", "said"),
    [
        (JOB, {"PADDLE_TRAINERS_NUM": "two"}, "PADDLE_TRAINERS_NUM: 'two' is not a whole number"),
        (JOB, {"PADDLE_TRAINERS_NUM": "0"}, "PADDLE_TRAINERS_NUM: '0' is not"),
        (JOB, {"PADDLE_TRAINER_ID": "-1"}, "PADDLE_TRAINER_ID: '-1' is not"),
        (JOB, {"PADDLE_TRAINER_ID": "2"}, "PADDLE_TRAINER_ID is 2, but PADDLE_TRAINERS_NUM says"),
        (JOB, {"TRAINING_ROLE": "MASTER"}, "TRAINING_ROLE is 'MASTER'; it must be TRAINER or PSERVER"),
        (JOB, {"TRAINING_ROLE": "HETER_TRAINER"}, "HETER_TRAINER is not in this release"),
        (JOB, {"PADDLE_PSERVERS_IP_PORT_LIST": "127.0.0.1"}, "PADDLE_PSERVERS_IP_PORT_LIST"),
        (
            JOB,
            {"PADDLE_PSERVERS_IP_PORT_LIST": " "},
            "PADDLE_PSERVERS_IP_PORT_LIST lists no parameter server",
        ),
        (SERVER, {"PADDLE_PSERVERS_IP_PORT_LIST": ""}, "TRAINING_ROLE is PSERVER, but PADDLE_PSERVERS_IP"),
        (JOB, {"PADDLE_TRAINER_ENDPOINTS": "a:1"}, "PADDLE_TRAINER_ENDPOINTS lists 1 trainers"),
        (JOB, {"PADDLE_TRAINER_ENDPOINTS": "a:1,b:1,c:1"}, "PADDLE_TRAINER_ENDPOINTS lists 3 trainers"),
        (SERVER, {"PADDLE_PORT": "6172"}, "which is not in PADDLE_PSERVERS_IP_PORT_LIST"),
        (SERVER, {"PADDLE_PORT": "first"}, "PADDLE_PORT: 'first' is not a whole number"),
        (SERVER, {"POD_IP": "10.0.0.9"}, "which is not in PADDLE_PSERVERS_IP_PORT_LIST"),
    ],
)
def test_what_is_malformed_or_contradicts_itself_is_a_value_error_that_says_what(
    environ, variables: dict[str, str], changed: dict[str, str], said: str
) -> None:
    environ({**variables, **changed})
    with pytest.raises(ValueError) as refused:
        PaddleCloudRoleMaker().generate_role()
    assert said in str(refused.value)


def defined(**changed: object) -> UserDefinedRoleMaker:
    usual = {"current_id": 0, "role": Role.WORKER, "worker_num": 2, "server_endpoints": SERVERS.split(",")}
    return UserDefinedRoleMaker(**{**usual, **changed})


def test_a_program_may_say_it_itself() -> None:
    worker, server = defined(current_id=1), defined(role=Role.SERVER, current_id=1)
    assert (worker.worker_index(), worker.worker_num(), worker.is_worker()) == (1, 2, True)
    assert server.is_server() and server.get_current_endpoint() == "127.0.0.1:6171"
    listed = defined(worker_num=0, worker_endpoints=["10.0.0.1:1", "10.0.0.2:1", "10.0.0.2:2"])
    assert (listed.worker_num(), listed.node_num()) == (3, 2)
    assert listed.to_string().startswith("role: 1, current_id: 0, ") and server._to_string()[:8] == "role: 2,"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"server_endpoints": []}, "needs server_endpoints"),
        ({"server_endpoints": None}, "server_endpoints is a list"),
        ({"server_endpoints": ["a:1", "a:1"]}, "lists a:1 twice"),
        ({"worker_num": 0}, "needs worker_num"),
        ({"worker_num": "2"}, "worker_num is a whole number"),
        ({"worker_num": 3, "worker_endpoints": ["a:1"]}, "worker_num is 3, but worker_endpoints lists 1"),
        ({"current_id": 2}, "number 2 of 2 workers"),
        ({"current_id": -1}, "number -1 of 2 workers"),
        ({"role": Role.SERVER, "current_id": 2}, "number 2 of 2 servers"),
        ({"role": "worker"}, "role is Role.WORKER or Role.SERVER"),
    ],
)
def test_what_a_program_says_is_checked_likewise(changed: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError) as refused:
        defined(**changed).generate_role()
    assert said in str(refused.value)


@pytest.mark.parametrize("maker", [UserDefinedRoleMaker, PaddleCloudRoleMaker])
@pytest.mark.parametrize("name", ["currrent_id", "init_glo"])
def test_an_argument_that_there_is_not_is_refused(
    maker: type[UserDefinedRoleMaker | PaddleCloudRoleMaker], name: str
) -> None:
    with pytest.raises(TypeError, match=f"has no argument '{name}'.* It takes is_collective"):
        maker(**{name: 1})


GENERAL = {name: value for name, value in JOB.items() if name != "PADDLE_TRAINERS_NUM"}


def test_the_general_one_counts_the_trainers_that_are_listed(environ) -> None:
    environ(GENERAL)
    role = GeneralRoleMaker(path="/meeting")
    assert role.is_worker() and not role.is_first_worker()
    assert (role.worker_index(), role.worker_num(), role.server_num()) == (1, 2, 2)
    assert (role.get_local_endpoint(), role._get_rank(), role._get_size()) == ("127.0.0.1:7001", 1, 4)
    assert role.meets_in == "/meeting"


@pytest.mark.parametrize(
    "own", [{"PADDLE_PSERVER_ID": "1"}, {"POD_IP": "127.0.0.1", "PADDLE_PORT": "6171"}], ids=["id", "address"]
)
def test_a_server_of_the_general_one_is_told_its_number_or_its_address(environ, own) -> None:
    environ(GENERAL, TRAINING_ROLE="PSERVER", PADDLE_TRAINER_ID=None, **own)
    role = GeneralRoleMaker(http_ip_port="127.0.0.1:8000", init_timeout_seconds=60)
    assert role.is_server() and role.server_index() == 1
    assert (role.get_current_endpoint(), role._get_rank()) == ("127.0.0.1:6171", 3)
    assert role.meets_in == ("127.0.0.1", 8000)


def test_what_the_general_one_lacks_is_named(environ) -> None:
    environ(GENERAL, PADDLE_TRAINER_ENDPOINTS="")
    with pytest.raises(ValueError, match="needs PADDLE_TRAINER_ENDPOINTS"):
        GeneralRoleMaker().generate_role()
    environ(GENERAL, TRAINING_ROLE="PSERVER", PADDLE_PSERVER_ID="2")
    with pytest.raises(ValueError, match="PADDLE_PSERVER_ID is 2"):
        GeneralRoleMaker().generate_role()
    with pytest.raises(ValueError, match="http_ip_port is host:port"):
        GeneralRoleMaker(http_ip_port="8000")
    with pytest.raises(NotInThisRelease, match="http_ip_port"):
        GeneralRoleMaker(hdfs_name="hdfs://there", hdfs_ugi="a,b", path="/meeting")
    with pytest.raises(TypeError, match="did you mean http_ip_port"):
        GeneralRoleMaker(http_ipport="127.0.0.1:8000")
