# SPDX-License-Identifier: Apache-2.0
"""Reports of the sanitizers, as failures of the test in which they come.

A daemon and its helper processes have no stderr, and nobody waits for their exit status: what a sanitizer says of them, also at
their end (leaks), would be lost. A report of the thread sanitizer does not even end its program."""

import os
import pathlib
import re
import signal
import tempfile

import pytest

OPTIONS = ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")
# With them also of an abort(), as that of base/lock_rank.h. The thread sanitizer may hang in the report of a signal.
MORE_OPTIONS = {"ASAN_OPTIONS": "handle_abort=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
DEADLY = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
OF_A_SIGNAL = re.compile(r"ERROR: \w+Sanitizer: (SEGV|ABRT|BUS|ILL|FPE) on unknown address")


def numbers_of(pid):
    """Those of a process in all its namespaces: a report in a container has that of the innermost one."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return {pid}
    return {int(number) for number in re.search(r"^NSpid:(.*)$", status, re.MULTILINE)[1].split()}


class SanitizerReports:
    """A plugin of pytest for runs with AUGUR_SANITIZER: programs that tests start write their reports where it finds them."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="augur-reports-")
        os.chmod(self.folder.name, 0o1777)  # for daemons of every user
        self.kill = os.kill
        self.killed = set()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(os, "kill", self.note_and_kill)
        for name in OPTIONS:
            words = [os.environ.get(name), MORE_OPTIONS.get(name), f"log_path={self.folder.name}/report"]
            self.patch.setenv(name, ":".join(filter(None, words)))

    def note_and_kill(self, pid, number):
        """os.kill for tests: a process that a test kills as a fault would do it is no finding."""
        if number in DEADLY:
            self.killed |= numbers_of(pid)
        self.kill(pid, number)

    def take(self):
        """The texts of the reports since the last call."""
        texts = []
        for path in sorted(pathlib.Path(self.folder.name).iterdir()):
            text = path.read_text(encoding="utf-8", errors="replace")
            path.unlink()
            pid = int(path.suffix[1:])
            if pid not in self.killed or not OF_A_SIGNAL.search(text):
                texts.append(text)
        return texts

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self):
        """After the fixtures of the test, so that its mounts are gone."""
        result = yield
        if texts := self.take():
            pytest.fail("a sanitizer reports, in this test or at the end of one before:\n" + "\n".join(texts), pytrace=False)
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Reports that came after the last test."""
        if texts := self.take():
            print("a sanitizer reports, after the last test:", *texts, sep="\n")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_unconfigure(self):
        """Also where no test was run."""
        self.patch.undo()
        self.folder.cleanup()
