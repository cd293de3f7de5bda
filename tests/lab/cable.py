"""A cable that can be long, bad and narrow: frames wait in a queue here, for want of a kernel with netem.

Run as a program in the head's network, with a node's name, a process of its network and the address of its
card. It makes the card and the port of the bridge, as a pair of taps, says ``here`` and carries frames until
it is killed, or an end of it is gone. Each line on its input sets delay, jitter (ms, each way) and loss
(percent). Frames keep their order. Standard library only.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field

TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
WHOLE_SEGMENTS = (
    1 | 2 | 4 | 8
)  # checksums and segments of TCP are left to the other end: frames of 64 KiB pass whole
FRAME_BYTES = 70_000
BURST = 64  # frames read from one side before the other has its turn


@dataclass
class Bad:
    """What is bad about a cable."""

    delay_s: float = 0.0
    jitter_s: float = 0.0
    loss: float = 0.0

    def read(self, line: bytes) -> None:
        """Become what a line says."""
        if not line:
            sys.exit()
        delay_ms, jitter_ms, loss_percent = map(float, line.split())
        self.delay_s, self.jitter_s, self.loss = delay_ms / 1e3, jitter_ms / 1e3, loss_percent / 100


@dataclass
class Way:
    """One direction of it."""

    bad: Bad
    into: int
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)
    last_due: float = 0.0

    def take(self, frames: list[bytes], now: float) -> None:
        """Queue frames behind those that came before them, or lose them."""
        for frame in frames:
            if random.random() >= self.bad.loss:
                due = now + self.bad.delay_s + self.bad.jitter_s * random.random()
                self.last_due = max(self.last_due, due)
                self.waiting.append((self.last_due, frame))

    def deliver(self, now: float) -> None:
        while self.waiting and self.waiting[0][0] <= now:
            try:
                os.write(self.into, self.waiting.popleft()[1])
            except OSError:  # the other end is down or full: a frame lost
                continue


def main(name: str, process: str, card_address: str) -> None:
    """Make it and carry."""
    node, port = _tap(f"t-{name}"), _tap(f"v-{name}")
    commands = (
        f"link set v-{name} master br0\nlink set v-{name} up\n"
        f"link set t-{name} address {card_address} name eth0 netns {process}\n"
    )
    subprocess.run(["ip", "-batch", "-"], input=commands, text=True, check=True)
    print("here", flush=True)
    bad = Bad()
    _carry(bad, {node: Way(bad, port), port: Way(bad, node)})


def _carry(bad: Bad, ways: dict[int, Way]) -> None:
    poll = select.epoll()
    for descriptor in (0, *ways):
        poll.register(descriptor, select.EPOLLIN)
    while True:
        due = [way.waiting[0][0] for way in ways.values() if way.waiting]
        for descriptor, _ in poll.poll(max(0.0, min(due) - time.monotonic()) if due else -1):
            if descriptor:
                ways[descriptor].take(_frames(descriptor), time.monotonic())
            else:
                bad.read(os.read(0, 4096))
                print("set", flush=True)
        for way in ways.values():
            way.deliver(time.monotonic())


def _frames(descriptor: int) -> list[bytes]:
    frames: list[bytes] = []
    try:
        while len(frames) < BURST:
            frames.append(os.read(descriptor, FRAME_BYTES))
    except BlockingIOError:
        pass
    except OSError as error:
        if error.errno == errno.EBADFD:  # the network that had this end is gone
            sys.exit()
        raise
    return frames


def _tap(name: str) -> int:
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(
        descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR)
    )
    fcntl.ioctl(descriptor, TUNSETOFFLOAD, WHOLE_SEGMENTS)
    return descriptor


if __name__ == "__main__":
    main(*sys.argv[1:])
