"""Faults: which requests they match, and what they do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

if TYPE_CHECKING:
    from types import TracebackType

    from ._cluster import Cluster


@dataclass(frozen=True)
class Match:
    """Selects the client requests that a fault applies to. Absent fields match all requests."""

    #: One or more of get, list, watch, create, update, patch, delete and deletecollection.
    verb: Optional[Union[str, Sequence[str]]] = None
    #: The plural, with or without the group: ``configmaps`` or ``deployments.apps``. A subresource
    #: is a separate resource: ``pods/status``. ``pods/*`` matches pods and all their subresources.
    resource: Optional[str] = None
    namespace: Optional[str] = None
    #: The name of the object. For a create, it is the name in the body.
    name: Optional[str] = None
    #: Number of matching requests that are served normally before the fault applies.
    after: Optional[int] = None
    #: Number of requests that the fault applies to. By default, it applies to all further requests.
    times: Optional[int] = None

    def _encode(self) -> dict[str, Any]:
        return _without_none(asdict(self))


@dataclass(frozen=True)
class Fail:
    """Rejects the request. The request has no effect."""

    #: The HTTP status, from 400 to 599.
    status: int
    message: Optional[str] = None
    #: The reason of the Status object. The default is the usual reason for the status.
    reason: Optional[str] = None
    #: The value of the Retry-After header.
    retry_after_seconds: Optional[int] = None

    def _encode(self) -> dict[str, Any]:
        fields = asdict(self)
        fields["retryAfterSeconds"] = fields.pop("retry_after_seconds")
        return _without_none(fields)


@dataclass(frozen=True)
class Conflict:
    """Rejects updates, patches and deletes with 409.

    This happens if another client has changed the object since it was read.
    """

    def _encode(self) -> dict[str, Any]:
        return {"conflict": True}


@dataclass(frozen=True)
class Delay:
    """Delays the request, by a timedelta or by seconds."""

    by: Union[timedelta, float]

    def _encode(self) -> dict[str, Any]:
        seconds = self.by.total_seconds() if isinstance(self.by, timedelta) else self.by
        return {"delayMs": seconds * 1000}


@dataclass(frozen=True)
class DropConnection:
    """Closes the connection."""

    #: Whether the request is executed first, so that only the response is lost. Otherwise the
    #: request has no effect.
    after_request: bool = False

    def _encode(self) -> dict[str, Any]:
        return {"dropConnection": "after" if self.after_request else "before"}


@dataclass(frozen=True)
class CloseWatch:
    """Ends open and new watches."""

    #: Number of further events after which each watch ends.
    after_events: int = 0

    def _encode(self) -> dict[str, Any]:
        return {"closeWatch": {"afterEvents": self.after_events}}


@dataclass(frozen=True)
class StaleRead:
    """Serves reads from the state at the time when the fault was set."""

    def _encode(self) -> dict[str, Any]:
        return {"staleRead": True}


Effect = Union[Fail, Conflict, Delay, DropConnection, CloseWatch, StaleRead]


class Fault:
    """A fault that was set. ``with`` removes it at the end of the block."""

    def __init__(self, cluster: Cluster, identifier: str) -> None:
        self._cluster = cluster
        self._path = f"faults/{identifier}"

    @property
    def hits(self) -> int:
        """Number of requests that the fault was applied to."""
        hits: int = self._cluster._control("GET", self._path)["hits"]
        return hits

    def off(self) -> None:
        """Removes the fault."""
        self._cluster._control("DELETE", self._path)

    def __enter__(self) -> Fault:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.off()


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
