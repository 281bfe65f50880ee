"""Entries of the history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
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
    #: The subresource through which the manager owns the fields. Empty for the object itself.
    subresource: str
    #: Paths such as ``.spec.replicas``.
    fields: Sequence[str]


@dataclass(frozen=True)
class RecordedRequest:
    """The target and the sender of a recorded request."""

    #: The time according to the clock of the cluster.
    time: datetime
    #: ``create``, ``update`` or ``delete``. In the timeline, also ``refused``.
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
    #: The user of the request, or None if the user is not known.
    user: Optional[User]
    user_agent: str
    #: The field manager of the request or, if it specifies none, the default for its user agent.
    field_manager: str
    #: The resourceVersion of a write. Empty for a refused request.
    resource_version: str


@dataclass(frozen=True)
class Write(RecordedRequest):
    """An entry of the history."""

    #: The object after the write, or None if it was deleted.
    object: Optional[dict[str, Any]]
    #: The object before the write, or None if it was created.
    before: Optional[dict[str, Any]]
    owners: Sequence[FieldOwner]


@dataclass(frozen=True)
class FieldChange:
    """A change of a field. A value is None if the field is absent."""

    path: str
    before: Any = None
    after: Any = None


@dataclass(frozen=True)
class TimelineEntry(RecordedRequest):
    """A write or a refused request."""

    #: The fields that an update changed.
    changes: Sequence[FieldChange]
    #: The HTTP status of a refused request, or None.
    code: Optional[int]
    #: The reason in the response to a refused request. ``message`` is its message.
    reason: str
    message: str

    def __str__(self) -> str:
        user = "unknown user" if self.user is None else self.user.name
        target = f"{self.namespace}/{self.name}".lstrip("/")
        at = self.time.astimezone(timezone.utc).strftime("%H:%M:%S")
        line = f"{at} {user} {self.verb} {self.resource} {target}"
        if self.operation == "refused":
            return f"{line}: refused with {self.code} {self.reason}, {self.message}"
        changes = [f"{each.path}: {each.before!r} -> {each.after!r}" for each in self.changes]
        return f"{line}: {', '.join(changes)}" if changes else line


def parse_write(write: dict[str, Any]) -> Write:
    return Write(
        **_request_fields(write),
        object=write.get("object"),
        before=write.get("before"),
        owners=tuple(FieldOwner(**owner) for owner in write["owners"]),
    )


def parse_entry(entry: dict[str, Any]) -> TimelineEntry:
    return TimelineEntry(
        **_request_fields(entry),
        changes=tuple(FieldChange(**change) for change in entry.get("changes", ())),
        code=entry.get("code"),
        reason=entry.get("reason", ""),
        message=entry.get("message", ""),
    )


def _request_fields(entry: dict[str, Any]) -> dict[str, Any]:
    user = entry.get("user")
    names = ("operation", "verb", "group", "resource", "subresource", "namespace", "name", "source")
    return {
        **{name: entry[name] for name in names},
        "time": parse_time(entry["time"]),
        "user": None if user is None else User(user["name"], tuple(user["groups"])),
        "user_agent": entry["userAgent"],
        "field_manager": entry["fieldManager"],
        "resource_version": entry.get("resourceVersion", ""),
    }


def parse_time(text: str) -> datetime:
    # Python 3.10 and older do not parse the suffix Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
