"""Programs that pretend to be roles of a job, for tests of who starts and ends them."""

from __future__ import annotations

# A role with a child in a session of its own and an orphan of a double fork; says so, and waits for its end.
RUNAWAY = """
import os, signal
reader, writer = os.pipe()

def stay():
    os.setsid()
    os.write(writer, b".")
    signal.pause()

between = os.fork()
if between == 0:
    if os.fork() == 0:
        stay()
    os._exit(0)
os.waitpid(between, 0)  # else it may still be counted
if os.fork() == 0:
    stay()
there = b""
while len(there) < 2:
    there += os.read(reader, 2)
print("family", flush=True)
signal.pause()
"""
READY = """
import os, signal
os.write(int(os.environ["PADDLE_REPORT_FD"]), b'{"report": "ready", "ports": []}\\n')
"""
PSERVER = READY + "signal.pause()\n"
# A pserver that ends by itself once the trainer of its node runs: if sooner, the job would have failed.
ENDS = (
    READY
    + """
import time
while not os.path.exists("log/train.log"):
    time.sleep(0.01)
"""
)
# A pserver that a trainer has come to, and that does not end by itself.
NEVER_ENDS = """
import os, signal
os.write(int(os.environ["PADDLE_REPORT_FD"]), b'{"report": "ready"}\\n{"report": "joined"}\\n')
signal.pause()
"""
