"""Clusters and snapshots."""

from __future__ import annotations

import json
import os
import ssl
import tempfile
import time
import urllib.parse
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Callable, Optional, Sequence, TypeVar, Union

from ._errors import KeelsonError
from ._faults import Effect, Fault, Match
from ._history import TimelineEntry, User, Write, parse_entry, parse_time, parse_write
from ._http import Client, Response
from ._process import Process

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")

#: Time between two checks of ``wait_for``, in seconds.
POLL_SECONDS = 0.025
#: Number of timeline entries that the error of ``wait_for`` contains.
EXPLAINED_MAX = 10


def start_cluster(
    *,
    kubernetes: Optional[str] = None,
    controllers: Optional[Sequence[str]] = None,
    now: Optional[datetime] = None,
    flags: Sequence[str] = (),
    command: Optional[str] = None,
) -> Cluster:
    """Starts a cluster and returns it when it is ready.

    ``kubernetes`` is the Kubernetes release of the server, such as ``1.33`` or ``latest``.
    ``controllers`` are the names of the controllers to run. By default, all run; an empty list runs
    none. ``now`` is the time at which the clock starts. ``flags`` are further flags of ``keelson
    serve``. ``command`` runs Keelson. By default, it is the environment variable ``KEELSON``, or
    ``npx --no-install keelson``, which runs the npm package that is installed in the project.
    """
    arguments = list(flags)
    if kubernetes is not None:
        arguments.append("--kubernetes=" + kubernetes)
    if controllers is not None:
        arguments.append("--controllers=" + ",".join(controllers))
    if now is not None:
        arguments.append("--testing-now=" + now.astimezone(timezone.utc).isoformat())
    process = Process(command, arguments)
    ready = process.wait_until_ready()
    try:
        with open(ready["kubeconfig"], encoding="utf-8") as file:
            return Cluster(json.load(file), ready.get("version", ""), process)
    except BaseException:
        process.end(0)
        raise


class Snapshot:
    """A state of a cluster. ``Cluster.restore`` restores it."""

    def __init__(self, cluster: Cluster, identifier: str) -> None:
        self._cluster = cluster
        self._path = f"snapshots/{identifier}"

    def delete(self) -> None:
        """Removes the snapshot from the server."""
        self._cluster._control("DELETE", self._path)


class Cluster:
    """A running API server. ``with`` stops it at the end of the block."""

    #: The address of the server, such as ``https://127.0.0.1:34567``.
    url: str
    #: A kubeconfig for a member of system:masters, for ``new_client_from_config_dict``.
    kubeconfig: dict[str, Any]
    #: The version of Keelson that runs.
    server_version: str

    def __init__(
        self, kubeconfig: dict[str, Any], version: str, process: Optional[Process] = None
    ) -> None:
        self.kubeconfig = kubeconfig
        self.server_version = version
        self._admin = Client(kubeconfig)
        self.url = self._admin.url
        # A fork has no process, because it runs in the process of its origin.
        self._process = process
        self._users: dict[tuple[str, ...], Client] = {}
        self._files: list[str] = []
        self._is_stopped = False

    @property
    def ssl_context(self) -> ssl.SSLContext:
        """The TLS settings of a client with the credentials of a member of system:masters."""
        return self._admin.ssl_context

    def kubeconfig_path(self) -> str:
        """Writes the kubeconfig to a file, which is removed when the cluster stops."""
        handle, path = tempfile.mkstemp(prefix="keelson-kubeconfig-")
        self._files.append(path)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(self.kubeconfig, file)
        return path

    def kubeconfig_for(self, user: User) -> dict[str, Any]:
        """Returns a kubeconfig with a client certificate for another user."""
        body = user._encode()
        kubeconfig: dict[str, Any] = self._control("POST", "kubeconfigs", body)["kubeconfig"]
        return kubeconfig

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: Optional[str] = None,
        user: Optional[User] = None,
    ) -> Response:
        """Sends a request on behalf of the test, without faults.

        The type of the body is JSON or, for PATCH, a JSON merge patch, unless ``content_type`` is
        set. Any status is returned as a response.
        """
        request: dict[str, Any] = {"method": method, "path": path}
        if body is not None:
            request["body"] = body
        if content_type is not None:
            request["contentType"] = content_type
        if user is not None:
            request["user"] = user._encode()
        response = self._control("POST", "requests", request)
        return Response(response["status"], response["body"], {})

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: Optional[str] = None,
        user: Optional[User] = None,
    ) -> Response:
        """Sends a request like a client, over the network, so that faults apply."""
        client = self._admin if user is None else self._client_for(user)
        return client.send(method, path, body, content_type)

    def apply(
        self, source: Union[str, os.PathLike[str], dict[str, Any], Sequence[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """Applies manifests and returns the applied objects in the order of the manifests.

        ``source`` is the path of a folder or file, a text of YAML documents or JSON, an object or a
        list of objects. A text contains a line break or begins with ``{`` or ``[``. Namespaces and
        CustomResourceDefinitions are applied first.
        """
        body: dict[str, Any]
        if isinstance(source, os.PathLike):
            body = {"path": os.path.abspath(source)}
        elif isinstance(source, str):
            is_text = "\n" in source or source.lstrip()[:1] in ("{", "[")
            body = {"text": source} if is_text else {"path": os.path.abspath(source)}
        else:
            body = {"objects": [source] if isinstance(source, dict) else list(source)}
        objects: list[dict[str, Any]] = self._control("POST", "apply", body)["objects"]
        return objects

    def fault(self, match: Match, effect: Effect) -> Fault:
        """Applies the effect to all matching requests of clients.

        The controllers in the server, ``request`` and ``apply`` are not affected. For example:
        ``cluster.fault(Match(verb="create", times=1), Fail(503))``
        """
        body = {"match": match._encode(), "effect": effect._encode()}
        return Fault(self, self._control("POST", "faults", body)["id"])

    def clear_faults(self) -> None:
        """Removes all faults."""
        self._control("DELETE", "faults")

    def history(self, **filters: Optional[str]) -> list[Write]:
        """Returns the writes that match, the oldest first.

        The filters are ``resource``, ``group``, ``namespace``, ``name``, ``user``, ``verb``,
        ``source`` and ``after``, which is a resourceVersion.
        """
        writes = self._control("GET", "history?" + _query(filters))["writes"]
        return [parse_write(write) for write in writes]

    def timeline(self, **filters: Optional[str]) -> list[TimelineEntry]:
        """Returns the writes and the refused requests that match, the oldest first.

        The filters are those of ``history``.
        """
        entries = self._control("GET", "timeline?" + _query(filters))["entries"]
        return [parse_entry(entry) for entry in entries]

    def now(self) -> datetime:
        """Returns the time of the server's clock."""
        return parse_time(self._control("GET", "clock")["now"])

    def advance_clock(self, by: Union[timedelta, str]) -> datetime:
        """Moves the clock forward, by a timedelta or a duration such as ``"1h30m"``.

        Returns the new time. Events and tokens that are due have expired by then. Use
        ``wait_for`` to wait for the work of controllers.
        """
        amount = by if isinstance(by, str) else by.total_seconds() * 1000
        return parse_time(self._control("POST", "clock", {"advance": amount})["now"])

    def snapshot(self) -> Snapshot:
        """Saves the current state."""
        return Snapshot(self, self._control("POST", "snapshots")["id"])

    def restore(self, snapshot: Snapshot) -> None:
        """Restores a snapshot with ordinary writes, so that controllers can continue to run."""
        if snapshot._cluster is not self:
            raise KeelsonError("the snapshot belongs to another cluster")
        self._control("POST", snapshot._path + "/restore")

    def reset(self) -> None:
        """Restores the state before the first write of the test.

        Removes all faults, snapshots and entries of the history. The clock does not change.
        """
        self._control("POST", "reset")

    def fork(self) -> Cluster:
        """Returns another cluster that starts with the objects and the clock of this one."""
        return Cluster(self._control("POST", "forks")["kubeconfig"], self.server_version)

    def wait_for(
        self,
        condition: Callable[[], T],
        *,
        timeout: float = 30,
        what: str = "the condition",
    ) -> T:
        """Calls the condition several times a second, and returns its first true value.

        An exception of the condition does not end the wait, which fails after ``timeout`` seconds.
        The error contains ``what``, which names the awaited state, and the last writes and refused
        requests.
        """
        end = time.monotonic() + timeout
        while True:
            cause: Optional[Exception] = None
            try:
                value = condition()
                if value:
                    return value
                last = f"the last value is {value!r}"
            except Exception as error:
                cause, last = error, f"the last error is {error!r}"
            if time.monotonic() > end:
                why = f"waited {timeout} s for {what}: {last}{self._explain()}"
                raise KeelsonError(why) from cause
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        """Stops the cluster. For a fork, stops only the fork.

        A server that does not stop within a minute is killed.
        """
        if self._is_stopped:
            return
        self._is_stopped = True
        try:
            if self._process is not None:
                self._process.end()
            else:
                self._control("POST", "stop")
        finally:
            for path in self._files:
                os.unlink(path)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    def _explain(self) -> str:
        """Returns lines with the last entries of the timeline.

        Entries of the server itself seldom explain why a condition is not met.
        """
        try:
            entries = [entry for entry in self.timeline() if entry.source != "server"]
        except (KeelsonError, OSError):
            return ""
        if not entries:
            return ""
        lines = "".join(f"\n    {entry}" for entry in entries[-EXPLAINED_MAX:])
        return f"\n  the last writes and refused requests:{lines}"

    def _client_for(self, user: User) -> Client:
        key = (user.name, *user.groups)
        if key not in self._users:
            self._users[key] = Client(self.kubeconfig_for(user))
        return self._users[key]

    def _control(self, method: str, path: str, body: Any = None) -> Any:
        status, answer, _ = self._admin.send(method, "/keelson/testing/" + path, body)
        if status >= 300:
            message = answer.get("message", "") if isinstance(answer, dict) else answer
            raise KeelsonError(f"Keelson responded with status {status}: {message}")
        return answer


def _query(filters: dict[str, Optional[str]]) -> str:
    return urllib.parse.urlencode({k: v for k, v in filters.items() if v is not None})
