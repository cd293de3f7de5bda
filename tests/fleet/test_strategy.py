"""DistributedStrategy: its fields, what they take, and the file that keeps them."""

import copy
import warnings
from pathlib import Path

import pytest

from paddle._absent import NotInThisRelease
from paddle._fleet import modes, prototxt
from paddle._fleet.errors import BadStrategy
from paddle._fleet.strategy import DistributedStrategy


def strategy(**fields: object) -> DistributedStrategy:
    made = DistributedStrategy()
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def mode(made: DistributedStrategy, *, is_sgd: bool = True, values: int = 10, memory: int = 1 << 30):
    found = modes.mode_of(made, is_sgd=is_sgd, values=values, memory=memory)
    return found and (found.name, found.k_steps, found.max_merge_var_num)


def test_the_defaults_are_upstreams() -> None:
    made = strategy()
    assert made.a_sync is True
    assert made.a_sync_configs["k_steps"] == -1
    assert made.a_sync_configs["send_queue_size"] == 16
    assert made.auto is False and made.fuse_grad_size_in_MB == 32


def test_setting_a_sync_sets_k_steps_to_0_and_what_is_set_after_it_stays() -> None:
    made = strategy(a_sync_configs={"k_steps": 100, "max_merge_var_num": 4}, a_sync=True)
    assert made.a_sync_configs["k_steps"] == 0
    assert made.a_sync_configs["max_merge_var_num"] == 4
    made.a_sync_configs = {"k_steps": 7}
    assert (made.a_sync, made.a_sync_configs["k_steps"]) == (True, 7)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_a_sync_takes_truth_values_only(value: object) -> None:
    with pytest.raises(ValueError, match="a_sync is of type bool"):
        strategy(a_sync=value)


def test_other_fields_stay_as_they_are_where_they_are_given_another_type() -> None:
    with pytest.warns(UserWarning, match="amp is of type bool"):
        assert strategy(amp="True").amp is False


@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_a_key_that_a_group_lacks_is_refused_with_those_it_has(kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"no key 'k_step'; it has k_steps, max_merge_var_num"):
        strategy(a_sync_configs={"k_step": 100})


@pytest.mark.parametrize(
    ("group", "written"),
    [
        ("sharding_configs", {"segment_broadcast_MB": 32, "sharding_degree": 8, "stage": 2}),
        ("sharding_configs", {"fuse_broadcast_MB": 32, "hybrid_dp": False}),
        ("pipeline_configs", {"accumulate_steps": 2, "p2p_cache_shape": False}),
        ("amp_configs", {"use_pure_bf16": True}),
    ],
)
def test_groups_have_the_keys_that_pages_of_2_0_to_2_6_write(group: str, written: dict[str, object]) -> None:
    kept = getattr(strategy(**{group: written}), group)
    assert {key: kept[key] for key in written} == written


@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_a_value_of_another_type_is_refused(kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"a_sync_configs\['k_steps'\] is of type int"):
        strategy(a_sync_configs={"k_steps": "100"})
    with pytest.raises(kind, match="a_sync_configs is a dict"):
        strategy(a_sync_configs=100)


def test_an_interpreter_that_completes_names_has_them() -> None:
    assert {"a_sync", "a_sync_configs", "build_strategy", "save_to_prototxt"} <= set(dir(strategy()))


def test_a_field_that_there_is_not_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unknown_key is not a attribute of DistributedStrategy"):
        strategy(unknown_key=1)
    assert not hasattr(strategy(), "unknown_key")


def test_what_is_saved_is_upstreams_text_and_is_loaded_again(tmp_path) -> None:
    made = strategy(a_sync=True, a_sync_configs={"k_steps": 400}, recompute=True, nccl_comm_num=2)
    made.recompute_configs = {"checkpoints": ["x", 'y"z']}
    made.save_to_prototxt(str(tmp_path / "s.prototxt"))
    text = (tmp_path / "s.prototxt").read_text()
    assert "a_sync: true\n" in text and "a_sync_configs {\n  k_steps: 400\n}\n" in text
    again = DistributedStrategy()
    again.load_from_prototxt(str(tmp_path / "s.prototxt"))
    assert repr(again) == repr(made)
    assert again.recompute_configs["checkpoints"] == ["x", 'y"z']
    assert again.a_sync_configs["k_steps"] == 400


def test_options_of_building_and_running_are_saved_and_loaded_too(tmp_path) -> None:
    made = strategy()
    made.build_strategy.fuse_broadcast_ops = True
    made.build_strategy.reduce_strategy = made.build_strategy.ReduceStrategy.Reduce
    made.execution_strategy.num_threads = 7
    made.save_to_prototxt(str(tmp_path / "s.prototxt"))
    again = DistributedStrategy()
    again.load_from_prototxt(str(tmp_path / "s.prototxt"))
    assert again.build_strategy.fuse_broadcast_ops and not again.build_strategy.enable_inplace
    assert again.build_strategy.reduce_strategy is made.build_strategy.ReduceStrategy.Reduce
    assert again.execution_strategy.num_threads == 7


def test_a_list_of_one_in_what_a_list_has_is_one_again_in_what_was_saved(tmp_path: Path) -> None:
    pattern = {"main_ops": ["matmul"], "num": 1, "pre_ops": [], "suf_ops": ["relu"]}
    for patterns in ([pattern], [pattern, {**pattern, "main_ops": ["mul", "add"]}]):
        made, read = strategy(), strategy()
        made.recompute_configs = {"checkpoints": ["x"], "refined_ops_patterns": patterns}
        made.save_to_prototxt(str(tmp_path / "s.prototxt"))
        read.load_from_prototxt(str(tmp_path / "s.prototxt"))
        assert read.recompute_configs == made.recompute_configs


def test_a_file_as_upstream_writes_it_is_read(tmp_path) -> None:
    file = tmp_path / "s.prototxt"
    file.write_text(
        "mode: PS\na_sync: true # no waiting\na_sync_configs: { k_steps: 100, launch_barrier: false }\n"
        'recompute_configs {\n  checkpoints: "one"\n}\nexecution_strategy {\n  num_threads: 2\n  new: 1\n}\n'
        "fuse_grad_size_in_TFLOPS: 5e1\n"
    )
    made = DistributedStrategy()
    made.load_from_prototxt(str(file))
    assert made.a_sync_configs["k_steps"] == 100 and made.a_sync_configs["launch_barrier"] is False
    assert made.recompute_configs["checkpoints"] == ["one"]
    assert made.fuse_grad_size_in_TFLOPS == 50.0
    assert made.execution_strategy.num_threads == 2


@pytest.mark.parametrize("text", ["a_sync: ", "a_sync: true }", "a_syncs: true", "a_sync ! true"])
def test_a_file_that_is_none_is_refused(tmp_path, text: str) -> None:
    (tmp_path / "s.prototxt").write_text(text)
    with pytest.raises(ValueError):
        DistributedStrategy().load_from_prototxt(str(tmp_path / "s.prototxt"))


def test_messages_come_back_as_they_were_written() -> None:
    message = {"a": 1, "b": {"c": True, "d": {"e": "x\n\\"}}, "f": [1.5, 2.5], "g": "PS"}
    assert prototxt.read(prototxt.written(message)) == message


def test_a_copy_is_its_own_and_all_of_it_is_shown() -> None:
    made = strategy(a_sync=True, a_sync_configs={"k_steps": 3})
    twin = copy.deepcopy(made)
    twin.a_sync_configs = {"k_steps": 5}
    assert (made.a_sync_configs["k_steps"], twin.a_sync_configs["k_steps"]) == (3, 5)
    assert "a_sync" in repr(made) and "k_steps" in repr(made)


def test_what_is_set_and_changes_nothing_is_told() -> None:
    made = strategy(a_sync=True, a_sync_configs={"thread_pool_size": 4, "k_steps": 0}, sync_batch_norm=True)
    with pytest.warns(UserWarning, match=r"sync_batch_norm, a_sync_configs\['thread_pool_size'\] changes"):
        assert mode(made) == ("async", 1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mode(strategy(a_sync=True, a_sync_configs={"max_merge_var_num": 2, "send_queue_size": 16}))


def test_the_mode_is_what_the_strategy_says() -> None:
    assert mode(strategy()) is None
    assert mode(strategy(a_sync=False)) == ("sync", 1, 1)
    assert mode(strategy(a_sync=True)) == ("async", 1, 1)
    assert mode(strategy(a_sync=True, a_sync_configs={"max_merge_var_num": 5})) == ("half_async", 1, 5)
    assert mode(strategy(a_sync=True, a_sync_configs={"k_steps": 100})) == ("geo", 100, 1)


def test_geo_is_for_any_rule_and_not_for_training_in_step() -> None:
    assert mode(strategy(a_sync=True, a_sync_configs={"k_steps": 100}), is_sgd=False) == ("geo", 100, 1)
    with pytest.raises(ValueError, match="k_steps'] is 100, but a_sync is False"):
        mode(strategy(a_sync=False, a_sync_configs={"k_steps": 100}))


def test_auto_takes_geo_where_the_model_fits_and_the_rule_allows_it() -> None:
    assert mode(strategy(auto=True)) == ("geo", 800, 1)
    assert mode(strategy(auto=True), is_sgd=False) == ("async", 1, 1)
    assert mode(strategy(auto=True), values=1 << 30) == ("async", 1, 1)
    assert mode(strategy(auto=True, a_sync=False)) == ("sync", 1, 1)


def test_mixed_precision_is_told_to_change_nothing_as_2_6_leaves_it_out_with_servers() -> None:
    with pytest.warns(UserWarning, match="amp changes nothing here"):
        assert mode(strategy(amp=True, a_sync=True)) == ("async", 1, 1)


@pytest.mark.parametrize("name", ["lamb", "sharding", "gradient_merge", "localsgd", "is_with_coordinator"])
def test_what_would_train_something_else_is_refused_when_it_is_used(name: str) -> None:
    with pytest.raises(NotInThisRelease, match=f"DistributedStrategy.{name} = True"):
        mode(strategy(**{name: True}, a_sync=True))


def test_options_of_graphs_are_there_from_the_beginning_and_each_strategys_own() -> None:
    first, second = DistributedStrategy(), DistributedStrategy()
    first.build_strategy.fuse_all_optimizer_ops = True
    first.execution_strategy.num_threads = 2
    first.build_strategy.trainers_endpoints.append("127.0.0.1:6170")
    assert second.build_strategy.trainers_endpoints == []
    assert (second.build_strategy.fuse_all_optimizer_ops, second.execution_strategy.num_threads) == (False, 1)
    twin = copy.deepcopy(first)
    first.execution_strategy.num_threads = 3
    assert twin.execution_strategy.num_threads == 2
    with pytest.raises(TypeError, match="build_strategy is a BuildStrategy"):
        first.build_strategy = 3


def test_fields_of_later_releases_are_kept_while_they_say_nothing() -> None:
    made = strategy(a_sync=True, adam_d2sum=True)
    made.trainer_desc_configs = {"dump_fields_path": "", "dump_fields": [], "stat_var_names": ["a"]}
    made.sparse_table_configs = {}
    assert made.fs_client_param["hadoop_bin"] == made.fs_client_param.hadoop_bin == ""
    made.gradient_scale_configs = {"scale_strategy": "sum"}  # of several devices
    made.hybrid_configs = {
        "dp_degree": 1,
        "order": ["dp", "mp", "pp", "sharding", "sep"],
    }  # of eager programs
    assert made.hybrid_configs["mp_degree"] == made.tensor_parallel_configs["tensor_parallel_degree"] == 1
    assert mode(made) == ("async", 1, 1)
    made.fs_client_param = {"uri": "afs://a"}
    with pytest.raises(NotInThisRelease, match=r"fs_client_param\['uri'\]"):
        mode(made)


def test_geo_is_told_that_nobody_coordinates_it() -> None:
    """As programs do that are written for federated training too."""
    made = strategy(a_sync=True, is_with_coordinator=False, is_fl_ps_mode=False, qat=False)
    made.a_sync_configs = {**made.a_sync_configs, "k_steps": 3}
    assert mode(made) == ("geo", 3, 1)
    assert (made.split_data, made.fuse_grad_size_in_num) == (True, 8)


def test_what_a_table_is_told_is_taken_where_it_changes_nothing_and_else_refused_by_its_key(
    tmp_path: Path,
) -> None:
    made, idle = strategy(a_sync=True), {"table_parameters.emb.shard_num": 10}
    made.sparse_table_configs = {"emb": {**idle, "table_parameters.emb.table_class": "MemorySparseTable"}}
    assert made.sparse_table_configs["emb"]["table_parameters.emb.shard_num"] == 10
    assert mode(made) == ("async", 1, 1)
    made.save_to_prototxt(str(tmp_path / "s"))
    DistributedStrategy().load_from_prototxt(str(tmp_path / "s"))
    graph = "table_parameters.emb.accessor.graph_sgd_param.nodeid_slot"
    with pytest.raises(NotInThisRelease, match=rf"'{graph}' = 3 of a table .*two optimizers"):
        made.sparse_table_configs = {"emb": {**idle, graph: 3}}
    with pytest.raises(NotInThisRelease, match="table_class"):
        made.sparse_table_configs = {"emb": {"table_parameters.emb.table_class": "SSDSparseTable"}}
    with pytest.raises(BadStrategy, match=r"begin with 'table_parameters\.emb\.', and not 'shard_num'"):
        made.sparse_table_configs = {"emb": {"shard_num": 10}}
    with pytest.raises(BadStrategy, match="is a dict, and not 3"):
        made.sparse_table_configs = {"emb": 3}
    assert list(made.sparse_table_configs) == ["emb"]


def test_so_is_what_it_is_told_in_words_of_pslib() -> None:
    made = strategy(a_sync=True)
    made.fleet_desc_configs = {"emb": {"sparse_table_class": "DownpourSparseTable", "sparse_shard_num": 10}}
    assert mode(made) == ("async", 1, 1)
    with pytest.raises(
        NotInThisRelease, match=r"fleet_desc_configs: 'sparse_accessor_class' = .*two optimizers"
    ):
        made.fleet_desc_configs = {"emb": {"sparse_accessor_class": "DownpourCtrAccessor"}}
