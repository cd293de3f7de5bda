"""Ports that nobody else is given, from the look whether they are free to the end of the job."""

import os
import socket
from contextlib import closing

from paddle._launch.fleet.ports import LOOPBACK, Ports
from tests.waiting import until

SEED = os.getpid()  # who runs these tests at the same time looks elsewhere


def test_what_is_found_differs_and_can_be_listened_on_once_it_is_let_go() -> None:
    with Ports(seed=SEED) as ports:
        found = ports.take(5)
        assert len(set(found)) == 5
        assert all(port < 32768 for port in found)
        ports.let_go()
        for port in found:
            socket.create_server((LOOPBACK, port)).close()


def test_two_launchers_that_look_at_the_same_ports_choose_others_until_one_has_ended() -> None:
    with Ports(seed=SEED) as first, Ports(seed=SEED) as second:
        found = first.take(3)
        first.let_go()  # and its servers do not listen yet
        others = second.take(3, host="")
        assert not {*found} & {*others}

    def again() -> bool:
        with Ports(seed=SEED) as third:
            return third.take(3) == found

    until(again, "the same ports")  # another test's launcher may have had one of them meanwhile


def test_a_port_that_somebody_listens_on_is_none_and_stays_nobodys() -> None:
    with Ports(seed=SEED + 1) as ports:
        (taken,) = ports.take(1)
        ports.let_go()
        listener = socket.create_server((LOOPBACK, taken))
    with closing(listener), Ports(seed=SEED + 1) as ports:
        assert taken not in ports.take(2)

    def again() -> bool:
        with Ports(seed=SEED + 1) as ports:
            return ports.take(1) == [taken]

    until(again, "the same port")
