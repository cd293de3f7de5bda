"""The table of flags: what it holds, and what a row makes of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._absent import NotInThisRelease
from paddle._launch.errors import FlagError
from paddle._launch.flag import Flag
from paddle._launch.flags import (
    BY_CONF_NAME,
    BY_NAME,
    FLAGS,
    FLEET_FLAGS,
    MASTER_FLAGS,
    check_ports,
    check_supported,
    flags_of,
    unknown,
)

DOCUMENTED_DEFAULTS = {
    "port": 7164,
    "ports_num": 1,
    "ports_num_for_sparse": 0,
    "num_gradient_servers": 1,
    "trainer_id": 0,
    "pservers": ("127.0.0.1",),
    "trainer_count": 1,
    "use_gpu": False,
}
ORIGINAL = """
    port ports_num ports_num_for_sparse nics rdma_tcp num_gradient_servers trainer_id pservers
    trainer_count comment use_gpu log_period log_period_server dot_period num_passes start_pass
    saving_period saving_period_by_batches save_only_one save_dir init_model_path
    load_missing_parameter_strategy test_period test_pass test_wait average_test_period
    distribute_test test_all_data_in_one_period job config config_args local
    loadsave_parameters_in_pserver start_pserver pserver_num_threads parallel_thread_num
    async_lagged_ratio_min async_lagged_ratio_default small_messages sock_send_buf_size
    sock_recv_buf_size sock_listen_queue_size check_sparse_distribution_in_pserver
    check_sparse_distribution_batches check_sparse_distribution_ratio
    check_sparse_distribution_unbalance_degree enable_grad_share use_old_updater
    show_parameter_stats_period show_layer_stat prev_batch_state beam_size seed gpu_id parallel_nn
    predict_output_dir model_list feat_file with_cost
"""
PERMITTED_WORDS = st.text(st.characters(exclude_characters=",", exclude_categories=("C", "Z")), min_size=1)
VALUES = {
    "bool": st.booleans(),
    "int": st.integers(),
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "str": st.text(st.characters(exclude_categories=("C", "Z"))),
    "names": st.lists(PERMITTED_WORDS).map(tuple),
    "duration": st.floats(0, 1e9),
}


def a_flag(kind: str, **limits: int) -> Flag:
    return Flag(name="n", kind=kind, default=0, help="A number", users=frozenset({"trainer"}), **limits)


def test_every_flag_of_the_original_is_known() -> None:
    assert not [name for name in ORIGINAL.split() if name not in BY_NAME]


@pytest.mark.parametrize(("name", "default"), DOCUMENTED_DEFAULTS.items())
def test_defaults_are_those_of_the_documents(name: str, default: object) -> None:
    assert BY_NAME[name].default == default


def test_every_name_and_conf_name_and_letter_stands_for_one_flag() -> None:
    assert len(BY_NAME) == len(FLAGS)
    assert len(BY_CONF_NAME) == len([flag for flag in FLAGS if flag.conf])
    letters = [flag.short for flag in FLAGS if flag.short]
    assert len(set(letters)) == len(letters)


@pytest.mark.parametrize("flag", FLAGS + MASTER_FLAGS + FLEET_FLAGS, ids=lambda flag: flag.name)
def test_every_default_is_a_value_of_its_flag_and_is_supported(flag: Flag) -> None:
    assert flag.parse(flag.render(flag.default)) == flag.default
    assert check_supported(flag, flag.default) is None


@pytest.mark.parametrize("flag", FLAGS + MASTER_FLAGS + FLEET_FLAGS, ids=lambda flag: flag.name)
def test_every_help_is_one_short_line(flag: Flag) -> None:
    assert 0 < len(flag.help) <= 80
    assert flag.help[0].isupper()
    assert not flag.help.endswith(".")


def test_a_trainer_flag_can_be_set_by_its_variable() -> None:
    assert all(flag.env[0] == f"PADDLE_INIT_{flag.name.upper()}" for flag in flags_of("trainer"))


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_what_is_rendered_is_read_back(kind: str, data: st.DataObject) -> None:
    value = data.draw(VALUES[kind])
    assert a_flag(kind).parse(a_flag(kind).render(value)) == value


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("bool", "False", False),
        ("bool", "0", False),
        ("bool", "No", False),
        ("bool", "TRUE", True),
        ("bool", "1", True),
        ("bool", True, True),
        ("int", " 7164 ", 7164),
        ("int", 3, 3),
        ("float", "1e-3", 0.001),
        ("names", "eth0, eth1,", ("eth0", "eth1")),
        ("names", ["a", "b"], ("a", "b")),
        ("names", "", ()),
        ("duration", "20m", 1200.0),
        ("duration", "1h30m", 5400.0),
        ("duration", "1.5s", 1.5),
        ("duration", "500ms", 0.5),
        ("duration", "90", 90.0),
    ],
)
def test_texts_and_values_of_programs_are_understood(kind: str, text: object, value: object) -> None:
    assert a_flag(kind).parse(text) == value


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("bool", "maybe", "true or false"),
        ("int", "7164.5", "a whole number"),
        ("int", "", "a whole number"),
        ("int", None, "a whole number"),
        ("float", "fast", "a number"),
        ("float", "nan", "a number"),
        ("float", "inf", "a number"),
        ("duration", "20min", "a time such as 20m"),
        ("duration", "-1s", "a time such as 20m"),
        ("duration", "", "a time such as 20m"),
    ],
)
def test_an_error_names_origin_text_and_what_was_expected(kind: str, text: object, expected: str) -> None:
    with pytest.raises(FlagError) as caught:
        a_flag(kind).parse(text, "PADDLE_INIT_N")
    assert f"PADDLE_INIT_N: {str(text).strip()!r} is not {expected}" in str(caught.value)


@pytest.mark.parametrize("text", ["0", "65536"])
def test_limits_are_part_of_the_type(text: str) -> None:
    with pytest.raises(FlagError, match="a whole number from 1 to 65535"):
        BY_NAME["port"].parse(text)


def test_a_range_of_ports_must_end_below_the_last_port() -> None:
    check_ports(65534, 1, 1)
    with pytest.raises(FlagError, match="up to 65536"):
        check_ports(65534, 2, 1)


def test_a_behaviour_that_is_not_built_is_refused_by_name() -> None:
    with pytest.raises(NotInThisRelease, match="--parallel_nn: True is not in this release"):
        check_supported(BY_NAME["parallel_nn"], True)


def test_a_behaviour_that_is_gone_without_is_told_by_name() -> None:
    notice = check_supported(BY_NAME["use_gpu"], True, "PADDLE_USE_GPU in conf.py")
    assert notice is not None
    assert notice.startswith("PADDLE_USE_GPU in conf.py: True is not in this release")
    assert "CPU" in notice and "going on" in notice
    assert check_supported(BY_NAME["use_gpu"], False) is None


def test_a_tuning_flag_that_changes_nothing_is_told() -> None:
    notice = check_supported(BY_NAME["small_messages"], True)
    assert notice is not None
    assert "--small_messages=True has no effect" in notice


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    error = unknown("--ports_nun=1", "ports_nun", BY_NAME, "paddle pserver")
    assert "paddle pserver has no flag 'ports_nun'. Did you mean ports_num" in str(error)
    assert "`paddle pserver --help`" in str(unknown("--zzz", "zzz", BY_NAME, "paddle pserver"))
    assert "`paddle --help`" in str(unknown("zzz", "zzz", BY_NAME, "paddle.init"))


def test_a_flag_with_choices_takes_nothing_else() -> None:
    wire = BY_NAME["wire"]
    assert wire.parse("topk") == "topk"
    with pytest.raises(FlagError, match="--wire: 'int8' is not float32, bfloat16, float16 or topk"):
        wire.parse("int8")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("num_gradient_servers", 65536),
        ("min_trainers", 65536),
        ("trainer_id", 65535),
        ("ports_num", 1024),
        ("ports_num_for_sparse", 1024),
        ("trainer_count", 1024),
    ],
)
def test_a_number_for_which_no_machine_has_room_is_refused(name: str, most: int) -> None:
    flag = next(flag for flag in FLAGS if flag.name == name)
    assert flag.parse(str(most)) == most
    with pytest.raises(FlagError, match=rf"--{name}: '100000000' is not a whole number from . to {most}"):
        flag.parse("100000000")
