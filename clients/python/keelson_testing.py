"""A Kubernetes API server for tests: ``with start_cluster() as cluster: ...``.

Runs ``keelson serve --testing`` as a child process, which ends with this one. Needs only the
standard library and Keelson (Node 24.18.1 or newer).
docs/testing.md in Keelson's repository explains faults, the clock and the history.
"""

import base64
import json
import os
import shlex
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

__all__ = ["Cluster", "Fault", "KeelsonError", "start_cluster"]

#: Limits for the start and the stop of the child and for a request, in seconds. They are long
#: enough for a CI machine that stalls for a while.
START_SECONDS_MAX = 120
REQUEST_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60


class KeelsonError(Exception):
    """The server refused a request of the test, or it could not be started."""


def start_cluster(flags=(), command=None):
    """Starts a cluster and returns it when it is ready.

    ``command`` runs Keelson. By default it is the environment variable ``KEELSON``, or
    ``npx keelson``.
    """
    run = shlex.split(command or os.environ.get("KEELSON") or "npx keelson")
    child = subprocess.Popen(
        [*run, "serve", "--testing", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    # A child that prints nothing is killed when the timeout expires.
    timer = threading.Timer(START_SECONDS_MAX, child.kill)
    timer.daemon = True
    timer.start()
    try:
        path = _said(child.stdout)
        if path is None:
            raise KeelsonError(f"{run[0]} did not start: see its output on stderr")
        with open(path, encoding="utf-8") as file:
            return Cluster(json.load(file), child)
    except BaseException:
        _end(child, 0)
        raise
    finally:
        timer.cancel()


def _said(output):
    """Returns the path of the kubeconfig, or None if the output ends first.

    Ignores other lines, because npx may print some first.
    """
    for line in output:
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and "kubeconfig" in said:
            return said["kubeconfig"]
    return None


def _end(child, seconds):
    """Closes the child's standard input, which ends it. Kills it if it takes longer."""
    try:
        child.stdin.close()
        child.wait(seconds)
    except (OSError, subprocess.TimeoutExpired):
        child.kill()
        child.wait()
    finally:
        child.stdout.close()


class Cluster:
    """A running cluster. ``kubeconfig`` is a dict, ``kubeconfig_path()`` writes it to a file."""

    def __init__(self, kubeconfig, child=None):
        self.kubeconfig = kubeconfig
        self.url = kubeconfig["clusters"][0]["cluster"]["server"]
        self._child = child
        self._files = []
        self._opener = None
        try:
            # The cluster is local, so proxies of the environment do not apply.
            handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._tls()))
            self._opener = urllib.request.build_opener(*handlers)
        except BaseException:
            self._remove_files()
            raise

    def kubeconfig_path(self):
        """Writes the kubeconfig to a file, which is removed when the cluster stops."""
        return self._write(json.dumps(self.kubeconfig))

    def request(self, method, path, body=None, content_type="application/json"):
        """Sends one request to the API server and returns the status and the parsed body."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": content_type}, method=method)
        try:
            with self._opener.open(request, timeout=REQUEST_SECONDS_MAX) as answer:
                return answer.status, _parse(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _parse(error)

    def fault(self, match, effect):
        """Sets a fault and returns it.

        For example: ``fault({"verb": "update", "times": 1}, {"conflict": True})``
        """
        return Fault(self, self._control("POST", "faults", {"match": match, "effect": effect})["id"])

    def clear_faults(self):
        self._control("DELETE", "faults")

    def history(self, **match):
        """Returns all writes, or those that match: ``history(resource="configmaps", user="alice")``."""
        return self._control("GET", "history?" + urllib.parse.urlencode(match))["writes"]

    def advance_clock(self, by):
        """Moves the server's clock forward by a duration such as ``"1h"`` and returns its time."""
        return self._control("POST", "clock", {"advance": by})["now"]

    def snapshot(self):
        """Saves the current state and returns its id for ``restore``."""
        return self._control("POST", "snapshots")["id"]

    def restore(self, snapshot):
        self._control("POST", f"snapshots/{snapshot}/restore")

    def reset(self):
        """Restores a new cluster: its initial objects, no faults and no history."""
        self._control("POST", "reset")

    def fork(self):
        """Returns another cluster with the state of this one."""
        return Cluster(self._control("POST", "forks")["kubeconfig"])

    def wait_for(self, condition, timeout=30, what="the condition"):
        """Polls the condition and returns its first true value."""
        end = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise KeelsonError(f"{what} did not hold within {timeout} s")
            time.sleep(0.02)

    def stop(self):
        """Stops the cluster. For a fork, stops only the fork. Kills a server that takes too long."""
        child, opener = self._child, self._opener
        try:
            if child is not None:
                _end(child, STOP_SECONDS_MAX)
            elif opener is not None:
                self._control("POST", "stop")
        finally:
            self._child, self._opener = None, None
            self._remove_files()

    def _remove_files(self):
        for path in self._files:
            os.unlink(path)
        self._files = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _control(self, method, path, body=None):
        status, answer = self.request(method, "/keelson/testing/" + path, body)
        if status >= 300:
            raise KeelsonError(answer.get("message", status) if isinstance(answer, dict) else answer)
        return answer

    def _tls(self):
        cluster = self.kubeconfig["clusters"][0]["cluster"]
        user = self.kubeconfig["users"][0]["user"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        pair = [user["client-certificate-data"], user["client-key-data"]]
        path = self._write("".join(base64.b64decode(one).decode() for one in pair))
        context.load_cert_chain(path)
        return context

    def _write(self, text):
        handle, path = tempfile.mkstemp(prefix="keelson-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        self._files.append(path)
        return path


class Fault:
    """A fault that was set. ``with`` removes it at the end."""

    def __init__(self, cluster, identifier):
        self._cluster = cluster
        self._path = f"faults/{identifier}"

    @property
    def hits(self):
        """Number of requests that the fault was applied to."""
        return self._cluster._control("GET", self._path)["hits"]

    def off(self):
        self._cluster._control("DELETE", self._path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.off()


def _parse(answer):
    text = answer.read().decode()
    return json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text
