class KeelsonError(Exception):
    """The server could not be started, or refused a request to control it."""
