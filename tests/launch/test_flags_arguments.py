"""Command lines as gflags reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._absent import NotInThisRelease
from paddle._launch.arguments import Arguments, parse_arguments
from paddle._launch.errors import FlagError


def pserver(line: str) -> Arguments:
    return parse_arguments(line.split(), "pserver", command="paddle pserver")


def launcher(*arguments: str) -> Arguments:
    return parse_arguments(arguments, "launcher", "trainer", command="python paddle.py", pass_on=True)


def test_the_documented_command_line() -> None:
    line = "--port=7164 --ports_num=1 --ports_num_for_sparse=1 --num_gradient_servers=1 --nics=eth0"
    assert pserver(line).values == {
        "port": 7164,
        "ports_num": 1,
        "ports_num_for_sparse": 1,
        "num_gradient_servers": 1,
        "nics": ("eth0",),
    }


@pytest.mark.parametrize(
    "line", ["--port=8000", "--port 8000", "-port=8000", "-port 8000", "--port=1 --port=8000"]
)
def test_every_way_to_write_a_value(line: str) -> None:
    assert pserver(line).values == {"port": 8000}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("--small_messages", True),
        ("--nosmall_messages", False),
        ("--small-messages", True),
        ("--small_messages=0", False),
        ("--small_messages false", False),
        ("--small_messages --port=1", True),
    ],
)
def test_every_way_to_write_a_switch(line: str, value: bool) -> None:
    assert pserver(line).values["small_messages"] is value


def test_a_negative_number_is_a_value() -> None:
    assert launcher("--test_pass", "-2").values == {"test_pass": -2}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--ports_nun=1", ["'ports_nun'", "Did you mean ports_num"]),
        ("--port", ["--port needs a value", "a whole number from 1 to 65535"]),
        ("--port --ports_num=1", ["--port needs a value"]),
        ("--port=many", ["--port=many", "a whole number"]),
        ("--port many", ["--port many", "a whole number"]),
        ("--noport", ["'noport'"]),
        ("--nosmall_messages=1", ["'nosmall_messages'", "Did you mean small_messages"]),
        ("7164", ["no argument '7164'", "--name=value"]),
        ("--trainer_id=1", ["trainer_id is a flag of the trainer, not of paddle pserver"]),
        ("-x", ["has no flag 'x'"]),
    ],
)
def test_what_cannot_be_is_refused_by_name(line: str, words: list[str]) -> None:
    with pytest.raises(FlagError) as caught:
        pserver(line)
    assert all(word in str(caught.value) for word in words)
    assert caught.value.exit_status == 2


def test_behaviour_that_is_not_built_is_refused_and_its_default_accepted() -> None:
    with pytest.raises(NotInThisRelease):
        pserver("--rdma_tcp=rdma")
    assert pserver("--rdma_tcp=tcp").notices == ()
    assert "no effect" in pserver("--small_messages").notices[0]


def test_the_launcher_reads_its_own_and_hands_the_rest_on_in_order() -> None:
    read = launcher(
        "-p", "work", "--hidden=8", "--rate", "0.1", "--num_passes", "5", "-v", "--use_gpu=0", "one two"
    )
    assert read.values == {"job_dispatch_package": "work", "num_passes": 5, "use_gpu": False}
    assert read.others == ("--hidden=8", "--rate", "0.1", "-v", "one two")


def test_after_two_dashes_nothing_is_ours() -> None:
    assert launcher("--dry_run", "--", "--port=1", "--help") == Arguments(
        values={"dry_run": True}, others=("--port=1", "--help")
    )


@pytest.mark.parametrize("word", ["--help", "-h", "-help"])
def test_help_is_given_whatever_else_is_wrong(word: str) -> None:
    assert pserver(f"{word} --no_such_flag").help


@given(st.lists(st.text(min_size=1)))
def test_any_line_is_read_handed_on_or_refused(tokens: list[str]) -> None:
    try:
        read = launcher(*tokens)
    except (FlagError, NotInThisRelease):
        return
    assert read.help or set(read.others) <= set(tokens)
