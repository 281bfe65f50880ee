"""Runs ../cases.json with the Python library."""

import json
import time
import unittest
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path

import keelson_testing
from keelson_testing import User, start_cluster

FOLDER = Path(__file__).resolve().parent.parent
CASES = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
WATCH_SECONDS_MAX = 60


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = start_cluster()
        cls.addClassCleanup(cls.shared.stop)

    def run_case(self, case):
        start = case.get("start")
        if "startError" in case:
            with self.assertRaisesRegex(keelson_testing.KeelsonError, case["startError"]):
                start_cluster(**options_of(start))
            return
        cluster = self.shared.fork() if start is None else start_cluster(**options_of(start))
        self.addCleanup(cluster.stop)
        self.clusters, self.faults, self.snapshots = {"cluster": cluster}, {}, {}
        for step in case["steps"]:
            step = dict(step)
            call, error = step.pop("call"), step.pop("error", None)
            target = self.clusters[step.pop("on", "cluster")]
            perform = getattr(self, "call_" + call)
            if error is None:
                perform(target, **step)
            else:
                with self.assertRaises(keelson_testing.KeelsonError) as raised:
                    perform(target, **step)
                self.assertIn(error, str(raised.exception))

    def call_request(self, cluster, path, status, method="GET", body=None, user=None, expect=None):
        response = cluster.request(method, path, body, user=user and User(**user))
        self.check(response, status, expect)

    def call_send(
        self,
        cluster,
        path,
        status=None,
        method="GET",
        body=None,
        user=None,
        expect=None,
        breaks=False,
        atLeastMs=0,
        retryAfter=None,
    ):
        began = time.monotonic()
        if breaks:
            with self.assertRaises(OSError):
                cluster.send(method, path, body)
            return
        response = cluster.send(method, path, body, user=user and User(**user))
        self.assertGreaterEqual((time.monotonic() - began) * 1000, atLeastMs)
        self.check(response, status, expect)
        if retryAfter is not None:
            self.assertEqual(response.headers["Retry-After"], retryAfter)

    def check(self, response, status, expect):
        self.assertEqual(response.status, status, response.body)
        if expect is not None:
            self.assert_includes(response.body, expect)

    def call_watch(self, cluster, path, events):
        https = urllib.request.HTTPSHandler(context=cluster.ssl_context)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), https)
        with opener.open(cluster.url + path, timeout=WATCH_SECONDS_MAX) as response:
            self.assertEqual(len(response.read().splitlines()), events)

    def call_fault(self, cluster, match, effect, **names):
        match = dict(match)
        verbs = match.pop("verbs", None)
        selected = keelson_testing.Match(verb=verbs, **match)
        self.faults[names.get("as")] = cluster.fault(selected, effect_of(effect))

    def call_hits(self, _, fault, count):
        self.assertEqual(self.faults[fault].hits, count)

    def call_off(self, _, fault):
        self.faults[fault].off()

    def call_clearFaults(self, cluster):
        cluster.clear_faults()

    def call_reset(self, cluster):
        cluster.reset()

    def call_stop(self, cluster):
        cluster.stop()

    def call_fork(self, cluster, **names):
        fork = self.clusters[names["as"]] = cluster.fork()
        self.addCleanup(fork.stop)

    def call_snapshot(self, cluster, **names):
        self.snapshots[names["as"]] = cluster.snapshot()

    def call_restore(self, cluster, snapshot):
        cluster.restore(self.snapshots[snapshot])

    def call_deleteSnapshot(self, _, snapshot):
        self.snapshots[snapshot].delete()

    def call_clock(self, cluster, notBefore, before):
        self.assertLessEqual(parse_time(notBefore), cluster.now())
        self.assertLess(cluster.now(), parse_time(before))

    def call_advance(self, cluster, seconds):
        cluster.advance_clock(timedelta(seconds=seconds))

    def call_kubeconfig(self, cluster, user):
        kubeconfig = cluster.kubeconfig_for(User(**user))
        self.assertEqual(kubeconfig["users"][0]["name"], user["name"])

    def call_apply(self, cluster, folder=None, text=None, objects=None, names=()):
        applied = cluster.apply(text or objects or FOLDER / folder)
        self.assertEqual([each["metadata"]["name"] for each in applied], list(names))

    def call_waitFor(self, cluster, path, status, timeoutMs=30_000, what="the status"):
        def condition():
            return cluster.request("GET", path).status == status

        cluster.wait_for(condition, timeout=timeoutMs / 1000, what=what)

    def call_history(self, cluster, filter, writes):
        self.assert_includes(cluster.history(**filter), writes)

    def call_timeline(self, cluster, filter, entries):
        self.assert_includes(cluster.timeline(**filter), entries)

    def assert_includes(self, value, part):
        """Fails unless the value contains everything in the part. Lists must have the same length."""
        if isinstance(part, dict):
            for key, each in part.items():
                inner = value.get(key) if isinstance(value, dict) else getattr(value, key)
                self.assert_includes(inner, each)
        elif isinstance(part, list):
            self.assertEqual(len(value), len(part), value)
            for inner, each in zip(value, part):
                self.assert_includes(inner, each)
        else:
            self.assertEqual(value, part)


def add_case(case):
    def test(self):
        self.run_case(case)
        print(case["name"], flush=True)

    test.__doc__ = case["name"]
    setattr(Cases, "test_" + case["name"], test)


for each in CASES:
    add_case(each)


def options_of(start):
    now = start.get("now")
    return {**start, **({} if now is None else {"now": parse_time(now)})}


def parse_time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def effect_of(effect):
    if "status" in effect:
        fields = dict(effect)
        seconds = fields.pop("retryAfterSeconds", None)
        return keelson_testing.Fail(retry_after_seconds=seconds, **fields)
    [(kind, value)] = effect.items()
    if kind == "conflict":
        return keelson_testing.Conflict()
    if kind == "delayMs":
        return keelson_testing.Delay(timedelta(milliseconds=value))
    if kind == "dropConnection":
        return keelson_testing.DropConnection(after_request=value == "after")
    if kind == "closeWatch":
        return keelson_testing.CloseWatch(0 if value is True else value["afterEvents"])
    assert kind == "staleRead", kind
    return keelson_testing.StaleRead()


if __name__ == "__main__":
    unittest.main()
