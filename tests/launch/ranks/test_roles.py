"""What each rank runs, and what its processes are told."""

from pathlib import Path

from paddle._launch.dialects import read as place_of
from paddle._launch.environ import read_init
from paddle._launch.plan import RolePlan
from paddle._launch.ranks.roles import Premises, Ranks, plan

TWO_ON_THE_FIRST = ("10.0.0.1", "10.0.0.1", "10.0.0.2")


def roles(rank: int, has_token: bool = True, **environ: str) -> list[RolePlan]:
    ranks = Ranks(
        rank=rank, addresses=TWO_ON_THE_FIRST, job="ranks-1", ports=(7164, 2, 1), has_token=has_token
    )
    premises = Premises(
        python="/usr/bin/python3",
        runtime=Path("/opt/runtime"),
        folder=Path("/srv/tutorial"),
        logs=Path("/srv/tutorial/logs"),
        workspace=Path("/tmp/agent"),
        program=("train.py", "--fast"),
        environ=environ,
    )
    return list(plan(ranks, premises).nodes[0].roles)


def told(role: RolePlan) -> dict[str, str]:
    return {name: value for name, value in role.env.items() if value is not None}


def test_each_machine_has_one_parameter_server_and_each_rank_a_trainer() -> None:
    names = [[role.name for role in roles(rank)] for rank in range(3)]
    assert names == [["pserver-0", "trainer-0"], ["trainer-1"], ["pserver-1", "trainer-2"]]


def test_logs_of_ranks_on_one_machine_are_files_of_their_own() -> None:
    names = [[Path(role.log).name for role in roles(rank)] for rank in range(3)]
    assert names == [["pserver.log", "train.log"], ["train-1.log"], ["pserver.log", "train.log"]]


def test_a_server_listens_at_its_own_address_and_waits_for_all_trainers() -> None:
    server = roles(2)[0]
    assert server.argv[:5] == ("/usr/bin/python3", "-P", "-m", "paddle", "pserver")
    assert set(server.argv[5:]) == {
        "--host=10.0.0.2",
        "--port=7164",
        "--ports_num=2",
        "--ports_num_for_sparse=1",
        "--num_gradient_servers=3",
        "--comment=paddle_cluster_pserver",
    }
    assert place_of(told(server), "cloud").pserver_id == 1


def test_a_trainer_finds_its_place_in_the_words_of_the_document() -> None:
    trainer = roles(1)[0]
    flags = read_init({}, told(trainer))
    assert (flags.trainer_id, flags.num_gradient_servers) == (1, 3)
    assert flags.pservers == ("10.0.0.1", "10.0.0.2")
    assert (flags.port, flags.ports_num, flags.ports_num_for_sparse) == (7164, 2, 1)
    env = told(trainer)
    assert env["PADDLE_CLUSTER_TRAIN"] == "True"
    assert (env["OMPI_COMM_WORLD_RANK"], env["OMPI_COMM_WORLD_SIZE"]) == ("1", "3")
    assert trainer.argv == ("/usr/bin/python3", "-u", "train.py", "--fast")
    assert trainer.folder == "/srv/tutorial"


def test_the_users_token_is_handed_on_only_where_ranks_have_none() -> None:
    assert told(roles(0, has_token=False, PADDLE_TOKEN_FILE="/t")[0])["PADDLE_TOKEN_FILE"] == "/t"
    assert "PADDLE_TOKEN_FILE" not in told(roles(0, PADDLE_TOKEN_FILE="/t")[0])
