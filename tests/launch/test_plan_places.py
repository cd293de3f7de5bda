"""Plans whose nodes have a parameter server, a trainer or both."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddle._launch.environ import read
from paddle._launch.errors import UsageError
from paddle._launch.plan import LONGEST_PRINT, describe
from tests.launch.test_plan import folder, kept, planned, spec

__all__ = ["folder"]

SEPARATE = ["--hosts=local,local,local,local", "--pserver_hosts=0", "--trainer_hosts=3,1,2"]


def test_ranks_go_by_the_place_in_the_lists_and_everybody_knows_the_others(folder: Path) -> None:
    launch = planned(folder, *SEPARATE)
    assert [[role.name for role in node.roles] for node in launch.nodes] == [
        ["pserver-0"],
        ["trainer-1"],
        ["trainer-2"],
        ["trainer-0"],
    ]
    assert [(role.name, role.node) for role in launch.roles("trainer")] == [
        ("trainer-0", 3),
        ("trainer-1", 1),
        ("trainer-2", 2),
    ]
    assert "--num_gradient_servers=3" in launch.roles("pserver")[0].argv
    for rank, role in enumerate(launch.roles("trainer")):
        environ = {name: value for name, value in role.env.items() if value is not None}
        for dialect in ("v2", "fluid", "fleet"):
            cluster = read(environ, dialect)
            assert (cluster.trainer_id, cluster.trainers) == (rank, 3)
            assert cluster.pserver_hosts == ("127.0.0.1",)
        assert environ["OMPI_COMM_WORLD_RANK"] == str(rank)
    assert launch.saver == 3


def test_pservers_that_are_not_on_the_first_nodes_know_their_own_number(folder: Path) -> None:
    launch = planned(folder, "--hosts=local,local,local", "--pserver_hosts=2,1", "--snapshot_dir=/kept")
    for rank, address in enumerate(("127.0.0.3", "127.0.0.2")):
        pserver = launch.roles("pserver")[rank]
        environ = {name: value for name, value in pserver.env.items() if value is not None}
        assert read(environ, "fleet").pserver_id == rank
        assert f"--host={address}" in pserver.argv
    assert kept(launch) == [["--snapshot_dir=/kept/node-2"], ["--snapshot_dir=/kept/node-1"]]


def test_a_trainers_shard_goes_to_its_node_and_to_a_pservers_node_goes_none(folder: Path) -> None:
    data = folder / "package" / "data"
    data.mkdir()
    for number in range(4):
        (data / f"part-{number:05}").write_text("")
    launch = planned(folder, *SEPARATE, "--shard_data=data")
    sent = [
        sorted(entry.path for entry in launch.sent_to(node) if entry.path.startswith("data/part"))
        for node in range(4)
    ]
    assert sent == [[], ["data/part-00001"], ["data/part-00002"], ["data/part-00000", "data/part-00003"]]
    assert all("train.py" in {entry.path for entry in launch.sent_to(node)} for node in range(4))


def test_the_plan_says_which_node_has_what(folder: Path) -> None:
    text = "\n".join(describe(planned(folder, *SEPARATE)))
    assert "1 pserver and 3 trainers on 4 local nodes" in text
    assert "node 3   127.0.0.4       trainer-0  in " in text
    assert "  trainer  python -u train.py" in text


@pytest.mark.parametrize(
    ("pservers", "trainers", "words"),
    [
        ("0,1", "2,3,4,5,6,7,8,9", ["pserver-0", "... node 1 likewise", "... nodes 3 to 9 likewise"]),
        ("0", "1,2,3,4,5,6,7,8,9", ["pserver-0", "node 1 ", "... nodes 2 to 9 likewise"]),
        ("0,5", "1,2,3,4,6,7,8,9", ["pserver-0", "trainer-0", "... nodes 3 to 9"]),
    ],
)
def test_a_plan_of_many_nodes_of_different_kinds_is_said_in_ten_lines(
    folder: Path, pservers: str, trainers: str, words: list[str]
) -> None:
    many = ",".join(["local"] * 10)
    argv = [f"--hosts={many}", f"--pserver_hosts={pservers}", f"--trainer_hosts={trainers}"]
    lines = describe(planned(folder, *argv, "--snapshot_dir=kept", "--job_prepare=prepare.py"))
    assert len(lines) <= LONGEST_PRINT
    assert all(any(word in line for line in lines) for word in words), lines


def test_fewer_trainers_than_are_needed_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="4 is more than the 3 of TRAINER_HOSTS"):
        planned(folder, *SEPARATE, "--min_trainers=4")


def test_a_restart_that_would_have_nothing_to_go_on_from_is_warned_of(folder: Path) -> None:
    (notice,) = spec(folder, "-p", "package", "--max_restart=2").notices
    assert notice.startswith("warning: --max_restart: a parameter server that is killed ends the job")
    assert spec(folder, "-p", "package", "--max_restart=2", "--snapshot_dir=kept").notices == ()
    assert planned(folder, "--max_restart=2", "--snapshot_dir=kept").max_restart == 2
