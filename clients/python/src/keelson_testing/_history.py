"""Entries of the history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Optional, Sequence


@dataclass(frozen=True)
class User:
    """A user of the server. RBAC determines the permissions of the user."""

    name: str
    groups: Sequence[str] = ()

    def _encode(self) -> dict[str, Any]:
        return {"name": self.name, "groups": list(self.groups)}


@dataclass(frozen=True)
class FieldOwner:
    """The fields of an object that a manager owns."""

    manager: str
    operation: str
    #: Empty for the object itself.
    subresource: str
    #: Paths such as ``.spec.replicas``.
    fields: Sequence[str]


@dataclass(frozen=True)
class Write:
    """An entry of the history."""

    resource_version: str
    #: The time according to the clock of the cluster.
    time: datetime
    #: ``create``, ``update`` or ``delete``.
    operation: str
    #: The verb of the request. Empty if no request made the change.
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    #: ``client``; ``test`` for ``request``, ``apply`` and ``restore``; ``server`` for the server
    #: itself and its controllers.
    source: str
    #: None if no request made the change.
    user: Optional[User]
    user_agent: str
    #: The object after the write, or None if it was deleted.
    object: Optional[dict[str, Any]]
    #: The object before the write, or None if it was created.
    before: Optional[dict[str, Any]]
    owners: Sequence[FieldOwner]


def parse_write(write: dict[str, Any]) -> Write:
    user = write.get("user")
    return Write(
        resource_version=write["resourceVersion"],
        time=parse_time(write["time"]),
        operation=write["operation"],
        verb=write["verb"],
        group=write["group"],
        resource=write["resource"],
        subresource=write["subresource"],
        namespace=write["namespace"],
        name=write["name"],
        source=write["source"],
        user=None if user is None else User(user["name"], tuple(user["groups"])),
        user_agent=write["userAgent"],
        object=write.get("object"),
        before=write.get("before"),
        owners=tuple(FieldOwner(**owner) for owner in write["owners"]),
    )


def parse_time(text: str) -> datetime:
    # Python 3.10 and older do not parse the suffix Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
