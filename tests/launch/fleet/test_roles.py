"""What each process of a job of the fleet generation is told."""

from pathlib import Path

from paddle._launch.dialects import read as place_of
from paddle._launch.fleet import call, cluster, roles
from paddle._launch.plan import LaunchPlan, RolePlan, agent_order

FOLDER, WORKSPACE = Path("/srv/job"), Path("/tmp/agent")


def planned(line: str, **environ: str) -> LaunchPlan:
    asked = call.read([*line.split(), "train.py", "--epochs=2"], environ)
    assert asked
    job = cluster.settle(asked, environ, lambda number: list(range(20001, 20001 + number)), lambda _: False)
    premises = roles.Premises(
        python="/usr/bin/python3",
        runtime=Path("/opt/runtime"),
        folder=FOLDER,
        workspace=WORKSPACE,
        environ=environ,
    )
    return roles.plan(asked, job, premises, "fleet-1")


def told(role: RolePlan) -> dict[str, str]:
    return {name: value for name, value in role.env.items() if value is not None}


def test_one_program_is_run_for_every_process_where_the_user_is() -> None:
    plan = planned("--server_num=1 --worker_num=2 --log_dir=logs")
    names = [role.name for role in plan.nodes[0].roles]
    assert names == ["pserver-0", "trainer-0", "trainer-1"]
    assert {role.argv for role in plan.nodes[0].roles} == {
        ("/usr/bin/python3", "-u", "train.py", "--epochs=2")
    }
    assert [role.log for role in plan.nodes[0].roles] == [
        f"{FOLDER}/logs/{name}" for name in ("serverlog.0", "workerlog.0", "workerlog.1")
    ]
    order = agent_order(plan.nodes[0], 10.0, {})
    assert {role["folder"] for role in order["roles"].values()} == {str(FOLDER)}
    assert order["workspace"] == str(WORKSPACE)


def test_a_server_finds_its_place_in_upstreams_words() -> None:
    env = told(planned("--server_num=2 --worker_num=2").roles("pserver")[1])
    assert env["TRAINING_ROLE"] == "PSERVER"
    assert (env["POD_IP"], env["PADDLE_PORT"]) == ("127.0.0.1", "20002")
    assert env["PADDLE_PSERVERS_IP_PORT_LIST"] == "127.0.0.1:20001,127.0.0.1:20002"
    assert env["PADDLE_TRAINER_ENDPOINTS"] == "127.0.0.1:20003,127.0.0.1:20004"
    assert env["PADDLE_TRAINERS_NUM"] == "2"
    assert env["PADDLE_HETER_TRAINER_IP_PORT_LIST"] == ""
    assert env["PADDLE_GLOO_RENDEZVOUS"] == "3"
    assert env["PADDLE_GLOO_HTTP_ENDPOINT"] == "127.0.0.1:20005"
    assert env["PADDLE_WITH_GLOO"] == "0"
    assert "PADDLE_TRAINER_ID" not in env
    assert place_of(env).pserver_id == 1


def test_a_trainer_finds_its_place_in_upstreams_words() -> None:
    env = told(planned("--server_num=1 --worker_num=2").roles("trainer")[1])
    assert (env["TRAINING_ROLE"], env["PADDLE_TRAINER_ID"]) == ("TRAINER", "1")
    assert env["FLAGS_selected_gpus"] == "0"
    place = place_of(env)
    assert (place.role, place.trainer_id, place.trainers) == ("TRAINER", 1, 2)


def test_a_job_with_one_server_is_told_in_the_words_of_all_generations() -> None:
    env = told(planned("--server_num=1 --worker_num=2").roles("trainer")[0])
    for dialect in ("fleet", "cloud", "fluid", "fluid-0.12"):
        words = {**env, "PADDLE_IS_LOCAL": "0"}
        assert place_of(words, dialect).pservers == ("127.0.0.1:20001",), dialect


def test_proxies_are_for_no_process_and_gloo_is_as_it_was_asked_for() -> None:
    plan = planned("--server_num=1 --worker_num=1", http_proxy="http://proxy", PADDLE_WITH_GLOO="1")
    for role in plan.nodes[0].roles:
        assert role.env["http_proxy"] is None and role.env["https_proxy"] is None
        assert role.env["PADDLE_WITH_GLOO"] == "1"


LISTS = "--servers=10.0.0.1:6170,10.0.0.2:6170 --workers=10.0.0.1:6171,10.0.0.2:6171"


def test_logs_are_numbered_on_each_machine_and_trainers_in_the_job() -> None:
    plan = planned(LISTS, POD_IP="10.0.0.2")
    (server,), (trainer,) = plan.roles("pserver"), plan.roles("trainer")
    assert (server.name, Path(server.log).name) == ("pserver-1", "serverlog.0")
    assert (trainer.name, Path(trainer.log).name) == ("trainer-1", "workerlog.0")
    assert trainer.env["PADDLE_TRAINER_ID"] == "1"
    assert trainer.env["POD_IP"] == "10.0.0.2"


def test_machines_share_the_token_that_they_were_given_and_make_none_each() -> None:
    alone, one_of_two = (
        planned("--server_num=1 --worker_num=1", PADDLE_TOKEN_FILE="/mine"),
        planned(LISTS, POD_IP="10.0.0.2", PADDLE_TOKEN_FILE="/shared/token"),
    )
    assert alone.has_token and alone.roles("trainer")[0].env["PADDLE_TOKEN_FILE"] is None
    assert not one_of_two.has_token
    assert one_of_two.roles("trainer")[0].env["PADDLE_TOKEN_FILE"] == "/shared/token"


def test_one_process_without_servers_is_told_of_none() -> None:
    (role,) = planned("--nproc_per_node=1").nodes[0].roles
    assert (role.kind, role.env["PADDLE_TRAINERS_NUM"], role.env["PADDLE_TRAINER_ID"]) == (
        "trainer",
        "1",
        "0",
    )
    assert role.env["PADDLE_CURRENT_ENDPOINT"] == role.env["PADDLE_TRAINER_ENDPOINTS"]
    for word in ("PADDLE_PSERVERS_IP_PORT_LIST", "TRAINING_ROLE", "PADDLE_PSERVERS", "PADDLE_IS_LOCAL"):
        assert role.env[word] is None


def test_flags_of_2_6_say_whether_processes_meet_and_where_and_others_change_nothing() -> None:
    line = "--run_mode=ps --server_num=1 --trainer_num=1 --job_id=mine --log_level=DEBUG"
    for gloo, environ in (("1", {}), ("0", {"PADDLE_WITH_GLOO": "1"})):
        plan = planned(f"{line} --with_gloo={gloo} --gloo_port=6767", **environ)
        for role in plan.nodes[0].roles:
            assert role.env["PADDLE_WITH_GLOO"] == gloo
            assert role.env["PADDLE_GLOO_HTTP_ENDPOINT"] == "127.0.0.1:6767"
