# SPDX-License-Identifier: Apache-2.0
"""The most that something was, looked at again and again by a thread."""

import threading


class Peak:
    """`look` returns a number; `peak` is the greatest that it has returned, once in the beginning and then while this is entered."""

    def __init__(self, look, every_s):
        self.look, self.every_s = look, every_s
        self.peak = look()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self):
        while not self._end.wait(self.every_s):
            self.peak = max(self.peak, self.look())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
