"""conf.py, the environment and the command line, settled."""

from pathlib import Path

import pytest

from paddle._launch.errors import FlagError, SettingsError
from paddle._launch.settings import Host, Settings, read_conf, settle

ROOT = Path(__file__).resolve().parents[2]


def conf(folder: Path, text: str) -> Path:
    path = folder / "conf.py"
    path.write_text(text)
    return path


def settled(folder: Path, text: str, **given: object) -> Settings:
    return settle(conf(folder, text), {}, given)


def test_the_shipped_conf_has_two_local_nodes_and_the_documented_names() -> None:
    settings = settle(ROOT / "conf.py", {}, {})
    assert settings.hosts == (Host("local"), Host("local"))
    assert set(read_conf(ROOT / "conf.py")) == {
        "HOSTS",
        "ROOT_DIR",
        "PADDLE_NIC",
        "PADDLE_PORT",
        "PADDLE_PORTS_NUM",
        "PADDLE_PORTS_NUM_FOR_SPARSE",
        "PADDLE_SNAPSHOT_DIR",
        "PADDLE_USE_GPU",
        "LD_LIBRARY_PATH",
    }
    assert settings["ports_num_for_sparse"] == 1


def test_flags_win_over_the_environment_which_wins_over_conf(tmp_path) -> None:
    path = conf(tmp_path, "HOSTS = ['local']\nPADDLE_PORT = 1001\nPADDLE_PORTS_NUM = 2\nROOT_DIR = 'there'\n")
    settings = settle(path, {"PADDLE_PORT": "1002", "PADDLE_PORTS_NUM": "3"}, {"port": 1003})
    assert (settings["port"], settings.origins["port"]) == (1003, "--port")
    assert (settings["ports_num"], settings.origins["ports_num"]) == (3, "PADDLE_PORTS_NUM")
    assert (settings["root_dir"], settings.origins["root_dir"]) == ("there", "conf.py")
    assert settings.origins["comment"] == "default"


def test_machines_are_named_by_user_host_and_port(tmp_path) -> None:
    hosts = settled(tmp_path, "HOSTS = ['root@192.168.100.17', 'me@node-1.lab:2222']").hosts
    assert hosts == (Host("192.168.100.17", "root", 0), Host("node-1.lab", "me", 2222))


@pytest.mark.parametrize(
    "host",
    [
        "",
        "node1",
        "root@",
        "@host",
        "root@host:port",
        "root@host:0",
        "root@host:65536",
        "root@ho st",
        "a@b; rm -r /",
    ],
)
def test_an_unknown_form_of_host_is_refused_with_its_place(tmp_path, host) -> None:
    with pytest.raises(SettingsError, match=r"HOSTS \(conf\.py\)") as caught:
        settled(tmp_path, f"HOSTS = ['local', {host!r}]")
    assert repr(host) in str(caught.value)
    assert "user@host:sshport" in str(caught.value)


def test_a_machine_that_is_named_twice_is_refused_and_local_nodes_are_not(tmp_path) -> None:
    with pytest.raises(SettingsError, match=r"HOSTS \(conf\.py\) names n1 twice: nodes 0 and 2\."):
        settled(tmp_path, "HOSTS = ['a@n1', 'a@n2', 'b@n1:22']")
    assert len(settled(tmp_path, "HOSTS = ['a@n1:2222', 'a@n1:2223']").hosts) == 2
    assert len(settled(tmp_path, "HOSTS = ['local', 'local']").hosts) == 2


def test_local_and_remote_nodes_do_not_mix(tmp_path) -> None:
    with pytest.raises(SettingsError, match="mixes"):
        settled(tmp_path, "HOSTS = ['local', 'root@host']")


def test_no_node_at_all_is_refused(tmp_path) -> None:
    with pytest.raises(SettingsError, match="names no node"):
        settled(tmp_path, "PADDLE_PORT = 7164")


def test_conf_is_read_and_never_run(tmp_path) -> None:
    trap = tmp_path / "trap"
    for text in (
        f"import os\nos.mkdir({str(trap)!r})\n",
        f"HOSTS = [__import__('os').mkdir({str(trap)!r})]\n",
        f'ROOT_DIR = f\'{{[open("{trap}", "w")]}}\'\n',
    ):
        with pytest.raises(SettingsError, match="data"):
            settled(tmp_path, text)
    assert not trap.exists()


def test_a_misspelt_name_is_told_with_its_line_and_the_right_one(tmp_path) -> None:
    with pytest.raises(
        SettingsError, match=r"line 2: there is no setting PADDLE_PORTS_NUN; did you mean PADDLE_PORTS"
    ):
        settled(tmp_path, "HOSTS = ['local']\nPADDLE_PORTS_NUN = 2\n")


def test_text_between_settings_and_private_names_do_no_harm(tmp_path) -> None:
    settings = settled(tmp_path, "'''words'''\n_mine = 1\nHOSTS: list = ['local']\n")
    assert len(settings.hosts) == 1


@pytest.mark.parametrize(
    "text", ["PADDLE_PORT = 0", "PADDLE_PORT = 'many'", "PADDLE_PORT = 65535\nPADDLE_PORTS_NUM = 2"]
)
def test_ports_that_cannot_be_are_refused(tmp_path, text) -> None:
    with pytest.raises(FlagError, match="65535"):
        settled(tmp_path, f"HOSTS = ['local']\n{text}\n")


def test_a_wrong_value_names_the_place_it_comes_from(tmp_path) -> None:
    path = conf(tmp_path, "HOSTS = ['local']\nPADDLE_PORTS_NUM = -1\n")
    with pytest.raises(FlagError, match=str(path)):
        settle(path, {}, {})
    with pytest.raises(FlagError, match="environment variable PADDLE_PORTS_NUM"):
        settle(path, {"PADDLE_PORTS_NUM": "x"}, {})


def test_a_gpu_is_not_in_this_release_and_it_goes_on_without(tmp_path) -> None:
    (notice,) = settled(tmp_path, "HOSTS = ['local']\nPADDLE_USE_GPU = 'True'\n").notices
    assert notice.startswith("PADDLE_USE_GPU in conf.py: True is not in this release")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfHOSTS = ['local']\r\nROOT_DIR = '/srv/\xc3\xa9'\r\n",
        b"# -*- coding: latin-1 -*-\nHOSTS = ['local']\nROOT_DIR = '/srv/\xe9'\n",
    ],
    ids=["as an editor on Windows writes it", "in an encoding that it names"],
)
def test_a_conf_is_read_in_the_encodings_in_which_python_reads_it(tmp_path, data) -> None:
    path = tmp_path / "conf.py"
    path.write_bytes(data)
    assert settle(path, {}, {})["root_dir"] == "/srv/é"


@pytest.mark.parametrize(("text", "words"), [("HOSTS = [", "is not valid Python"), (None, "cannot read")])
def test_a_conf_that_is_missing_or_no_python_is_one_clear_error(tmp_path, text, words) -> None:
    path = tmp_path / "conf.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SettingsError, match=words):
        settle(path, {}, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("LD_LIBRARY_PATH = 'a\\0b'", r"line 2: LD_LIBRARY_PATH is 'a\\x00b', but no process"),
        ("ROOT_DIR = '\\ud800'", r"line 2: ROOT_DIR is '\\ud800', but no process"),
        ("PADDLE_NIC = ['lo', 'e\\0']", r"line 2: PADDLE_NIC is 'e\\x00'"),
        ("ROOT_DIR = ['jobs']", r"line 2: ROOT_DIR is a text or a number, not \['jobs'\]"),
        ("PADDLE_PORT = None", r"line 2: PADDLE_PORT is a text or a number, not None"),
        ("PADDLE_NIC = {'lo'}", r"line 2: PADDLE_NIC is a text, or a list of texts, not \{'lo'\}"),
        ("PADDLE_NIC = [['lo']]", r"line 2: PADDLE_NIC is a text, or a list of texts"),
        ("PADDLE_PORT = {[]: 1}", r"line 2: the value of PADDLE_PORT must be written out"),
        ("PADDLE_PORT = " + "-" * 100_000 + "1", "is not valid Python: it is nested too deeply"),
        ("PADDLE_PORT = " + "9" * 5_000, "is not valid Python: Exceeds the limit"),
        ("root_dir = 'jobs'", r"line 2: there is no setting root_dir; did you mean ROOT_DIR\?"),
        ("COLOUR = 'red'", r"line 2: there is no setting COLOUR; there are HOSTS, ROOT_DIR, .*\.$"),
    ],
)
def test_a_value_that_no_setting_can_have_is_refused_with_its_line(tmp_path, text, words) -> None:
    with pytest.raises(SettingsError, match=words):
        settled(tmp_path, f"HOSTS = ['local']\n{text}\n")
