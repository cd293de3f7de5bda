"""From a command line to a plan: what runs where, with which arguments and environment."""

import os
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from paddle._launch import job
from paddle._launch.arguments import parse_arguments
from paddle._launch.environ import read
from paddle._launch.errors import UsageError, WorkspaceError
from paddle._launch.jobs.resumption import again
from paddle._launch.plan import LONGEST_PRINT, LaunchPlan, agent_order, describe, plan
from paddle._launch.settings import settle
from paddle._launch.workspace import Claim

NOW = datetime(2026, 11, 21, 7, 38, 22)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text("")
    (tmp_path / "conf.py").write_text("HOSTS = ['local', 'local']\nPADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
    return tmp_path


def spec(folder: Path, *argv: str) -> job.JobSpec:
    arguments = parse_arguments(argv, "launcher", command="paddle.py", pass_on=True)
    settings = settle(folder / "conf.py", {}, arguments.values)
    return job.describe(settings, arguments, NOW, folder)


def planned(folder: Path, *argv: str) -> LaunchPlan:
    described = spec(folder, "--job_dispatch_package=package", *argv)
    return plan(described, python="python", runtime=Path("/runtime"), token="f00d")


def test_every_node_runs_a_pserver_and_a_trainer_in_its_own_workspace(folder) -> None:
    nodes = planned(folder).nodes
    assert [[role.name for role in node.roles] for node in nodes] == [
        ["pserver-0", "trainer-0"],
        ["pserver-1", "trainer-1"],
    ]
    assert [node.address for node in nodes] == ["127.0.0.1", "127.0.0.2"]
    assert [node.workspace for node in nodes] == [
        folder / "jobs" / "JOB20261121073822" / f"node-{node}" for node in (0, 1)
    ]
    assert [role.log for role in nodes[0].roles] == ["log/server.log", "log/train.log"]


def test_pservers_get_their_address_and_everybody_the_same_ports(folder) -> None:
    pserver = planned(folder, "--port=8000", "--ports_num", "2").roles("pserver")[1]
    assert pserver.argv == (
        "python", "-P", "-m", "paddle", "pserver", "--host=127.0.0.2", "--port=8000", "--ports_num=2",
        "--ports_num_for_sparse=1", "--num_gradient_servers=2",
    )  # fmt: skip
    trainer = planned(folder, "--port=8000").roles("trainer")[1]
    assert trainer.env["PADDLE_INIT_PORT"] == "8000"
    assert trainer.env["PADDLE_INIT_PSERVERS"] == "127.0.0.1,127.0.0.2"


def test_every_dialect_tells_a_trainer_its_place(folder) -> None:
    trainer = planned(folder).roles("trainer")[1]
    environ = {name: value for name, value in trainer.env.items() if value is not None}
    for dialect in ("v2", "fluid", "fleet"):
        cluster = read(environ, dialect)
        assert (cluster.trainer_id, cluster.trainers) == (1, 2)
        assert cluster.pserver_hosts == ("127.0.0.1", "127.0.0.2")
    assert environ["OMPI_COMM_WORLD_RANK"] == "1"
    assert environ["PADDLE_CLUSTER_TRAIN"] == "True"
    assert environ["PADDLE_JOB_ID"] == "JOB20261121073822-f00d"
    assert trainer.env["OPENBLAS_CORETYPE"] is None
    assert trainer.prepend["PYTHONPATH"] == "/runtime"


def test_other_arguments_reach_the_training_program_untouched_and_in_order(folder) -> None:
    words = ["--name", "a b; rm -r /", "--x=$(id)", "plain", "--flag", "--num_passes", "3", "*"]
    assert planned(folder, *words).roles("trainer")[0].argv == ("python", "-u", "train.py", *words)


def test_known_flags_of_a_trainer_are_set_in_its_environment_too(folder) -> None:
    trainer = planned(folder, "--num_passes", "3", "--trainer_count=2", "--noshow_layer_stat").roles(
        "trainer"
    )[0]
    assert trainer.env["PADDLE_INIT_NUM_PASSES"] == "3"
    assert trainer.env["PADDLE_INIT_TRAINER_COUNT"] == "2"
    assert trainer.env["PADDLE_INIT_SHOW_LAYER_STAT"] == "False"
    assert "--noshow_layer_stat" in trainer.argv


def test_what_the_launcher_takes_itself_reaches_trainers_by_their_environment_alone(folder) -> None:
    own = ["--connect_timeout=30", "--port=8000", "--ports_num", "2", "--comment=word", "--root_dir=there"]
    launch = planned(folder, *own, "--trainer_count=2", "--mine=1")
    assert launch.ready_timeout_s == 30
    trainer = launch.roles("trainer")[0]
    assert trainer.argv == ("python", "-u", "train.py", "--trainer_count=2", "--mine=1")
    assert trainer.env["PADDLE_INIT_CONNECT_TIMEOUT"] == "30"
    assert trainer.env["PADDLE_INIT_PORT"] == "8000"
    assert trainer.env["PADDLE_INIT_PORTS_NUM"] == "2"


def test_a_slip_of_the_finger_is_warned_of_and_handed_on_all_the_same(folder) -> None:
    argv = ["--hots=local", "--prot", "1", "--passes=3", "--", "--hsots"]
    described = spec(folder, "-p", "package", *argv)
    assert described.arguments == ("--hots=local", "--prot", "1", "--passes=3", "--hsots")
    first, second = described.notices
    assert first.startswith(
        "warning: --hots=local is not a flag of paddle.py; it is passed to the training program."
    )
    assert first.endswith("Did you mean --hosts?")
    assert second.endswith("Did you mean --port?")


def test_what_only_pservers_act_upon_goes_to_them(folder) -> None:
    launch = planned(folder, "--barrier_timeout=30")
    assert "--barrier_timeout=30" in launch.roles("pserver")[0].argv
    assert launch.roles("trainer")[0].argv == ("python", "-u", "train.py")


def test_the_numbers_in_which_gradients_travel_are_told_to_all_trainers(folder) -> None:
    for role in planned(folder, "--wire=topk", "--wire_topk=0.05").roles("trainer"):
        assert (role.env["PADDLE_INIT_WIRE"], role.env["PADDLE_INIT_WIRE_TOPK"]) == ("topk", "0.05")


def kept(launch: LaunchPlan) -> list[list[str]]:
    """What the pservers are told of snapshots."""
    return [[word for word in role.argv if "snapshot" in word] for role in launch.roles("pserver")]


def test_pservers_are_told_with_how_few_to_go_on_and_how_much_they_may_keep(folder) -> None:
    launch = planned(folder, "--min_trainers=1", "--memory_limit=64", "--gradient_memory=0")
    for role in launch.roles("pserver"):
        assert {"--min_trainers=1", "--memory_limit=64", "--gradient_memory=0"} < set(role.argv)
    assert launch.roles("trainer")[0].argv == ("python", "-u", "train.py")
    assert not any("min_trainers" in word for word in planned(folder).roles("pserver")[0].argv)


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--min_trainers=3", "--min_trainers: 3 is more than the 2 of HOSTS"),
        ("--min_trainers=-1", "'-1' is not a whole number from 0"),
        ("--memory_limit=1GiB", "'1GiB' is not a whole number from 0"),
    ],
)
def test_what_pservers_would_refuse_is_refused_before_the_launch(folder, flag: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        planned(folder, flag)


def test_snapshots_in_a_relative_folder_are_each_workspaces_own(folder) -> None:
    launch = planned(folder, "--snapshot_dir=kept", "--snapshot_period=10", "--snapshot_interval=90s")
    own = ["--snapshot_dir=kept", "--snapshot_period=10", "--snapshot_interval=90s"]
    assert kept(launch) == [own, own]
    assert "snapshots in kept of every workspace" in "\n".join(describe(launch))
    assert launch.roles("trainer")[0].argv == ("python", "-u", "train.py")


def test_snapshots_in_any_other_folder_do_not_meet(folder) -> None:
    assert kept(planned(folder, "--snapshot_dir=/kept")) == [
        [f"--snapshot_dir=/kept/node-{node}"] for node in (0, 1)
    ]


def test_who_can_go_on_from_snapshots_is_told_how_and_a_wrong_call_is_not_to_be_repeated(folder) -> None:
    launch = planned(folder, "--snapshot_dir=/kept")
    said = partial(again, is_registered=False)
    assert said(launch, 137) == "the same command again, with --snapshot_dir=/kept"
    assert "--job_workspace=" in said(planned(folder, "--snapshot_dir=kept"), 1)
    assert [said(launch, status) for status in (0, UsageError.exit_status)] == ["", ""]
    assert not said(planned(folder), 1)
    assert again(launch, 137, is_registered=True) == f"python paddle.py --resume={launch.name}"


def test_conf_asks_for_snapshots_too(folder) -> None:
    with (folder / "conf.py").open("a") as conf:
        conf.write("PADDLE_SNAPSHOT_DIR = 'kept'\nPADDLE_SNAPSHOT_KEEP = 5\n")
    assert kept(planned(folder))[1] == ["--snapshot_dir=kept", "--snapshot_keep=5"]
    assert kept(planned(folder, "--snapshot_dir=")) == [[], []]


def test_flags_of_snapshots_that_nobody_makes_are_told(folder) -> None:
    (notice,) = spec(folder, "-p", "package", "--snapshot_period=10").notices
    assert notice.startswith("warning: --snapshot_period changes nothing: without --snapshot_dir=DIR")
    assert spec(folder, "-p", "package", "--snapshot_period=10", "--snapshot_dir=kept").notices == ()


def test_the_home_folder_of_other_machines_is_not_this_ones(folder) -> None:
    argv = ["--hosts=root@a", "--root_dir=/srv", "--nics=eth0", "--snapshot_dir=~/kept"]
    with pytest.raises(UsageError, match=r"^--snapshot_dir: '~/kept' .* Write the path out"):
        planned(folder, *argv)


@pytest.mark.parametrize("name", job.OURS)
def test_a_place_in_the_job_cannot_be_given(folder, name) -> None:
    with pytest.raises(UsageError, match=f"--{name} cannot be given"):
        planned(folder, f"--{name}=1")


@pytest.mark.parametrize("argv", [[], ["-p", "package", "-j", "package"]], ids=["neither", "both"])
def test_exactly_one_workspace_must_be_given(folder, argv) -> None:
    with pytest.raises(UsageError, match="give either --job_dispatch_package"):
        spec(folder, *argv)


def test_where_it_is_misspelled_the_right_spelling_is_given(folder) -> None:
    with pytest.raises(
        UsageError, match=r"--job_dispach_package=package is not a flag\. Did you mean --job_disp"
    ):
        spec(folder, "--job_dispach_package=package")


def test_a_deployed_workspace_is_used_as_it_is(folder) -> None:
    for node in (0, 1):
        (folder / "deployed" / f"node-{node}").mkdir(parents=True)
        (folder / "deployed" / f"node-{node}" / "train.py").write_text("")
    described = spec(folder, "--job_workspace=deployed")
    assert described.package is None
    assert described.places == (folder / "deployed" / "node-0", folder / "deployed" / "node-1")
    assert described.home == folder / "deployed"


def test_several_local_nodes_cannot_share_one_workspace(folder) -> None:
    with pytest.raises(WorkspaceError, match="node-0 to node-1"):
        spec(folder, "--job_workspace=package")
    assert spec(folder, "--job_workspace=package", "--hosts=local").places == (folder / "package",)


def test_two_jobs_of_one_second_have_different_names(folder) -> None:
    (folder / "jobs" / "JOB20261121073822").mkdir(parents=True)
    assert planned(folder).name == "JOB20261121073823"


def test_two_launches_at_once_claim_different_folders(folder) -> None:
    first, second = Claim(), Claim()
    argv = parse_arguments(["-p", "package"], "launcher", command="paddle.py", pass_on=True)
    settings = settle(folder / "conf.py", {}, argv.values)
    names = [job.describe(settings, argv, NOW, folder, claim.take).name for claim in (first, second)]
    assert names == ["JOB20261121073822", "JOB20261121073823"]
    (folder / "jobs" / names[0] / "node-0").mkdir()
    for claim in (first, second):
        claim.release()
    assert [path.name for path in (folder / "jobs").iterdir()] == names[:1]


@pytest.mark.parametrize("words", ["--nics=eth0", "PADDLE_NIC in conf.py"])
def test_a_device_means_nothing_to_local_nodes(folder, words) -> None:
    argv = [words] if words.startswith("--") else []
    with (folder / "conf.py").open("a") as conf:
        conf.write("" if argv else "PADDLE_NIC = 'eth0'\n")
    with pytest.raises(UsageError, match=f"{words.partition('=')[0]}: 'eth0' is not a device of local nodes"):
        planned(folder, *argv)
    assert planned(folder, "--nics=").roles("pserver")[0].argv[5] == "--host=127.0.0.1"
    assert planned(folder, "--nics=lo").roles("pserver")[0].argv[5] == "--host=127.0.0.1"


def test_machines_listen_on_the_device_and_have_one_workspace_name(folder) -> None:
    argv = ["--hosts=root@a,root@b:2222", "--root_dir=/srv/paddle", "--nics=eth0"]
    launch = planned(folder, *argv)
    assert "--nics=eth0" in launch.roles("pserver")[0].argv
    assert {str(node.workspace) for node in launch.nodes} == {"/srv/paddle/JOB20261121073822"}
    assert launch.roles("trainer")[0].env["PADDLE_INIT_PSERVERS"] == "a,b"


def test_machines_want_an_absolute_root(folder) -> None:
    with pytest.raises(UsageError, match="ROOT_DIR"):
        planned(folder, "--hosts=root@a", "--nics=eth0")


def test_libraries_go_before_those_of_the_node(folder) -> None:
    trainer = planned(folder, "--ld_library_path=/opt/lib").roles("trainer")[0]
    assert trainer.prepend["LD_LIBRARY_PATH"] == "/opt/lib"


def test_the_agent_gets_the_whole_plan_of_its_node(folder) -> None:
    node = planned(folder).nodes[1]
    order = agent_order(node, 10.0, {"token": "secret"})
    assert order["node"] == 1
    assert order["workspace"] == str(node.workspace)
    assert set(order["roles"]) == {"pserver-1", "trainer-1"}
    assert set(order["roles"]["trainer-1"]) == {"argv", "env", "prepend", "log"}


@pytest.mark.parametrize(
    ("argv", "encrypts"),
    [
        ((), False),
        (("--tls=auto",), True),
        (("--hosts=root@a,root@b", "--root_dir=/jobs", "--nics=eth0"), True),
        (("--hosts=root@a,root@b", "--root_dir=/jobs", "--nics=eth0", "--tls=off"), False),
    ],
)
def test_what_leaves_this_machine_is_encrypted_unless_somebody_says_no(folder, argv, encrypts) -> None:
    launch = planned(folder, *argv)
    assert launch.encrypts is encrypts
    assert (", TLS" in "\n".join(describe(launch))) is encrypts


def test_certificates_from_elsewhere_are_not_for_launched_jobs(folder) -> None:
    with pytest.raises(UsageError, match=r"'job.crt' is neither auto nor off.*--tls_cert"):
        planned(folder, "--tls=job.crt")
    with pytest.raises(UsageError, match="--tls_ca cannot be given"):
        planned(folder, "--tls_ca=job.crt")


@pytest.mark.parametrize("nodes", [1, 2, 4, 5, 6, 300])
def test_a_plan_of_any_size_is_said_in_ten_lines(folder, nodes) -> None:
    (folder / "conf.py").write_text(f"HOSTS = {['local'] * nodes}\n")
    launch = planned(folder, "--snapshot_dir=kept", "--job_prepare=prepare.py")
    assert len({node.address for node in launch.nodes}) == nodes
    lines = describe(launch)
    assert len(lines) <= LONGEST_PRINT
    text = "\n".join(lines)
    assert launch.nodes[-1].address in text
    assert "7164 dense, none sparse" in text


@pytest.mark.parametrize("devices", ["", "lo"])
def test_machines_want_a_network_device_by_which_they_reach_each_other(folder, devices) -> None:
    with pytest.raises(UsageError, match=r"PADDLE_NIC = 'eth0' in conf\.py"):
        planned(folder, "--hosts=root@a,root@b", "--root_dir=/srv", f"--nics={devices}")


def test_where_no_network_device_is_set_the_setting_is_named(folder) -> None:
    with pytest.raises(UsageError, match=r"^PADDLE_NIC is not set: without it, pservers"):
        planned(folder, "--hosts=root@a,root@b", "--root_dir=/srv")


@pytest.mark.parametrize("name", ["log", "output"])
def test_results_that_could_not_be_collected_are_refused_before_a_job_trains_for_them(
    folder, monkeypatch, name
) -> None:
    (folder / "package" / name).mkdir()
    # as who is not root, which tests may be
    monkeypatch.setattr("os.access", lambda path, mode: not (path.name == name and mode & os.W_OK))
    with pytest.raises(UsageError, match=rf"are to come to .*/package/{name}, which cannot be written to\."):
        planned(folder)


def test_a_home_folder_may_be_written_short(folder, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    found = spec(folder, "--job_dispatch_package=~/package", "--root_dir=~/there")
    assert (found.home, found.places[0].parents[1]) == (folder / "package", folder / "there")


@pytest.mark.parametrize("name", ["root_dir", "job_dispatch_package", "job_workspace", "snapshot_dir"])
def test_a_home_folder_of_nobody_is_refused_by_name(folder, name) -> None:
    with pytest.raises(UsageError, match=rf"--{name}: '~nobody-here/x' begins with the name of a user"):
        planned(folder, f"--{name}=~nobody-here/x")


def test_a_workspace_that_is_missing_is_said_to_be_so(folder) -> None:
    with pytest.raises(WorkspaceError, match=r"nowhere is not a folder\. --job_workspace"):
        spec(folder, "--job_workspace=nowhere")


@pytest.mark.parametrize("root", ["x" * 300, "x/" * 3000])
def test_a_root_that_cannot_be_is_refused_by_name(folder, root) -> None:
    with pytest.raises(UsageError, match=r"^--root_dir: .*File name too long"):
        planned(folder, f"--root_dir={root}")


def test_each_node_is_sent_its_shard_and_the_plan_says_so(folder) -> None:
    data = folder / "package" / "train_data_dir"
    data.mkdir()
    for number in range(3):
        (data / f"train.txt-{number:05}").write_text("")
    launch = planned(folder, "--shard_data=train_data_dir/")
    sent = [{entry.path for entry in launch.sent_to(node) if entry.kind == "file"} for node in range(2)]
    assert sent[0] == {"train.py", "train_data_dir/train.txt-00000", "train_data_dir/train.txt-00002"}
    assert sent[1] == {"train.py", "train_data_dir/train.txt-00001"}
    assert describe(launch)[0].endswith(", each sent its shard of train_data_dir")
    assert planned(folder).sent_to(0) == planned(folder).package


def test_shards_of_what_is_not_sent_are_refused(folder) -> None:
    with pytest.raises(UsageError, match=r"has no folder 'train\.py'"):
        planned(folder, "--shard_data=train.py")
    with pytest.raises(UsageError, match="--shard_data: a workspace that is there already is not sent"):
        (folder / "conf.py").write_text("HOSTS = ['local']\n")
        spec(folder, "--job_workspace=package", "--shard_data=x")
    assert spec(folder, "--job_dispatch_package=package", "--shard_data=x", "--job_prepare=prepare.py")


def test_a_later_life_sends_nothing_and_its_pservers_serve_that_one(folder) -> None:
    launch = planned(folder)
    later = launch.again(3)
    assert (later.id, later.package, [node.life for node in later.nodes]) == (launch.id, None, [3, 3])
    for kind in ("pserver", "trainer"):
        for role, before in zip(later.roles(kind), launch.roles(kind), strict=True):
            served = {"PADDLE_SERVED_JOB": f"{launch.id}/3"} if kind == "pserver" else {}
            assert role.env == {**before.env, "PADDLE_RESTARTS": "2", **served}
            assert role.argv == before.argv
    assert agent_order(later.nodes[0], 10.0, {})["life"] == 3
