"""Files of this machine, as fleet's file systems are asked for them."""

import pytest

from paddle.distributed.fleet.utils.fs import LocalFS


def test_folders_and_files_are_made_listed_moved_and_removed(tmp_path) -> None:
    files, root = LocalFS(), tmp_path / "a" / "b"
    files.mkdirs(str(root))
    files.touch(str(root / "one"))
    files.mkdirs(str(root / "sub"))
    assert files.ls_dir(str(root)) == (["sub"], ["one"])
    assert files.list_dirs(str(root)) == ["sub"] and files.ls_dir(str(tmp_path / "none")) == ([], [])
    files.mv(str(root / "one"), str(root / "two"))
    assert files.is_file(str(root / "two")) and not files.is_exist(str(root / "one"))
    files.touch(str(root / "one"))
    with pytest.raises(FileExistsError):
        files.mv(str(root / "one"), str(root / "two"))
    files.mv(str(root / "one"), str(root / "two"), overwrite=True)
    files.delete(str(root))
    assert not files.is_dir(str(root))
    with pytest.raises(FileNotFoundError):
        files.mv(str(root), str(tmp_path / "c"))
