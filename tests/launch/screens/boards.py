"""Boards of trainers that report."""

from paddle._launch.board import Board, Row
from paddle._launch.news import Progress


def progress(rank: int = 0, batch_id: int = 0, cost: float = 7.0) -> Progress:
    return Progress(f"trainer-{rank}", 0, batch_id, cost, 100.0)


def trainers(number: int) -> list[Row]:
    return [
        Row(node=n, address="127.0.0.1", role=f"trainer-{n}", kind="trainer", rank=n) for n in range(number)
    ]


def board_of(*rows: Progress) -> Board:
    board = Board(trainers(20))
    for row in rows:
        board.take(row)
    return board
