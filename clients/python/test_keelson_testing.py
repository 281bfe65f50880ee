import unittest

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
        self.cluster.fault({"verb": "list"}, {"conflict": True})
        self.assertEqual(self.cluster.request("GET", CONFIG_MAPS)[0], 409)
        self.cluster.clear_faults()
        self.assertEqual(self.cluster.request("GET", CONFIG_MAPS)[0], 200)
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


if __name__ == "__main__":
    unittest.main()
