"""A Kubernetes API server for tests.

``start_cluster`` runs ``keelson serve --testing`` as a child process, which ends with this one and
keeps all objects in memory. A test can fork the cluster, restore snapshots, make requests fail,
move the clock of the server, and read a history of all writes::

    with start_cluster() as cluster:
        client = kubernetes.config.new_client_from_config_dict(cluster.kubeconfig)

The package needs Keelson, which runs on Node 24.18.1 or newer, and only the standard library of
Python. With pytest, use the fixtures ``keelson_cluster`` and ``keelson_fork``. The page
docs/testing.md of Keelson explains faults, the clock and the history.
"""

from ._cluster import Cluster, Snapshot, start_cluster
from ._errors import KeelsonError
from ._faults import (
    CloseWatch,
    Conflict,
    Delay,
    DropConnection,
    Effect,
    Fail,
    Fault,
    Match,
    StaleRead,
)
from ._history import FieldChange, FieldOwner, TimelineEntry, User, Write
from ._http import Response

__all__ = [
    "CloseWatch",
    "Cluster",
    "Conflict",
    "Delay",
    "DropConnection",
    "Effect",
    "Fail",
    "Fault",
    "FieldChange",
    "FieldOwner",
    "KeelsonError",
    "Match",
    "Response",
    "Snapshot",
    "StaleRead",
    "TimelineEntry",
    "User",
    "Write",
    "start_cluster",
]
