"""Fixtures for pytest, which finds this module when the package is installed.

To set options of the cluster, override ``keelson_options`` in conftest.py::

    @pytest.fixture(scope="session")
    def keelson_options():
        return {"controllers": []}
"""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from ._cluster import Cluster, start_cluster


@pytest.fixture(scope="session")
def keelson_options() -> dict[str, Any]:
    """Arguments of ``start_cluster``."""
    return {}


@pytest.fixture(scope="session")
def keelson_cluster(keelson_options: dict[str, Any]) -> Iterator[Cluster]:
    """A cluster that all tests share. Create the objects in it that all tests need."""
    with start_cluster(**keelson_options) as cluster:
        yield cluster


@pytest.fixture
def keelson_fork(keelson_cluster: Cluster) -> Iterator[Cluster]:
    """A fork of ``keelson_cluster`` that ends with the test."""
    with keelson_cluster.fork() as fork:
        yield fork
