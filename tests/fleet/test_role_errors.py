"""Role makers where a variable or an argument is missing, malformed or contradicts another: the errors of
2.6.2 and of 1.8.5, which were given all of these."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._fleet.errors import BadRole
from paddle._fleet.place import Role
from paddle._fleet.role_makers import PaddleCloudRoleMaker
from paddle.distributed import fleet
from paddle.fluid.incubate.fleet.base import role_maker as former

FIRST, SECOND = "127.0.0.1:6170", "127.0.0.1:6171"
WORKER = {
    "PADDLE_PSERVERS_IP_PORT_LIST": f"{FIRST},{SECOND}",
    "PADDLE_TRAINERS_NUM": "2",
    "TRAINING_ROLE": "TRAINER",
    "PADDLE_TRAINER_ID": "1",
    "PADDLE_TRAINER_ENDPOINTS": "127.0.0.1:7000,127.0.0.1:7001",
    "POD_IP": "127.0.0.1",
    "PADDLE_PORT": "7001",
}
SERVER = {**WORKER, "TRAINING_ROLE": "PSERVER", "PADDLE_PORT": "6171"}
SERVER.pop("PADDLE_TRAINER_ID")
# None: missing.
VALUES = (
    *(None, "", " ", "0", "-1", "2", "two", "127.0.0.1", "127.0.0.1:", FIRST, f"{FIRST},{FIRST}"),
    *(f"{FIRST},", "trainer", "PSERVER", "TRAINER", "1.0", "6170"),
)
_NUMBERS, _LISTS = ("0", "-1", "2", "6170"), (FIRST, f"{FIRST},")
# What 2.6.2 takes of VALUES; all others are a ValueError there and here.
TAKEN: dict[str, dict[str, tuple[Any, ...]]] = {
    "worker": {
        "PADDLE_TRAINERS_NUM": _NUMBERS,
        "TRAINING_ROLE": ("TRAINER",),
        "PADDLE_TRAINER_ID": _NUMBERS,
        "PADDLE_PSERVERS_IP_PORT_LIST": VALUES,
        "PADDLE_TRAINER_ENDPOINTS": VALUES,
        "POD_IP": VALUES,  # it misses them, and has no use for them
        "PADDLE_PORT": VALUES,
    },
    "server": {
        "PADDLE_TRAINERS_NUM": _NUMBERS,
        "TRAINING_ROLE": ("PSERVER",),
        "PADDLE_PSERVERS_IP_PORT_LIST": (None,),
        "PADDLE_TRAINER_ID": VALUES,
        "PADDLE_TRAINER_ENDPOINTS": VALUES,
        "POD_IP": ("127.0.0.1",),
        "PADDLE_PORT": ("6170",),
    },
}
# Of these, what makes no job, and is refused here.
REFUSED: dict[str, tuple[Any, ...]] = {
    "PADDLE_TRAINERS_NUM": ("0", "-1", "6170"),
    "PADDLE_TRAINER_ID": ("-1", "2", "6170"),
    "PADDLE_PSERVERS_IP_PORT_LIST": tuple(value for value in VALUES if value not in (None, "", *_LISTS)),
    "PADDLE_TRAINER_ENDPOINTS": tuple(
        value for value in VALUES if value not in (None, "", f"{FIRST},{FIRST}")
    ),
}


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch):
    import os

    for name in [name for name in os.environ if name.startswith(("PADDLE_", "TRAIN", "POD_IP"))]:
        monkeypatch.delenv(name)

    def change(variables: dict[str, str], name: str, value: str | None) -> None:
        for each, usual in {**variables, name: value}.items():
            if usual is None:
                monkeypatch.delenv(each, raising=False)
            else:
                monkeypatch.setenv(each, usual)

    return change


@pytest.mark.parametrize("role", TAKEN)
def test_each_variable_missing_malformed_or_contradictory_is_upstreams_error(environ, role: str) -> None:
    job = WORKER if role == "worker" else SERVER
    for name, taken in TAKEN[role].items():
        for value in VALUES:
            environ(job, name, value)
            maker = PaddleCloudRoleMaker()
            is_unused = role == "server" and name == "PADDLE_TRAINER_ID"
            if value in taken and (is_unused or value not in REFUSED.get(name, ())):
                maker.generate_role()
                assert maker.is_worker() is (maker.worker_num() == 1 or role == "worker"), (name, value)
                continue
            with pytest.raises(ValueError) as refused:
                maker.generate_role()
            said = str(refused.value)
            assert name in said or value in ("PSERVER", "TRAINER"), (name, value)  # lacks what that role has
        environ(job, name, job.get(name))


@pytest.mark.parametrize(
    ("job", "missing"),
    [
        *((WORKER, name) for name in ("PADDLE_TRAINERS_NUM", "TRAINING_ROLE", "PADDLE_TRAINER_ID")),
        *((SERVER, name) for name in ("PADDLE_TRAINERS_NUM", "TRAINING_ROLE", "POD_IP", "PADDLE_PORT")),
    ],
)
@pytest.mark.parametrize("kind", [KeyError, ValueError])
def test_a_missing_variable_is_the_key_error_of_1_8_too(
    environ, job: dict[str, str], missing: str, kind: type[Exception]
) -> None:
    environ(job, missing, None)
    with pytest.raises(kind) as refused:
        former.PaddleCloudRoleMaker().generate_role()
    assert str(refused.value).startswith(f"{missing} is not set")  # and not in quotes


# Of an argument's values: what 2.6.2 raises, what 1.8.5 does. None: nothing, and it is refused here.
_T, _I, _K = TypeError, IndexError, AssertionError
ARGUMENTS: list[tuple[dict[str, Any], type[Exception] | None, type[Exception] | None]] = [
    *(({"current_id": value}, _T, _T) for value in (None, "x", "1", [], [1], {})),
    ({"current_id": 1.5}, None, _T),
    ({"current_id": -1}, _I, ValueError),
    ({"current_id": 2}, None, None),
    ({"current_id": 2, "role": Role.SERVER}, _I, ValueError),
    *(({"current_id": value, "role": Role.SERVER}, _T, _T) for value in (None, 1.5, "x", [], {})),
    *(({"role": value}, None, _T) for value in (None, 0, -1, 1.5, "x", [], {})),
    *(({"worker_num": value}, None, _T) for value in (None, 1.5, "x", "1", [], [1], {}, True)),
    ({"worker_num": 0}, _K, ValueError),
    ({"worker_num": -1}, None, ValueError),
    *(({"server_endpoints": value}, _T, _T) for value in (0, 1, 1.5, True)),
    *(({"server_endpoints": value}, None, _T) for value in (None, [1], {})),
    ({"server_endpoints": []}, None, ValueError),
    ({"server_endpoints": [], "role": Role.SERVER}, _I, ValueError),
    ({"server_endpoints": None, "role": Role.SERVER}, _T, _T),
    ({"server_endpoints": ["a:1", "a:1"]}, None, None),
]


@pytest.mark.parametrize(("given", "of_2_6", "of_1_8"), ARGUMENTS, ids=lambda value: str(value)[:40])
def test_each_argument_is_upstreams_error(
    given: dict[str, Any], of_2_6: type[Exception] | None, of_1_8: type[Exception] | None
) -> None:
    usual = {"current_id": 0, "role": Role.WORKER, "worker_num": 2, "server_endpoints": [FIRST, SECOND]}
    for maker, kind in ((fleet.UserDefinedRoleMaker, of_2_6), (former.UserDefinedRoleMaker, of_1_8)):
        with pytest.raises(kind or BadRole) as refused:
            maker(**{**usual, **given}).generate_role()
        assert isinstance(refused.value, BadRole)


@pytest.mark.parametrize(
    "given", [{"current_id": "0"}, {"worker_endpoints": None}, {"worker_endpoints": [1]}]
)
def test_so_is_one_of_the_collective_role_maker_of_1_8(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(given))):
        former.UserDefinedCollectiveRoleMaker(**{"current_id": 0, "worker_endpoints": [FIRST], **given})
