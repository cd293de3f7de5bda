"""Which rank this is, in the words of the engine that has started it.

It must never know a network or a process; environments are mappings given as arguments. Guarantee: a rank is
one of its job's, or it is refused by the name of the variable that is wrong.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from paddle._launch.errors import ClusterError

_PURPOSE = b"the token of parameter servers"
# Rank, size, and how many ranks are on this machine, of the first whose rank is set: under mpirun Slurm's
# words are those of its daemons.
_WORDS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),  # Open MPI
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"),  # MVAPICH
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),  # MPICH, Intel MPI
    ("SLURM_PROCID", "SLURM_NTASKS", ""),  # srun, which says the number of machines instead
)
_NODES = "SLURM_NNODES"
_SECRETS = (
    "PADDLE_RANKS_SECRET",  # from who starts them: train.sbatch makes one
    "OMPI_MCA_orte_precondition_transports",  # by chance, and the same for all ranks of one mpirun
)


@dataclass(frozen=True, slots=True)
class Place:
    """``rank`` of ``size``. ``secret``: what only ranks of this job know; empty where nobody gives one.
    ``has_others``: whether the engine says that ranks are on other machines."""

    rank: int
    size: int
    secret: bytes = b""
    has_others: bool = False

    @property
    def token(self) -> str:
        """The token of the job's parameter servers, which follows from the secret; empty without one."""
        return hmac.new(self.secret, _PURPOSE, hashlib.sha256).hexdigest() if self.secret else ""


def read(environ: Mapping[str, str]) -> Place:
    """Read this rank's place."""
    for rank_word, size_word, beside in _WORDS:
        if environ.get(rank_word):
            rank, size = _number(environ, rank_word), _number(environ, size_word)
            if rank >= size:
                raise ClusterError(
                    f"{rank_word} is {rank}, but {size_word} says that there are {size}, numbered from 0."
                )
            secret = next((environ[word] for word in _SECRETS if environ.get(word)), "")
            return Place(rank, size, secret.encode(), _has_others(environ, beside, size))
    words = ", ".join(rank for rank, *_ in _WORDS)
    raise ClusterError(
        f"nothing says which rank this is: none of {words} is set. Start it by an engine that sets one: "
        "mpirun -hostfile machines -n 3 start_mpi_train.sh"
    )


def number(environ: Mapping[str, str]) -> str:
    """What the engine says which rank this is, unchecked: for what is said of it."""
    return next((environ[word] for word, *_ in _WORDS if environ.get(word)), "?")


def _has_others(environ: Mapping[str, str], beside: str, size: int) -> bool:
    """``beside``: the variable with the number of ranks on this machine; empty where there is none."""
    if beside:
        return bool(environ.get(beside)) and _number(environ, beside) < size
    return bool(environ.get(_NODES)) and _number(environ, _NODES) > 1


def _number(environ: Mapping[str, str], word: str) -> int:
    text = environ.get(word, "")
    if not (text.isascii() and text.isdecimal()):
        said = f"is {text!r}, which is not a number" if text else "is not set"
        raise ClusterError(f"{word} {said}. Whoever starts ranks has to give each its own, and their number.")
    return int(text)
