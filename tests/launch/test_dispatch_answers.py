"""What a receiver answers, however its bytes are cut or come together."""

from tests.launch.receiving import ThreadLine, tree
from tests.launch.test_dispatch import deliver, dispatch_of, package

__all__ = ["package"]


def test_answers_that_come_together_are_two_where_a_node_lacks_nothing(package, tmp_path) -> None:
    class Late(ThreadLine):
        def receive(self) -> bytes:
            return b"".join(iter(super().receive, b""))  # all at once, and no more

    root = tmp_path / "root"
    deliver(dispatch_of(package, root), root / "JOB1")
    assert deliver(dispatch_of(package, root), root / "JOB2", Late()) == 0
    assert tree(root / "JOB2") == tree(package)
