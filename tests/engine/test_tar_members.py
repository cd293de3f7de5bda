"""Headers of tar files: read as Python's own reader does, of what is honest; the rest is refused."""

from __future__ import annotations

import io
import tarfile
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddle._engine.checkpoint.tar_members import members
from paddle._engine.errors import BadModelFile

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=200).filter(
    lambda name: not name.endswith("/")
)
MOST = 1 << 20  # bytes of memory that a few headers may take


def tar(*entries: tuple[tarfile.TarInfo | str, bytes], form: int = tarfile.GNU_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for what, content in entries:
            info = tarfile.TarInfo(what) if isinstance(what, str) else what
            info.size = len(content) or info.size
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def header(name: str = "w", size: int = 0, kind: bytes = b"0", form: int = tarfile.GNU_FORMAT) -> bytes:
    """Of a member alone, whatever comes behind it."""
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(form)


@example([("\n\x80", b"")], tarfile.PAX_FORMAT)
@example([("9 size=5\n\x80", b"")], tarfile.PAX_FORMAT)
@given(st.lists(st.tuples(NAMES, st.binary(max_size=1200)), max_size=4), st.sampled_from(FORMATS[1:]))
def test_what_python_writes_is_read_as_python_reads_it(entries: list[tuple[str, bytes]], form: int) -> None:
    data = tar(*entries, form=form)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        expected = [(info.name, info.offset_data, info.size) for info in archive if info.isreg()]
    found = [(one.name, one.start, one.size) for one in members(io.BytesIO(data))]
    assert [(name.rstrip("/"), *rest) for name, *rest in found] == expected


def test_a_long_name_of_ustar_has_two_parts() -> None:
    name = f"{'a' * 120}/{'b' * 90}"
    (found,) = members(io.BytesIO(tar((name, b"x"), form=tarfile.USTAR_FORMAT)))
    assert found.name == name


def test_it_may_begin_anywhere_in_a_file() -> None:
    file = io.BytesIO(b"before" + tar(("w", b"values")))
    file.seek(6)
    (found,) = members(file)
    file.seek(found.start)
    assert file.read(found.size) == b"values"


def test_folders_links_and_devices_are_no_members() -> None:
    kinds = (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE)
    data = b"".join(header(kind=kind) for kind in kinds)
    (found,) = members(io.BytesIO(data + tar(("w", b"x"))))
    assert found.start == len(data) + 512


def test_a_file_larger_than_octal_digits_say_is_read_where_it_is_there() -> None:
    class Large(io.BytesIO):
        """One of so many bytes, of which only the beginning is kept."""

        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(size) or (b"\0" if self.tell() < size_of_it + 2048 else b"")

    size_of_it = 1 << 34
    for form in FORMATS[1:]:
        one = next(members(Large(header(size=size_of_it, form=form))))
        assert (one.name, one.size) == ("w", size_of_it)


HOSTILE = {
    "nothing": b"",
    "no tar": b"PK\x03\x04" + b"x" * 1000,
    "a text": b"w = 1\n" * 200,
    "half a header": header()[:300],
    "a sum that is wrong": header().replace(b"w", b"v", 1),
    "more than there is": header(size=1 << 40) + bytes(1024),
    "more than any disk has": header(size=1 << 80) + bytes(1024),
    "less than nothing": header().replace(b"00000000000\0", b"-0000000001\0", 1),
    "a name of a gigabyte": header(size=1 << 30, kind=b"L") + bytes(1 << 16),
    "a name that is too long": header(size=1 << 15, kind=b"L") + bytes(1 << 16),
    "holes of GNU": header(kind=b"S") + bytes(1024),
    "holes of PAX": header(size=512, kind=b"x")
    + b"22 GNU.sparse.major=1\n".ljust(512, b"\0")
    + header()
    + bytes(1024),
    "a size that is none": header(size=512, kind=b"x") + b"10 size=-1\n".ljust(512, b"\0") + header(),
    "a size of digits": header(size=1024, kind=b"x")
    + b"9 size="
    + b"9" * 900
    + b"\n"
    + bytes(116)
    + header(),
    "a size without end": header(size=512, kind=b"x")
    + b"9 size=9999999999999999999\n".ljust(512, b"\0")
    + header()
    + bytes(1024),
    "a name that is not a text": header(size=512, kind=b"L") + b"\xff".ljust(512, b"\0") + header(),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_is_refused_and_no_room_is_made_for_it(data: bytes) -> None:
    file = io.BytesIO(data)
    tracemalloc.start()
    try:
        with pytest.raises(BadModelFile):
            list(members(file))
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


@given(st.data())
def test_whatever_the_bytes_are_they_are_members_or_refused(data: st.DataObject) -> None:
    whole = bytearray(tar(("w" * 150, bytes(700)), ("w.protobuf", b"x" * 30), form=tarfile.PAX_FORMAT))
    for _ in range(data.draw(st.integers(0, 5))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    del whole[data.draw(st.integers(0, len(whole))) :]
    try:
        found = list(members(io.BytesIO(whole)))
    except BadModelFile:
        return
    assert all(one.start + one.size <= len(whole) for one in found)
