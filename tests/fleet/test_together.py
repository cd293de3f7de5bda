"""What workers do together beside training."""

import pytest

from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.together import UtilBase, share_of


def worker(number: int, workers: int) -> UtilBase:
    return UtilBase(
        UserDefinedRoleMaker(current_id=number, worker_num=workers, server_endpoints=["127.0.0.1:6170"])
    )


def test_files_are_shared_out_in_runs_and_the_rest_goes_to_the_first() -> None:
    files = [f"part-{i}" for i in range(7)]
    shares = [worker(i, 3).get_file_shard(files) for i in range(3)]
    assert [len(share) for share in shares] == [3, 2, 2]
    assert [name for share in shares for name in share] == files
    assert share_of(files[:2], 2, 3) == []


def test_its_class_is_found_where_2_x_keeps_it() -> None:
    from paddle.distributed.fleet.base import util_factory

    assert util_factory.UtilBase is UtilBase


def test_files_are_a_list() -> None:
    with pytest.raises(TypeError, match="files should be a list"):
        worker(0, 1).get_file_shard("part-0")  # type: ignore[arg-type]


def test_a_message_is_one_workers(capsys) -> None:
    for number in range(2):
        worker(number, 2).print_on_rank("hello", 1)
    assert capsys.readouterr().out == "hello\n"


def test_without_a_place_to_meet_a_sum_is_ones_own_part() -> None:
    util = worker(0, 2)
    assert util.all_reduce(3, "sum") == 3
    assert util.all_gather(3) == 3  # the original gives back what it was given
    util.barrier()
    with pytest.raises(ValueError, match="mode is one of sum, max, min"):
        util.all_reduce(3, "mean")
