"""Online learning on the fleet API: a table that lets words in by an entry policy, trained day by day, saved
and swept after each. The second argument says what the job begins from, if anything."""

import sys
from pathlib import Path

import paddle
import paddle.distributed.fleet as fleet
from paddle.distributed import CountFilterEntry, ProbabilityEntry

ENTRIES = {"count": CountFilterEntry(3), "chance": ProbabilityEntry(0.5)}
WORDS, WIDTH = 4, 6
kind, begin, days = sys.argv[1], sys.argv[2], [int(day) for day in sys.argv[3].split(",") if day]

paddle.enable_static()
fleet.init()
words = paddle.static.data("words", [None, WORDS], "int64")
label = paddle.static.data("label", [None, 1], "float32")
attr = paddle.ParamAttr(name="words_table", initializer=paddle.nn.initializer.Uniform(-0.1, 0.1))
rows = paddle.static.nn.sparse_embedding(words, [1000, WIDTH], entry=ENTRIES[kind], param_attr=attr)
hidden = paddle.static.nn.fc(paddle.reshape(rows, [-1, WORDS * WIDTH]), 8, activation="relu")
guess = paddle.nn.functional.sigmoid(paddle.static.nn.fc(hidden, 1))
loss = paddle.mean(paddle.nn.functional.log_loss(guess, label))
strategy = fleet.DistributedStrategy()
strategy.a_sync = True
fleet.distributed_optimizer(paddle.optimizer.Adam(0.01), strategy).minimize(loss)
program = paddle.static.default_main_program()

if fleet.is_server():
    fleet.init_server(*([begin] if begin else []))
    fleet.run_server()
    sys.exit()

exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
if begin and fleet.is_first_worker():
    dense = [each for each in program.all_parameters() if Path(begin, each.name).is_file()]
    paddle.static.load_vars(exe, begin, vars=dense)
fleet.init_worker()
for day in days:
    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=20, thread_num=2, use_var=[words, label])
    dataset.set_filelist(fleet.util.get_file_shard([f"day-{day}.{part}" for part in range(4)]))
    dataset.load_into_memory()
    dataset.global_shuffle(fleet)
    exe.train_from_dataset(program, dataset, fetch_list=[loss], fetch_info=["loss"], print_period=5)
    dataset.release_memory()
    fleet.barrier_worker()
    if fleet.is_first_worker():
        fleet.shrink(1)
        fleet.save_persistables(exe, f"saved-{day}", program)
    fleet.barrier_worker()
if not days and fleet.is_first_worker():
    fleet.save_persistables(exe, "again", program)
fleet.stop_worker()
