"""Tests the fixtures of pytest, which finds them when the wheel is installed."""

from datetime import datetime, timezone

import pytest

PATH = "/api/v1/namespaces/default/configmaps"
BODY = {"metadata": {"name": "prices"}}


@pytest.fixture(scope="session")
def keelson_options():
    return {"now": datetime(2030, 1, 1, tzinfo=timezone.utc)}


@pytest.mark.parametrize("_", ["first", "second"])
def test_each_test_has_its_own_fork(keelson_fork, _):
    assert keelson_fork.request("POST", PATH, BODY).status == 201


def test_a_fork_does_not_change_the_shared_cluster(keelson_cluster, keelson_fork):
    assert keelson_fork.request("POST", PATH, BODY).status == 201
    assert keelson_cluster.request("GET", PATH + "/prices").status == 404
    assert keelson_cluster.now().year == 2030
