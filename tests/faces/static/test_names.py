"""Names through which programs of the 2.x generation reach what is at home elsewhere."""

from __future__ import annotations

import paddle


def test_the_end_of_data_has_one_name_wherever_programs_look_for_it() -> None:
    found = {
        paddle.common_ops_import.core.EOFException,
        paddle.core.EOFException,
        paddle.fluid.core.EOFException,
    }
    assert len(found) == 1
    assert issubclass(found.pop(), Exception)
