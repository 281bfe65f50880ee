"""Requests to the server, with the client certificate of a kubeconfig."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
import urllib.error
import urllib.request
from typing import Any, Mapping, NamedTuple, Optional

#: Limit for a request, in seconds. It is long enough for a CI machine that stalls for a while.
REQUEST_SECONDS_MAX = 60


class Response(NamedTuple):
    """The response to a request."""

    #: The HTTP status.
    status: int
    #: The parsed JSON, or the text of a body that is not JSON.
    body: Any
    #: The headers. Empty for responses to ``Cluster.request``.
    headers: Mapping[str, str]


class Client:
    """Sends requests as the user of a kubeconfig."""

    def __init__(self, kubeconfig: dict[str, Any]) -> None:
        self.url: str = kubeconfig["clusters"][0]["cluster"]["server"]
        self.ssl_context = _ssl_context(kubeconfig)
        # The server is local, so the proxies of the environment do not apply.
        https = urllib.request.HTTPSHandler(context=self.ssl_context)
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), https)

    def send(
        self, method: str, path: str, body: Any = None, content_type: Optional[str] = None
    ) -> Response:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type or _content_type(method)}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with self._opener.open(request, timeout=REQUEST_SECONDS_MAX) as response:
                return _read(response.status, response)
        except urllib.error.HTTPError as error:
            with error:
                return _read(error.code, error)


def _read(status: int, response: Any) -> Response:
    text = response.read().decode()
    headers = response.headers
    is_json = "json" in headers.get("Content-Type", "")
    return Response(status, json.loads(text) if is_json else text, headers)


def _content_type(method: str) -> str:
    return "application/merge-patch+json" if method == "PATCH" else "application/json"


def _ssl_context(kubeconfig: dict[str, Any]) -> ssl.SSLContext:
    authority = kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"]
    user = kubeconfig["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
    pair = [user["client-certificate-data"], user["client-key-data"]]
    # The ssl module reads certificates only from files.
    handle, path = tempfile.mkstemp(prefix="keelson-")
    try:
        with os.fdopen(handle, "wb") as file:
            for each in pair:
                file.write(base64.b64decode(each))
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
    return context
