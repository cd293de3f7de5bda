"""Door: who may come in over HTTP, asked of the gate (auth.py) where there is one, and told to people.

It must never know what lies behind it. Guarantee: whoever is turned away is answered, counted and told to the
log, with why and never with what they said.
"""

from __future__ import annotations

import logging
import math
import socket
import time
from ipaddress import IPv4Address, IPv6Address, ip_address

from aiohttp import hdrs, web

from paddle._pserver.service.report import Door
from paddle._pserver.trust import nearby
from paddle._pserver.trust.auth import Admitted, Challenge, Denied, Gate, place_of, plain

_log = logging.getLogger("paddle.pserver")


def place_asked(request: web.Request) -> tuple[str, int]:
    """The address and port at which a request came in."""
    name = request.transport.get_extra_info("sockname") if request.transport else None
    if not name:
        return "", 0
    address, port = nearby.place(name)
    return plain(address), port


def _peer(request: web.Request) -> str:
    if request.transport is None:
        return ""
    if isinstance(request.transport.get_extra_info("sockname"), bytes):
        return nearby.HERE
    name = request.transport.get_extra_info("peername")
    return plain(name[0]) if name else ""


def _authorization(request: web.Request) -> str | None:
    given = request.headers.getall(hdrs.AUTHORIZATION, [])
    return ", ".join(given) if given else None


def admit(gate: Gate | None, request: web.Request) -> dict[str, str]:
    """The headers with which a trainer is let in; raises an answer for one that is not."""
    if gate is None:
        return {}
    peer, (address, port) = _peer(request), place_asked(request)
    place = place_of(gate.certificate if request.secure else address, port)
    match gate.knock(_authorization(request), peer, place, time.monotonic()):
        case Admitted(header):
            return {hdrs.AUTHENTICATION_INFO: header}
        case Challenge(header):
            raise web.HTTPUnauthorized(
                headers={hdrs.WWW_AUTHENTICATE: header}, text="prove that you have the job's token\n"
            )
        case Denied("too_often", retry_s):
            raise web.HTTPTooManyRequests(
                headers={hdrs.RETRY_AFTER: str(math.ceil(retry_s))}, text="too often without the token\n"
            )
        case Denied(reason):
            _log.warning("refused a trainer at %s: %s", peer, reason.replace("_", " "))
            raise web.HTTPForbidden(text=f"{reason.replace('_', ' ')}\n")


def check_look(gate: Gate | None, request: web.Request) -> None:
    """Raise an answer for somebody who may not look.

    Who is on this machine may: who comes from a loopback address, or from the one that is asked, and asks for
    it by a name of this machine.
    """
    peer, (own, _) = _peer(request), place_asked(request)
    is_here = not peer or peer == own or ip_address(peer).is_loopback
    if is_here and is_of_here(request.headers.get(hdrs.HOST, ""), own):
        return
    if gate is None:
        raise web.HTTPForbidden(
            text="without a token this is shown on the pserver's own machine only, by its address, its name "
            "or localhost: see docs/metrics.md\n"
        )
    if not gate.may_look(_authorization(request), peer, time.monotonic()):
        raise web.HTTPUnauthorized(
            headers={hdrs.WWW_AUTHENTICATE: 'Basic realm="pserver", Bearer realm="pserver"'},
            text="this wants the view key, which `paddle view_key --token_file=FILE` prints\n",
        )


def is_of_here(host: str, own: str) -> bool:
    """Whether ``host``, of a header by somebody of this machine, names it at its address ``own``.

    A page of any site in a browser here can ask for its own name, which then leads here: so it reads the
    answer. Who writes an address or ``localhost`` is no such page; at a loopback address there are no others.
    """
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    name = name.rstrip(".").lower()
    if not name or name == "localhost" or name.endswith(".localhost"):
        return True
    address = _ip(name)
    if address is not None:
        return True
    its_own = socket.gethostname().lower()
    is_only_here = (bound := _ip(own)) is not None and bound.is_loopback
    return not is_only_here and name in (its_own, its_own.partition(".")[0])


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def seen(gate: Gate | None) -> Door:
    """What the gate has counted."""
    if gate is None:
        return Door()
    denied = {str(reason): count for reason, count in gate.denied.items()}
    return Door(locked=True, challenges=gate.challenges, admitted=gate.admitted, denied=denied)
