"""Child processes of a simulated cluster: started in one place, ended for certain.

Each child is in a session of its own and gets SIGKILL from the kernel when this process dies, however
it dies, so nothing outlives a killed driver. Output goes to one log file per child.
"""
import ctypes
import os
import signal
import subprocess
import time

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Child:
    """One program. `popen` is the usual object; `log` is where it writes."""

    def __init__(self, name, argv, log, env=None, cwd=None):
        self.name = name
        self.log = log
        self._cpu_seconds = 0.0
        with open(log, "ab") as out:
            self.popen = subprocess.Popen(  # pylint: disable=consider-using-with
                argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
                cwd=cwd, start_new_session=True, preexec_fn=_die_with_parent)

    @property
    def pid(self):
        return self.popen.pid

    def running(self):
        return self.popen.poll() is None

    def kill(self, how=signal.SIGKILL):
        if self.running():
            self.cpu_seconds()
            self.popen.send_signal(how)

    def wait(self, timeout_s=10):
        return self.popen.wait(timeout_s)

    def cpu_seconds(self):
        """User and system time so far; of a process that has ended, when last asked."""
        try:
            with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
            self._cpu_seconds = (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND
        except (OSError, IndexError):
            pass
        return self._cpu_seconds

    def tail(self, lines=20):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as text:
                return "".join(text.readlines()[-lines:])
        except OSError:
            return ""


class Processes:
    """All children of a run."""

    def __init__(self, log_directory):
        self._log_directory = log_directory
        self._children = []

    def start(self, name, argv, env=None, prefix=()):
        """prefix: what to run the program under, e.g. `ip netns exec …`."""
        log = os.path.join(self._log_directory, name + ".log")
        child = Child(name, [*prefix, *argv], log, env)
        self._children.append(child)
        return child

    def cpu_seconds(self, name_prefix=""):
        return sum(c.cpu_seconds() for c in self._children if c.name.startswith(name_prefix))

    def end_all(self):
        for child in self._children:
            child.kill()
        for child in self._children:
            try:
                child.wait()
            except subprocess.TimeoutExpired:  # in the kernel for good; nothing more to do
                pass


def wait_until(condition, timeout_s, period_s=0.1):
    """The condition's first true value, or its last value when time is up."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(period_s)


def exit_on_signals():
    """SIGTERM and SIGHUP end the program the way Ctrl-C does, through `finally`."""
    def leave(number, _frame):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
