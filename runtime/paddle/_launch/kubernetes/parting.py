"""How long a pod may be gone, or about to go, before its role counts as lost.

Pure: the time is an argument. It must never know how pods are looked at. Guarantee: what is to be told is
given once before the pod stands well again.

A StatefulSet makes a pod anew only once the one before is gone, and the machine that it was on says so. So a
parameter server's may take longer, and one that stays on its way out is told before it is given up.
"""

from __future__ import annotations

from collections.abc import Mapping

from paddle._launch.kubernetes.watching import PodState

GONE_S: Mapping[str, float] = {"trainer": 15.0, "pserver": 120.0}
GOING_S: Mapping[str, float] = {"trainer": 60.0, "pserver": 300.0}
_TOLD_S: Mapping[str, float] = {"gone": 5.0, "going": 30.0}
_FORCE = "{kubectl} delete pod {name} --grace-period=0 --force"


class Parting:
    """Of a pod of ``kind``. ``typed``: how a call of kubectl begins that means its namespace."""

    def __init__(self, kind: str, typed: str = "kubectl") -> None:
        self._kind, self._typed = kind, typed
        self._how, self._since = "", 0.0  # "gone" or "going"
        self._is_told = False

    @property
    def is_gone(self) -> bool:
        """Whether it was there, and is not listed."""
        return self._how == "gone"

    def look(self, name: str, state: PodState | None, now: float, why: str = "") -> tuple[str, str]:
        """Take how the pod ``name`` stands, None where it is not listed; gives what is to be told, and why it
        is lost. ``why``: in words, why none takes its place."""
        how = "gone" if state is None else "going" if state.is_leaving else ""
        if how != self._how:
            self._how, self._since, self._is_told = how, now, False
        past = now - self._since
        if how == "gone":
            return self._of_gone(name, past, why)
        return self._of_going(name, past) if how else ("", "")

    def _of_gone(self, name: str, past: float, why: str) -> tuple[str, str]:
        limit = GONE_S[self._kind]
        if why or past > limit:
            return "", f"its pod {name} is gone: {why or f'no other was made within {limit:.0f} s'}"
        what = f"its pod {name} is gone; another is to take its place within {limit:.0f} s"
        return self._once(what if self._kind == "pserver" and past > _TOLD_S["gone"] else ""), ""

    def _of_going(self, name: str, past: float) -> tuple[str, str]:
        limit = GOING_S[self._kind]
        if past > limit:
            return "", f"its pod {name} was to end and did not within {limit:.0f} s: its machine may be lost"
        force = _FORCE.format(kubectl=self._typed, name=name)
        what = (
            f"its pod {name} is to end and has not for {past:.0f} s; its machine may be lost. Where it is, "
            f"`{force}` lets another take its place. It may take {limit:.0f} s in all"
        )
        return self._once(what if self._kind == "pserver" and past > _TOLD_S["going"] else ""), ""

    def _once(self, text: str) -> str:
        if not text or self._is_told:
            return ""
        self._is_told = True
        return text
