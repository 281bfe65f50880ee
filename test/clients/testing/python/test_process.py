"""Tests how the Python library starts and stops the server."""

import os
import shlex
import subprocess
import sys
import unittest
from unittest import mock

from keelson_testing import KeelsonError, _process, start_cluster

FOREVER = "import time; print(%r, flush=True); time.sleep(600)"


def script(text):
    """Returns a command that replaces Keelson."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(text)}"


class ProcessTest(unittest.TestCase):
    def setUp(self):
        self.children = []
        real = subprocess.Popen

        def popen(*args, **options):
            self.children.append(real(*args, **options))
            return self.children[-1]

        patched = mock.patch("subprocess.Popen", popen)
        patched.start()
        self.addCleanup(patched.stop)

    def test_a_failed_start_leaves_no_process(self):
        for line in ('{"kubeconfig": "/none"}', '{"kubeconfig": "%s"}' % os.devnull):
            with self.assertRaises(Exception):
                start_cluster(command=script(FOREVER % line))
            self.assertIsNotNone(self.children[-1].returncode)
        with mock.patch.object(_process, "START_SECONDS_MAX", 0.1):
            with self.assertRaisesRegex(KeelsonError, "did not start"):
                start_cluster(command=script("import time; time.sleep(600)"))
        self.assertIsNotNone(self.children[-1].returncode)

    def test_the_error_of_a_failed_start_has_the_output(self):
        with self.assertRaisesRegex(KeelsonError, "did not start: the reason$"):
            start_cluster(command=script("import sys; sys.exit('the reason')"))
        with self.assertRaisesRegex(KeelsonError, "no-such-program cannot be run"):
            start_cluster(command="no-such-program")

    def test_the_default_command_downloads_nothing(self):
        with mock.patch.dict(os.environ, {"KEELSON": ""}), mock.patch("subprocess.Popen") as popen:
            _process.Process(None, [])
        self.assertEqual(popen.call_args.args[0][:3], ["npx", "--no-install", "keelson"])

    def test_a_child_that_does_not_end_is_killed(self):
        process = _process.Process(script("import time; time.sleep(600)"), [])
        process.end(0.1)
        self.assertIsNotNone(self.children[-1].returncode)

    def test_proxies_and_other_lines_are_ignored(self):
        command = shlex.split(os.environ["KEELSON"])
        proxy = {"HTTPS_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1"}
        run = f"os.execvp({command[0]!r}, {command!r} + sys.argv[1:])"
        noisy = script(f"import os, sys; print('npx prints this', flush=True); {run}")
        with mock.patch.dict(os.environ, proxy), start_cluster(command=noisy) as cluster:
            self.assertEqual(cluster.send("GET", "/version").status, 200)
            path = cluster.kubeconfig_path()
            self.assertTrue(os.path.exists(path))
        self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
