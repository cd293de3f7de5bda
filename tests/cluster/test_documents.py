"""Jobs started by hand with the commands and the code of the documents, to the letter.

What stands in capitals below is quoted from "Command-line arguments", in its two languages, and is typed or
executed as it is, except for the ``...`` that the document itself leaves to its reader.
"""

import pickle
import re
from pathlib import Path

import pytest

from tests.cluster.terminals import ETH0, Terminal, type_into
from tests.marks import on_demand

pytestmark = pytest.mark.cluster

PSERVER = "paddle pserver --port=7164 --ports_num=1 --ports_num_for_sparse=1 --num_gradient_servers=1"
PSERVER_ON_DEVICE = f"{PSERVER} --nics=eth0"
PSERVER_IN_BACKGROUND = f"stdbuf -oL /usr/bin/nohup {PSERVER} &> pserver.log"
PSERVER_ON_DEVICE_IN_BACKGROUND = f"stdbuf -oL /usr/bin/nohup {PSERVER_ON_DEVICE} &> pserver.log &"
ENVIRONMENT = """\
export PADDLE_INIT_USE_GPU=False
export PADDLE_INIT_TRAINER_COUNT=1
export PADDLE_INIT_PORT=7164
export PADDLE_INIT_PORTS_NUM=1
export PADDLE_INIT_PORTS_NUM_FOR_SPARSE=1
export PADDLE_INIT_NUM_GRADIENT_SERVERS=1
export PADDLE_INIT_TRAINER_ID=0
export PADDLE_INIT_PSERVERS=127.0.0.1
"""
TRAINER = "python train.py"
INIT = """\
paddle.init(
        use_gpu=False,
        trainer_count=1,
        port=7164,
        ports_num=1,
        ports_num_for_sparse=1,
        num_gradient_servers=1,
        trainer_id=0,
        pservers="127.0.0.1")
"""
SGD = "trainer = paddle.trainer.SGD(..., is_local=False)"
HEAD_OF_THE_PROGRAM = """\
cluster_train_file = "./train_data_dir/train/train.txt"
cluster_test_file = "./test_data_dir/test/test.txt"
node_id = os.getenv("OMPI_COMM_WORLD_RANK")
if not node_id:
    raise EnvironmentError("must provied OMPI_COMM_WORLD_RANK")
"""
ADAGRAD = """\
adagrad = paddle.optimizer.AdaGrad(
    is_async=True,
    async_lagged_grad_discard_ratio=1.6,
    learning_rate=3e-3,
    regularization=paddle.optimizer.L2Regularization(8e-4))
"""

# The program around the quotations: a small word2vec, whose fifth word is one of three and follows from the
# first, so that a few passes at the printed learning rate show.
BEGIN = "import os\nimport pickle\nimport paddle.v2 as paddle\nimport my_lib\n"
NETWORK = """
with open("word_dict.pickle", "rb") as f:
    dict_size = len(pickle.load(f))
words = [
    paddle.layer.data(name=name, type=paddle.data_type.integer_value(dict_size))
    for name in ("firstw", "secondw", "thirdw", "fourthw", "fifthw")
]
table = paddle.attr.Param(name="_proj", initial_std=0.1, learning_rate=1, l2_rate=0, sparse_update=True)
context = paddle.layer.concat(
    input=[paddle.layer.embedding(input=word, size=16, param_attr=table) for word in words[:4]])
hidden = paddle.layer.fc(
    input=context, size=32, act=paddle.activation.Sigmoid(), bias_attr=paddle.attr.Param(learning_rate=2))
predicted = paddle.layer.fc(input=hidden, size=dict_size, act=paddle.activation.Softmax())
cost = paddle.layer.classification_cost(input=predicted, label=words[4])
parameters = paddle.parameters.create(cost)
"""
SYNCHRONOUS = "adagrad = paddle.optimizer.AdaGrad(learning_rate=3e-2)\n"
TRAINING = """

def handler(event):
    if isinstance(event, paddle.event.EndPass):
        result = trainer.test(paddle.batch(my_lib.grams(cluster_test_file, node_id), 32))
        print("Pass %d, Test cost %f, %s" % (event.pass_id, result.cost, result.metrics))

trainer.train(
    paddle.batch(my_lib.grams(cluster_train_file, node_id), 32), num_passes=5, event_handler=handler)
print("parameters", my_lib.digest(parameters))
"""
MY_LIB = """
import hashlib

def grams(path, node_id):
    def reader():
        with open("%s-%05d" % (path, int(node_id))) as lines:
            for line in lines:
                yield tuple(int(word) for word in line.split(","))
    return reader

def digest(parameters):
    digest = hashlib.sha256()
    for name in sorted(parameters.keys()):
        digest.update(parameters.get(name).tobytes())
    return digest.hexdigest()
"""
RANK = "export OMPI_COMM_WORLD_RANK={}\n"  # which the platform sets: the head of the program says so


def program(init: str = "paddle.init()", optimizer: str = SYNCHRONOUS) -> str:
    trainer = SGD.replace("...", "cost, parameters, adagrad")
    return "\n".join([BEGIN, HEAD_OF_THE_PROGRAM, init, NETWORK, optimizer, trainer, TRAINING])


def workspace(folder: Path, train: str, trainers: int = 1) -> Path:
    """The files that the documents list, with a part of the data for each trainer."""
    dictionary = {f"word{number}": number for number in range(30)}
    (folder / "word_dict.pickle").write_bytes(pickle.dumps(dictionary, protocol=2))
    (folder / "my_lib.py").write_text(MY_LIB)
    (folder / "train.py").write_text(train)
    for kind, grams in (("train", 1280), ("test", 128)):
        place = folder / f"{kind}_data_dir" / kind
        place.mkdir(parents=True)
        lines = [f"{n % 30},{n // 30 % 30},{n % 7},{n % 11},{n % 30 % 3}\n" for n in range(grams)]
        for part in range(trainers):
            (place / f"{kind}.txt-{part:05d}").write_text("".join(lines[part::trainers]))
    return folder


def assert_learned(trainer: Terminal) -> None:
    assert trainer.status == 0, trainer.screen
    costs = [float(cost) for cost in re.findall(r"Test cost ([0-9.]+)", trainer.screen)]
    assert len(costs) == 5
    assert costs[-1] < costs[0] - 0.2, costs


def assert_served(pserver: Terminal, host: str) -> None:
    assert pserver.status == 0, pserver.screen
    assert re.search(rf"listening on {host}:\d+, {host}:\d+$", pserver.screen, re.MULTILINE), pserver.screen


@pytest.mark.parametrize("pserver", [PSERVER, f"{PSERVER} --nics=lo"])
def test_one_trainer_told_by_the_environment(tmp_path: Path, pserver: str) -> None:
    workspace(tmp_path, program())
    server, trainer = type_into(tmp_path, pserver, RANK.format(0) + ENVIRONMENT + TRAINER)
    assert_learned(trainer)
    assert_served(server, "127.0.0.1")


@pytest.mark.parametrize("pserver", [PSERVER_IN_BACKGROUND, PSERVER_ON_DEVICE_IN_BACKGROUND])
def test_a_parameter_server_in_the_background(tmp_path: Path, pserver: str) -> None:
    on_device = "eth0" in pserver
    told = ENVIRONMENT + (f"export PADDLE_INIT_PSERVERS={ETH0}\n" if on_device else "")
    workspace(tmp_path, program())
    server, trainer = type_into(
        tmp_path,
        f"{pserver}\n[ -z $! ] || wait $!",  # a terminal stays open
        RANK.format(0) + told + TRAINER,
        needs_namespace=on_device,
    )
    assert_learned(trainer)
    assert server == (0, "")
    log = (tmp_path / "pserver.log").read_text()
    assert_served(Terminal(0, log), ETH0 if on_device else "127.0.0.1")


def test_one_trainer_told_by_arguments_which_win_over_the_environment(tmp_path: Path) -> None:
    workspace(tmp_path, program(INIT))
    misled = "export PADDLE_INIT_PORT=1 PADDLE_INIT_PSERVERS=127.0.0.9 PADDLE_INIT_NUM_GRADIENT_SERVERS=7\n"
    server, trainer = type_into(tmp_path, PSERVER, RANK.format(0) + misled + TRAINER)
    assert_learned(trainer)
    assert_served(server, "127.0.0.1")


def test_asynchronous_updates(tmp_path: Path) -> None:
    workspace(tmp_path, program(INIT, ADAGRAD))
    server, trainer = type_into(tmp_path, PSERVER, RANK.format(0) + TRAINER)
    assert_learned(trainer)
    assert_served(server, "127.0.0.1")


@pytest.mark.parametrize(
    ("trainers", "optimizer"),
    [
        pytest.param(2, SYNCHRONOUS, id="2-sync"),
        pytest.param(3, ADAGRAD, id="3-async"),
        on_demand(3, SYNCHRONOUS, id="3-sync"),
        on_demand(2, ADAGRAD, id="2-async"),
    ],
)
def test_several_trainers_and_two_parameter_servers(tmp_path: Path, trainers: int, optimizer: str) -> None:
    workspace(tmp_path, program(optimizer=optimizer), trainers)
    told = ENVIRONMENT.replace("GRADIENT_SERVERS=1", f"GRADIENT_SERVERS={trainers}")
    told += f"export PADDLE_INIT_PSERVERS=127.0.0.1,{ETH0}\n"
    servers = [
        f"{PSERVER} --nics={nic}".replace("_servers=1", f"_servers={trainers}") for nic in ("lo", "eth0")
    ]
    ids = [RANK.format(i) + told + f"export PADDLE_INIT_TRAINER_ID={i}\n" for i in range(trainers)]
    ended = type_into(tmp_path, *servers, *(text + TRAINER for text in ids), needs_namespace=True)
    for terminal in ended[2:]:
        assert_learned(terminal)
    assert_served(ended[0], "127.0.0.1")
    assert_served(ended[1], ETH0)
    digests = {tuple(re.findall(r"^parameters \w+$", each.screen, re.MULTILINE)) for each in ended[2:]}
    assert len(digests) == 1 and len(digests.pop()) == 1


def test_a_program_without_its_number_says_so_and_nobody_waits(tmp_path: Path) -> None:
    workspace(tmp_path, program())
    (trainer,) = type_into(tmp_path, ENVIRONMENT + TRAINER)
    assert trainer.status == 1
    assert "OSError: must provied OMPI_COMM_WORLD_RANK" in trainer.screen
