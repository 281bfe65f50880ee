"""The child process that runs Keelson."""

from __future__ import annotations

import collections
import json
import os
import shlex
import subprocess
import sys
import threading
from typing import IO, Any, Optional, Sequence

from ._errors import KeelsonError

#: Limits for the start and the stop, in seconds. They are long enough for a CI machine that stalls
#: for a while.
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 60
#: Limit for the end of the error output of a failed start. Child processes can outlive Keelson.
OUTPUT_SECONDS_MAX = 5
#: Number of lines of the error output that an error contains.
ERROR_LINES_MAX = 20


class Process:
    """A running child. Closing its standard input ends it, so it also ends with this process."""

    def __init__(self, command: Optional[str], arguments: Sequence[str]) -> None:
        run = shlex.split(command or os.environ.get("KEELSON") or "npx --no-install keelson")
        full = [*run, "serve", "--testing", *arguments]
        try:
            self._child = subprocess.Popen(
                full,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise KeelsonError(f"{run[0]} cannot be run: {error}") from error
        self._errors: collections.deque[str] = collections.deque(maxlen=ERROR_LINES_MAX)
        self._copying = threading.Thread(target=self._copy_errors, daemon=True)
        self._copying.start()

    def wait_until_ready(self) -> dict[str, Any]:
        """Returns the line that the server prints when it is ready. Ends the child on an error."""
        # A child that prints nothing is killed when the timeout expires.
        timer = threading.Timer(START_SECONDS_MAX, self._child.kill)
        timer.daemon = True
        timer.start()
        try:
            ready = _read_ready(_pipe(self._child.stdout))
        except BaseException:
            self.end(0)
            raise
        finally:
            timer.cancel()
        if ready is None:
            self.end(0)
            self._copying.join(OUTPUT_SECONDS_MAX)
            text = "".join(self._errors).strip()
            raise KeelsonError(f"Keelson did not start: {text or 'it printed no error'}")
        return ready

    def end(self, seconds: float = STOP_SECONDS_MAX) -> None:
        """Closes the standard input, which ends the child. Kills it if it takes longer."""
        try:
            _pipe(self._child.stdin).close()
            self._child.wait(seconds)
        except (OSError, subprocess.TimeoutExpired):
            self._child.kill()
            self._child.wait()
        finally:
            _pipe(self._child.stdout).close()

    def _copy_errors(self) -> None:
        with _pipe(self._child.stderr) as lines:
            for line in lines:
                self._errors.append(line)
                sys.stderr.write(line)


def _pipe(pipe: Optional[IO[str]]) -> IO[str]:
    assert pipe is not None
    return pipe


def _read_ready(output: IO[str]) -> Optional[dict[str, Any]]:
    """Ignores other lines, because npx may print some first. Returns None at the end."""
    for line in output:
        try:
            ready = json.loads(line)
        except ValueError:
            continue
        if isinstance(ready, dict) and "kubeconfig" in ready:
            return ready
    return None
