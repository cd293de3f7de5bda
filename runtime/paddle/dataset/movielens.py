"""movielens: a million ratings of films, with who gave them and what the films are.

It must never know where the archive is kept (that is ``common``). Guarantee: the same archive gives the same
ids of words and categories, which are numbered in the order of the alphabet, and the same parts.
"""

from __future__ import annotations

import random
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from paddle.dataset import common

__all__ = [
    "MovieInfo",
    "UserInfo",
    "age_table",
    "convert",
    "fetch",
    "get_movie_title_dict",
    "max_job_id",
    "max_movie_id",
    "max_user_id",
    "movie_categories",
    "movie_info",
    "test",
    "train",
    "user_info",
]

URL = "http://files.grouplens.org/datasets/movielens/ml-1m.zip"
MD5 = "c4d9eecfca2ab87c1945afe126590906"

age_table = [1, 18, 25, 35, 45, 50, 56]
"""The youngest of each group of ages."""

_TEST_SHARE = 0.1
_TITLE = re.compile(r"^(.*)\((\d+)\)$")  # and the year, in which it came out

Reader = Callable[[], Iterator[list[Any]]]


@dataclass(frozen=True)
class MovieInfo:
    """A film."""

    index: int
    categories: list[str]
    title: str

    def value(self) -> list[Any]:
        """Its number, and the ids of its categories and of the words of its title."""
        return self.among(known_of(_archive()))

    def among(self, known: Known) -> list[Any]:
        """The same, by the numbers of what is known."""
        words = [known.words[word.lower()] for word in self.title.split()]
        return [self.index, [known.categories[each] for each in self.categories], words]

    def __str__(self) -> str:
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


@dataclass(frozen=True)
class UserInfo:
    """One who rates films. ``age``: a place in ``age_table``."""

    index: int
    is_male: bool
    age: int
    job_id: int

    def value(self) -> list[int]:
        """Number, 0 for a man or 1 for a woman, group of ages, job."""
        return [self.index, 0 if self.is_male else 1, self.age, self.job_id]

    def __str__(self) -> str:
        gender, age = "M" if self.is_male else "F", age_table[self.age]
        return f"<UserInfo id({self.index}), gender({gender}), age({age}), job({self.job_id})>"


@dataclass(frozen=True)
class Known:
    """All that is known of films and users."""

    movies: Mapping[int, MovieInfo]
    users: Mapping[int, UserInfo]
    words: Mapping[str, int]
    categories: Mapping[str, int]


def train() -> Reader:
    """Make a reader of [user, gender, age, job, film, [categories], [words of the title], [rating]].

    A rating is from -3 to 5: twice the stars less 5.
    """
    return _reader(is_test=False)


def test() -> Reader:
    """Make a reader of a tenth of the ratings, which :func:`train` leaves out."""
    return _reader(is_test=True)


def get_movie_title_dict() -> Mapping[str, int]:
    """Return the ids of the words of titles."""
    return known_of(_archive()).words


def movie_categories() -> Mapping[str, int]:
    """Return the ids of the categories of films."""
    return known_of(_archive()).categories


def max_movie_id() -> int:
    """Return the greatest number of a film."""
    return max(known_of(_archive()).movies)


def max_user_id() -> int:
    """Return the greatest number of a user."""
    return max(known_of(_archive()).users)


def max_job_id() -> int:
    """Return the greatest number of a job."""
    return max(user.job_id for user in known_of(_archive()).users.values())


def user_info() -> Mapping[int, UserInfo]:
    """Return all users by their number."""
    return known_of(_archive()).users


def movie_info() -> Mapping[int, MovieInfo]:
    """Return all films by their number."""
    return known_of(_archive()).movies


def fetch() -> None:
    """Download the data set."""
    _archive()


def convert(path: str) -> None:
    """Write both parts as RecordIO files of 1000 ratings each into the folder ``path``."""
    common.convert(path, train(), 1000, "movielens_train")
    common.convert(path, test(), 1000, "movielens_test")


def _archive() -> str:
    return common.download(URL, "movielens", MD5)


def _lines(archive: str, name: str) -> Iterator[list[str]]:
    with zipfile.ZipFile(archive) as package, package.open(f"ml-1m/{name}.dat") as lines:
        for line in lines:
            yield line.decode("latin-1").strip().split("::")


@lru_cache(maxsize=1)
def known_of(archive: str) -> Known:
    """What an archive says of films and users."""
    movies, users = {}, {}
    for number, title, categories in _lines(archive, "movies"):
        named = _TITLE.match(title)
        movies[int(number)] = MovieInfo(int(number), categories.split("|"), named[1] if named else title)
    for number, gender, age, job, _ in _lines(archive, "users"):
        users[int(number)] = UserInfo(int(number), gender == "M", age_table.index(int(age)), int(job))
    words = {word.lower() for movie in movies.values() for word in movie.title.split()}
    categories_seen = {each for movie in movies.values() for each in movie.categories}
    return Known(movies, users, _numbered(words), _numbered(categories_seen))


def _numbered(names: set[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(sorted(names))}


def _reader(*, is_test: bool) -> Reader:
    _archive()
    return lambda: ratings(_archive(), _TEST_SHARE, random.Random(0).random, is_test=is_test)


def ratings(archive: str, share: float, drawn: Callable[[], float], *, is_test: bool) -> Iterator[list[Any]]:
    """The ratings of an archive, of which about ``share`` are for test, as numbers ``drawn`` say."""
    known = known_of(archive)
    for user, movie, stars, _ in _lines(archive, "ratings"):
        if (drawn() < share) == is_test:
            about = known.users[int(user)].value() + known.movies[int(movie)].among(known)
            yield [*about, [float(stars) * 2 - 5.0]]
