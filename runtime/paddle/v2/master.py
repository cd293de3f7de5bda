"""The client of the master that hands out a data set as tasks: ``paddle master``.

It must never know what a record holds. Guarantee: ``next_record`` gives every record of the tasks that this
client gets, and says with a code that the pass is over or that something failed.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence

from paddle._data.turn import learned
from paddle._pserver.tasks.client import PATIENCE_S, MasterClient, Patience
from paddle._pserver.tasks.errors import MasterError
from paddle._pserver.tasks.handshake import own_proof

__all__ = ["client"]

_OK, _FAILED, _PASS_ENDS = 0, -1, -2
_log = logging.getLogger("paddle.master")


class client:  # noqa: N801 - Paddle's spelling
    """A trainer's connection to its master.

    ``etcd_endpoints``: the address of the master, ``host:port`` or ``http://host:port``; no etcd is needed.
    ``timeout_sec``: how long one answer may take. A master that is away is asked again for a minute, or for
    ``timeout_sec`` if that is longer. ``buf_size`` changes nothing: a chunk is in memory at a time.

    PADDLE_MASTER_TOKEN_FILE names the file with the master's token, where it has one; where that is unset and
    the master asks for one, PADDLE_TOKEN_FILE, the job's own.

    With ``wait_for_pending`` a pass ends for this trainer only when the tasks that others have are finished
    too, so that those of a trainer that died are read in the same pass. In synchronous training leave it out:
    the others may be waiting for this trainer meanwhile.
    """

    def __init__(
        self, etcd_endpoints: str, timeout_sec: float, buf_size: int = 0, wait_for_pending: bool = False
    ) -> None:
        patience = Patience(answer_s=timeout_sec, master_s=max(PATIENCE_S, timeout_sec))
        self._master = MasterClient(etcd_endpoints, patience, own_proof())
        self._wait_for_pending = wait_for_pending
        self._records: Iterator[bytes] = iter(())
        self._turn = threading.Lock()  # of the thread that takes a record
        self._failure: MasterError | None = None  # that ended the pass for all threads
        self.error: MasterError | None = None
        """Why the last call gave -1."""

    def set_dataset(self, paths: Sequence[str]) -> None:
        """Tell the master which RecordIO files to hand out; globs are allowed, the first trainer's count.

        The files have to lie where the master and all trainers see them under the same path. Raises
        MasterError where they cannot be used.
        """
        globs = [paths] if isinstance(paths, str) else paths
        self._master.set_dataset([os.path.abspath(path) for path in globs])  # noqa: PTH100 - a glob is no path

    def paddle_start_get_records(self, pass_id: int) -> None:
        """Begin a pass; the first is 0. Of a pass that is over for all, no record comes."""
        self._records, self._failure = self._master.records(pass_id, self._wait_for_pending, learned), None

    def next_record(self) -> tuple[bytes | None, int]:
        """Wait for the next record; gives it and 0. Several threads may take records.

        At the end of the pass (None, -2). Where something failed (None, -1), also for whoever asks after that
        in the same pass; it is logged and stands in ``error``. What cannot be read of the data set is left
        out, and the master logs it.
        """
        with self._turn:
            try:
                for record in self._records:
                    return record, _OK
            except MasterError as error:
                self._failure = error
                _log.error("%s", error)
            if self._failure is None:
                return None, _PASS_ENDS
            self.error = self._failure
            return None, _FAILED

    def request_save_model(self, trainer_id: str | int, block_ms: float) -> int:
        """Ask whether this trainer is to save the model: 1 yes, 0 another does, -1 something failed.

        Where it is, no other may for ``block_ms`` milliseconds.
        """
        try:
            return int(self._master.request_save_model(str(trainer_id), block_ms / 1000))
        except MasterError as error:
            self.error = error
            _log.error("%s", error)
            return _FAILED

    def release(self) -> None:
        """Give back the task that was not read whole, and close the connection."""
        self._records, self._failure = iter(()), None
        self._master.release()
