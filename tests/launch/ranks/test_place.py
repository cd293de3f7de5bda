"""Which rank a process is, in the words of each engine."""

import pytest

from paddle._launch.errors import ClusterError
from paddle._launch.ranks.place import Place, number, read

KEY = "1ec34423c1bd52c2-4ab519d0ecc27bcb"


@pytest.mark.parametrize(
    "environ",
    [
        {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3"},
        {"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "3"},
        {"PMI_RANK": "1", "PMI_SIZE": "3"},
        {"SLURM_PROCID": "1", "SLURM_NTASKS": "3"},
        # mpirun in a Slurm job starts its daemons by srun, whose words the ranks inherit
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "3"},
    ],
)
def test_a_rank_is_told_by_the_engine_that_has_started_it(environ) -> None:
    assert read(environ) == Place(1, 3)
    assert number(environ) == "1"


def test_the_key_that_mpirun_makes_for_its_ranks_is_their_secret_and_no_token_itself() -> None:
    environ = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}
    other = read({**environ, "OMPI_MCA_orte_precondition_transports": KEY[::-1]})
    place = read({**environ, "OMPI_MCA_orte_precondition_transports": KEY})
    assert len(place.token) == 64
    assert place.token != other.token
    assert KEY not in place.token
    assert read(environ).token == ""
    own = read({**environ, "OMPI_MCA_orte_precondition_transports": KEY, "PADDLE_RANKS_SECRET": "ours"})
    assert own.secret == b"ours"


ENGINES = {
    "OMPI_COMM_WORLD_LOCAL_SIZE": {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3"},
    "MV2_COMM_WORLD_LOCAL_SIZE": {"MV2_COMM_WORLD_RANK": "0", "MV2_COMM_WORLD_SIZE": "3"},
    "MPI_LOCALNRANKS": {"PMI_RANK": "0", "PMI_SIZE": "3"},
}


@pytest.mark.parametrize("word", ENGINES)
@pytest.mark.parametrize(("beside", "has_others"), [("3", False), ("1", True), ("", False)])
def test_engines_say_whether_ranks_are_elsewhere(word, beside, has_others) -> None:
    assert read({**ENGINES[word], word: beside}).has_others == has_others


@pytest.mark.parametrize(("nodes", "has_others"), [("1", False), ("2", True), ("", False)])
def test_slurm_says_on_how_many_machines_ranks_are(nodes, has_others) -> None:
    place = read({"SLURM_PROCID": "0", "SLURM_NTASKS": "3", "SLURM_NNODES": nodes})
    assert place.has_others == has_others


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({}, "none of OMPI_COMM_WORLD_RANK"),
        ({"OMPI_COMM_WORLD_RANK": "1"}, "OMPI_COMM_WORLD_SIZE is not set"),
        ({"OMPI_COMM_WORLD_RANK": "one", "OMPI_COMM_WORLD_SIZE": "2"}, "is 'one', which is not a number"),
        ({"PMI_RANK": "-1", "PMI_SIZE": "2"}, "PMI_RANK is '-1'"),
        ({"PMI_RANK": "0", "PMI_SIZE": "2.0"}, "PMI_SIZE is '2.0', which is not a number"),
        ({"PMI_RANK": "\u0661", "PMI_SIZE": "2"}, "which is not a number"),
        ({"PMI_RANK": "", "PMI_SIZE": "2"}, "nothing says which rank this is"),
        ({"SLURM_PROCID": "0"}, "SLURM_NTASKS is not set"),
        (
            {"SLURM_PROCID": "0", "SLURM_NTASKS": "0"},
            "SLURM_PROCID is 0, but SLURM_NTASKS says that there are 0",
        ),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2(x3)"}, r"SLURM_NTASKS is '2\(x3\)'"),
        ({"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "all"}, "MPI_LOCALNRANKS is 'all'"),
        ({"MV2_COMM_WORLD_RANK": "3"}, "MV2_COMM_WORLD_SIZE is not set"),
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "2"}, "SLURM_PROCID is 2, but SLURM_NTASKS says"),
    ],
)
def test_a_place_that_cannot_be_is_refused_by_name(environ, words) -> None:
    with pytest.raises(ClusterError, match=words):
        read(environ)
