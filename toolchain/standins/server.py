"""A Pulumi plugin's life: serve gRPC, print the port, stop at once when told to."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import grpc

# A thread is made when a call needs one; a call waits for its command, and Cancel must get through.
_MAX_CALLS = 512
# The engine's own limit on a message (rpcutil.GrpcChannelOptions in Pulumi's Go SDK): 400 MB.
_MAX_MESSAGE = 400 * 1024 * 1024

# Seconds; an engine that is killed tells nobody, and its plugins would stay for ever.
_LOOK_EVERY = 1


def serve(register: Callable[[grpc.Server], None], stop: Callable[[], None]) -> None:
    """Serve until a signal or the engine's end, then call `stop` and end the process.

    The engine waits seconds for a plugin that does not end by itself, and interrupts it first:
    a plugin that ends at once, and without a traceback, costs nothing.
    """
    engine = os.getppid()
    ended = threading.Event()

    def end(_signum: int, _frame: FrameType | None) -> None:
        ended.set()

    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, end)
    server = grpc.server(
        ThreadPoolExecutor(_MAX_CALLS),
        options=[("grpc.max_receive_message_length", _MAX_MESSAGE), ("grpc.max_send_message_length", -1)],
    )
    register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")  # the engine reads it
    sys.stdout.flush()
    while not ended.wait(_LOOK_EVERY) and os.getppid() == engine:
        pass
    stop()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # calls that are still waiting for something have nobody to answer to
