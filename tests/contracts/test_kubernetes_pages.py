"""docs/kubernetes.md and docs/kubernetes_cn.md say the same, and name flags and files that are there; their
commands are typed by tests/kubernetes/test_page.py."""

from __future__ import annotations

import re

from paddle._launch.flags import BY_CONF_NAME, BY_NAME

from .drawn import ROOT

ENGLISH, CHINESE = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("kubernetes", "kubernetes_cn")
)
OF_OTHERS = {"dry", "follow", "wait", "role", "name", "selector"}  # kubectl's, fab's and a pod's


def test_both_have_the_same_commands_in_the_same_order() -> None:
    commands = re.findall(r"^ *```bash\n.*?^ *```", ENGLISH, re.MULTILINE | re.DOTALL)
    assert len(commands) == 9
    assert commands == re.findall(r"^ *```bash\n.*?^ *```", CHINESE, re.MULTILINE | re.DOTALL)


def test_both_have_the_same_sections_and_rows() -> None:
    for mark in ("## ", "|", "- "):
        lines = [sum(line.startswith(mark) for line in page.splitlines()) for page in (ENGLISH, CHINESE)]
        assert lines[0] == lines[1] > 0, mark


def test_flags_and_names_of_conf_py_that_they_name_exist() -> None:
    for page in (ENGLISH, CHINESE):
        assert set(re.findall(r"--(\w+)", page)) <= BY_NAME.keys() | OF_OTHERS
        assert {"PLATFORM", "KUBERNETES_IMAGE", "KUBERNETES_NAMESPACE"} <= BY_CONF_NAME.keys()


def test_both_name_the_files_to_use_by_hand_and_how_all_of_it_is_tried() -> None:
    folder = ROOT / "cluster" / "kubernetes"
    for page in (ENGLISH, CHINESE):
        for name in ("role.yaml", "word2vec.yaml", "ssh_servers.yaml", "Dockerfile"):
            assert f"](../cluster/kubernetes/{name})" in page
            assert (folder / name).is_file()
        assert "sh cluster/kubernetes/test.sh" in page
