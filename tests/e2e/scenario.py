"""One run: start a cluster, let the rhythm be learned, inject one fault, judge the verdict.

The result is a flat dictionary, one line of JSON, for tests and benchmarks; people get the words.
"""
import statistics
import time

from processes import wait_until

# What the design promises (section 9), in seconds. A slow part: five steps or this, whichever is
# later.
HANG_SUSPECTED_MAX_S = 6.0
NAMED_AFTER_SUSPECTED_MAX_S = 1.0
SLOW_CONFIRMED_MAX_S = 5.0
SLOW_CONFIRMED_MAX_STEPS = 5
# On top of it where wall time is read by polling: a poll's period and the time c4ctl takes.
POLL_PERIOD_S = 0.25
POLL_COST_S = 0.25

# How long to wait for a verdict at all: the longest confirmation (an absent host: 60 s) is not
# waited for, the verdict stands when it is suspected.
VERDICT_TIMEOUT_S = 30
# After the right verdict, whether a wrong one follows.
SETTLE_S = 4
HEALTHY_S = 40
# Per fault and per run, another victim.
RANK_ORDER = (5, 2, 7, 0, 6, 1, 4, 3)
NODE_ORDER = (1, 2, 3, 0)

HEALTHY_TRAINER = ("--checkpoint-every", "40", "--checkpoint-ms", "400", "--eval-every", "60")


def faults_of(verdicts):
    return [v for v in verdicts or [] if v.get("severity", "fault") == "fault"]


def moment(verdict, name):
    return int(verdict.get(name, 0))


def seconds_after(time_ns, onset_ns):
    """None for a moment that was not reached."""
    return round((time_ns - onset_ns) / 1e9, 3) if time_ns else None


class Scenario:
    """tick(): called about four times a second, for a live view."""

    def __init__(self, cluster, fault, target, tick=lambda: None):
        self.cluster = cluster
        self.fault = fault
        self.target = target
        self.tick = tick
        self.verdict = None  # the right one, or else the first one
        self.verdicts = []   # of severity fault, as last seen
        self.result = {"fault": fault.name, "rank": target.rank,
                       "node": cluster.layout.node_name(target.node),
                       "network": cluster.network.name, "ok": False}

    def run(self):
        cluster = self.cluster
        cluster.start()
        wait_until(self._rhythm, 90, POLL_PERIOD_S) or cluster.wait_for_rhythm(timeout_s=0)
        early = faults_of(cluster.verdicts())
        if early:
            return self._wrong(early, "a verdict before any fault")
        self._note_steps("step_ms_before")
        if self.fault.verdict_class is None:
            return self._stay_healthy()
        return self._judge(self._inject())

    def _rhythm(self):
        self.tick()
        self.cluster.check_job()
        enough = len(self.cluster.read_steps()) >= 15
        return enough and float(self.cluster.job().get("step_seconds", 0)) > 0

    def _note_steps(self, name):
        recent = [ms for _, ms in self.cluster.read_steps()[-10:]]
        self.result[name] = round(statistics.median(recent), 1)

    def _inject(self):
        """Returns the true onset, ns since the epoch."""
        cluster, fault, target = self.cluster, self.fault, self.target
        if fault.on_network():
            onset = cluster.now_ns()
            fault.inject(cluster.network, target.node)
            return onset
        cluster.pull_trigger(f"{fault.trigger} rank={target.rank}")
        onset = wait_until(cluster.onset_ns, 20, 0.02)
        if not onset:
            raise RuntimeError("the trainer did not take the trigger")
        return onset

    def _judge(self, onset_ns):
        self.result["onset_ns"] = onset_ns
        named_at_ns = wait_until(lambda: self._named(onset_ns), VERDICT_TIMEOUT_S, POLL_PERIOD_S)
        if not named_at_ns:
            return self._wrong(self.verdicts, "wrong verdict" if self.verdicts else "no verdict")
        self.result["named_s"] = seconds_after(named_at_ns, onset_ns)
        settled = time.monotonic() + SETTLE_S
        while time.monotonic() < settled:
            self._look()
            self.tick()
            time.sleep(POLL_PERIOD_S)
        if not self._right():
            return self._wrong(self.verdicts, "the verdict changed to a wrong one")
        if len(self.verdicts) > 1:
            return self._wrong(self.verdicts, "more than one verdict")
        return self._right_answer(onset_ns)

    def _look(self):
        seen = self.cluster.verdicts()
        if seen is not None:
            self.verdicts = faults_of(seen)

    def _right(self):
        for verdict in self.verdicts:
            if self.fault.names_it(verdict, self.target, self.cluster.layout):
                self.verdict = verdict
                return verdict
        return None

    def _named(self, onset_ns):
        """Wall time at which the right verdict was there; a slow part's must be confirmed."""
        self.tick()
        self._look()
        if self.verdicts and "first_s" not in self.result:
            self.result["first_s"] = seconds_after(self.cluster.now_ns(), onset_ns)
        verdict = self._right()
        if verdict and (self.fault.hang or verdict.get("status") == "confirmed"):
            return self.cluster.now_ns()
        return None

    def _right_answer(self, onset_ns):
        verdict, result = self.verdict, self.result
        self._describe(verdict)
        for name in ("onset", "detected", "confirmed"):
            result[f"{name}_s"] = seconds_after(moment(verdict, name), onset_ns)
        result["confidence"] = verdict.get("confidence")
        result["late"] = self._late()
        result["ok"] = True
        return result

    def _late(self):
        """What took longer than promised; empty when all was in time."""
        result, late = self.result, []
        if self.fault.hang:
            if result["detected_s"] > HANG_SUSPECTED_MAX_S:
                late.append(f"suspected after {result['detected_s']} s")
            allowed = (result["detected_s"] + NAMED_AFTER_SUSPECTED_MAX_S + POLL_PERIOD_S +
                       POLL_COST_S)
            if result["named_s"] > allowed:
                late.append(f"named after {result['named_s']} s")
        else:
            self._note_steps("step_ms_after")
            allowed = max(SLOW_CONFIRMED_MAX_S,
                          SLOW_CONFIRMED_MAX_STEPS * result["step_ms_after"] / 1000)
            if result["confirmed_s"] > allowed:
                late.append(f"confirmed after {result['confirmed_s']} s, allowed {allowed:.1f} s")
        return "; ".join(late)

    def _stay_healthy(self):
        until = time.monotonic() + HEALTHY_S
        while time.monotonic() < until:
            self.tick()
            self.cluster.check_job()
            self._look()
            if self.verdicts:
                return self._wrong(self.verdicts, "a verdict without a fault")
            time.sleep(POLL_PERIOD_S)
        if self.cluster.verdicts() is None:
            return self._wrong([], "the analyzer does not answer")
        self.result["ok"] = True
        return self.result

    def _wrong(self, verdicts, why):
        self.result["why"] = why
        self.result["verdicts"] = len(verdicts)
        if verdicts:
            self.verdict = self.verdict or verdicts[0]
            self._describe(verdicts[0])
        return self.result

    def _describe(self, verdict):
        self.result["class"] = verdict.get("class")
        self.result["status"] = verdict.get("status")
        self.result["component"] = verdict.get("component", {})
