"""``paddle.v2.master.client`` and ``cloud_reader``: Paddle's names and codes over a client of the master."""

import threading

import pytest

import paddle.v2 as paddle
from paddle._pserver.tasks.errors import AllTaskFailed, BadAddress, MasterUnreachable
from paddle._recordio.errors import NotPlain
from paddle._recordio.samples import encode
from paddle.reader import creator
from paddle.v2 import master


class FakeMaster:
    """In place of a client of a real master: gives ``passes`` of records, then ``problem``."""

    made = ()
    passes = ()
    problem = None

    def __init__(self, address, patience, proof):
        self.address, self.patience, self.proof = address, patience, proof
        self.globs, self.asked, self.released = [], [], False
        FakeMaster.made = (*FakeMaster.made, self)

    def set_dataset(self, globs):
        self.globs.append(globs)

    def records(self, pass_id, wait_for_pending, before_finished=None):
        self.asked.append((pass_id, wait_for_pending))
        yield from self.passes[pass_id] if pass_id < len(self.passes) else ()
        if self.problem:
            raise self.problem

    def request_save_model(self, trainer, block_s):
        if self.problem:
            raise self.problem
        return (trainer, block_s) == ("0", 1.5)

    def release(self):
        self.released = True


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(master, "MasterClient", FakeMaster)
    monkeypatch.setattr(FakeMaster, "made", ())
    monkeypatch.setattr(FakeMaster, "passes", ())
    monkeypatch.setattr(FakeMaster, "problem", None)
    creator._passes.clear()
    return FakeMaster


def test_records_come_with_0_and_the_end_of_a_pass_is_minus_2(fake):
    fake.passes = ([b"a", b""], [b"b"])
    client = paddle.master.client("h:8080", 5, 64)
    taken = []
    for pass_id in range(2):
        client.paddle_start_get_records(pass_id)
        taken += [client.next_record() for _ in range(3)]
    assert taken == [(b"a", 0), (b"", 0), (None, -2), (b"b", 0), (None, -2), (None, -2)]
    client.release()
    assert fake.made[0].released


def test_threads_share_the_records_of_a_client(fake, monkeypatch):
    client = paddle.master.client("h:8080", 5)
    taken, second = [], threading.Thread(target=lambda: taken.append(client.next_record()))

    def records(*_):
        second.start()
        second.join(0.2)  # one that does not wait for its turn fails at once
        yield from (b"a", b"b")

    monkeypatch.setattr(fake.made[0], "records", records)
    client.paddle_start_get_records(0)
    taken.append(client.next_record())
    second.join()
    assert sorted(taken) == [(b"a", 0), (b"b", 0)]


def test_a_failure_is_minus_1_is_logged_and_kept(fake, caplog):
    fake.problem = MasterUnreachable("the master at h:8080 did not answer")
    client = paddle.master.client("h:8080", 5)
    client.paddle_start_get_records(0)
    assert client.next_record() == (None, -1)
    assert client.error is fake.problem
    assert client.request_save_model(0, 1) == -1
    assert caplog.text.count("the master at h:8080 did not answer") == 2


def test_a_pass_that_failed_for_one_thread_has_not_ended_for_the_next(fake, caplog):
    fake.passes, fake.problem = ([b"a"],), MasterUnreachable("the master at h:8080 did not answer")
    client = paddle.master.client("h:8080", 5)
    client.paddle_start_get_records(0)
    assert [client.next_record() for _ in range(3)] == [(b"a", 0), (None, -1), (None, -1)]
    assert client.error is fake.problem
    assert caplog.text.count("did not answer") == 1
    fake.problem = None
    client.paddle_start_get_records(0)
    assert [client.next_record() for _ in range(2)] == [(b"a", 0), (None, -2)]


def test_who_saves_the_model_is_1_and_the_others_are_0(fake):
    client = paddle.master.client("h:8080", 5)
    assert [client.request_save_model(trainer, 1500) for trainer in (0, "0", 1)] == [1, 1, 0]


def test_timeout_sec_is_how_long_an_answer_may_take(fake):
    paddle.master.client("h:8080", 5)
    paddle.master.client("h:8080", 300)
    assert [(it.patience.answer_s, it.patience.master_s) for it in fake.made] == [(5, 60.0), (300, 300)]


def test_paths_are_told_as_seen_from_everywhere(fake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    client = paddle.master.client("h:8080", 5)
    client.set_dataset(["part-*", "/data/x"])
    client.set_dataset("one")
    assert fake.made[0].globs == [[f"{tmp_path}/part-*", "/data/x"], [f"{tmp_path}/one"]]


def test_an_address_that_cannot_be_a_masters_is_refused():
    with pytest.raises(BadAddress, match="no etcd"):
        paddle.master.client("http://a:2379,http://b:2379", 5)


def test_a_cloud_reader_asks_nobody_before_it_is_called_and_counts_its_passes(fake):
    fake.passes = ([encode((1, 2))], [encode([3]), encode("x")])
    reader = creator.cloud_reader(["/data/*"], "h:8080", wait_for_pending=True)
    assert not fake.made
    assert [list(reader()) for _ in range(3)] == [[(1, 2)], [[3], "x"], []]
    (only,) = fake.made
    assert only.asked == [(0, True), (1, True), (2, True)]


def test_another_reader_of_a_master_goes_on_with_the_next_pass(fake):
    fake.passes = ([encode(1)], [encode(2)])
    assert list(creator.cloud_reader("/data/*", "h:8080")()) == [1]
    assert list(creator.cloud_reader("/data/*", "h:8080")()) == [2]
    assert [each.asked for each in fake.made] == [[(0, False)], [(1, False)]]


def test_a_cloud_reader_that_is_not_read_whole_gives_its_task_back(fake):
    fake.passes = ([encode(1), encode(2)], [b"no sample"])
    reader = creator.cloud_reader("/data/*", "h:8080")
    assert list(paddle.reader.firstn(reader, 1)()) == [1]
    assert fake.made[0].released
    fake.made[0].released = False
    with pytest.raises(NotPlain):
        list(reader())
    assert fake.made[0].released


def test_a_cloud_reader_raises_what_failed(fake):
    fake.passes, fake.problem = ([encode(1)],), AllTaskFailed("all 3 tasks failed")
    taken = creator.cloud_reader("/data/*", "h:8080")()
    assert next(taken) == 1
    with pytest.raises(AllTaskFailed, match="all 3 tasks failed"):
        next(taken)
