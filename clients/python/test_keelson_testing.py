import os
import shlex
import subprocess
import sys
import unittest
from unittest import mock

import keelson_testing
from keelson_testing import KeelsonError, start_cluster

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = start_cluster()
        cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        self.cluster.reset()

    def create(self, name, cluster=None):
        return (cluster or self.cluster).request("POST", CONFIG_MAPS, config_map(name))[0]

    def test_history(self):
        self.assertEqual(self.create("x"), 201)
        [write] = self.cluster.history(resource="configmaps", name="x")
        self.assertEqual((write["verb"], write["user"]["name"]), ("create", "kubernetes-admin"))
        self.assertEqual(self.cluster.history(user="nobody"), [])

    def test_faults(self):
        with self.cluster.fault({"verb": "create", "resource": "configmaps", "times": 1}, {"status": 503}) as fault:
            self.assertEqual([self.create("x"), self.create("x")], [503, 201])
            self.assertEqual(fault.hits, 1)
        self.cluster.fault({}, {"conflict": True})
        self.assertEqual(self.cluster.request("GET", CONFIG_MAPS + "/x")[0], 200)
        self.assertEqual(self.cluster.request("DELETE", CONFIG_MAPS + "/x")[0], 409)
        self.cluster.clear_faults()
        self.assertEqual(self.cluster.request("DELETE", CONFIG_MAPS + "/x")[0], 200)
        with self.assertRaisesRegex(KeelsonError, "conflict applies to update, patch, delete, not to list"):
            self.cluster.fault({"verb": "list"}, {"conflict": True})
        with self.assertRaisesRegex(KeelsonError, "effect"):
            self.cluster.fault({}, {"nothing": True})
        with self.assertRaisesRegex(KeelsonError, "colour"):
            self.cluster.fault({"colour": "red"}, {"status": 500})

    def test_states(self):
        self.create("first")
        snapshot = self.cluster.snapshot()
        with self.cluster.fork() as fork:
            self.create("there", fork)
            self.create("here")
            self.assertEqual(self.cluster.request("GET", CONFIG_MAPS + "/there")[0], 404)
            self.assertEqual(fork.request("GET", CONFIG_MAPS + "/there")[0], 200)
            self.assertEqual(fork.request("GET", CONFIG_MAPS + "/first")[0], 200)
        self.cluster.restore(snapshot)
        self.assertEqual(self.cluster.request("GET", CONFIG_MAPS + "/here")[0], 404)
        self.assertEqual(self.cluster.request("GET", CONFIG_MAPS + "/first")[0], 200)
        with self.assertRaises(KeelsonError):
            self.cluster.restore("none")

    def test_clock(self):
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "x"},
        }
        events = "/api/v1/namespaces/default/events"
        self.assertEqual(self.cluster.request("POST", events, event)[0], 201)
        self.cluster.advance_clock("2h")
        self.cluster.wait_for(lambda: self.cluster.request("GET", events + "/e")[0] == 404)


def script(text):
    """Returns a command that replaces Keelson."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(text)}"


class ProcessTest(unittest.TestCase):
    def setUp(self):
        self.children = []

        def popen(*args, **options):
            self.children.append(real(*args, **options))
            return self.children[-1]

        real = subprocess.Popen
        patched = mock.patch("subprocess.Popen", popen)
        patched.start()
        self.addCleanup(patched.stop)

    def test_a_failed_start_leaves_no_process(self):
        forever = "import time; print(%r, flush=True); time.sleep(600)"
        for said in ('{"kubeconfig": "/none"}', '{"kubeconfig": "%s"}' % os.devnull):
            with self.assertRaises(Exception):
                start_cluster(command=script(forever % said))
            self.assertIsNotNone(self.children[-1].returncode)
        with self.assertRaisesRegex(KeelsonError, "did not start"):
            start_cluster(command=script("print('nothing')"))
        self.assertIsNotNone(self.children[-1].returncode)
        with mock.patch.object(keelson_testing, "START_SECONDS_MAX", 0.1):
            with self.assertRaisesRegex(KeelsonError, "did not start"):
                start_cluster(command=script("import time; time.sleep(600)"))
        self.assertIsNotNone(self.children[-1].returncode)

    def test_stop_kills_what_does_not_end(self):
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        keelson_testing._end(child, 0.1)
        self.assertIsNotNone(child.returncode)

    def test_neither_a_proxy_nor_other_lines_are_in_the_way(self):
        command = os.environ.get("KEELSON") or "npx keelson"
        proxy = {"HTTPS_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1"}
        noisy = script(f"import os, sys; print('npx says', flush=True); os.execvp({shlex.split(command)[0]!r}, {shlex.split(command)!r} + sys.argv[1:])")
        with mock.patch.dict(os.environ, proxy), start_cluster(command=noisy) as cluster:
            self.assertEqual(cluster.request("GET", "/version")[0], 200)


if __name__ == "__main__":
    unittest.main()
