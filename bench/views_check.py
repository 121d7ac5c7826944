# SPDX-License-Identifier: Apache-2.0
"""Whether views hold the pixels that the folder's images have, according to Pillow and torchvision: all files, before anything is timed."""

import measure
from views_row import Row, view_path


class Check:
    """Compares views with the folder; a difference is a RuntimeError. What was compared is remembered."""

    def __init__(self, rows):
        self.rows = rows
        self.done = set()
        self._folder = {}

    def views(self, people):
        """Of these rows, each view once."""
        if self.rows.args.no_check:
            return
        for spec in sorted({row.view for row in people if row.view is not None} - self.done):
            with self.rows.mounted() as (point, _):
                self.same(spec, self.of_folder(*expected(spec)), self.digests(view_path(point, spec), *kind_of(spec)))
            self.done.add(spec)

    def digests(self, root, *words):
        return self.rows.script(Row("check", script="digests.py"), root, *words)

    def of_folder(self, *words):
        if words not in self._folder:
            self._folder[words] = self.digests(self.rows.args.tree, *words)
        return self._folder[words]

    @staticmethod
    def same(what, folder, other):
        if folder.keys() != other.keys():
            raise RuntimeError(f"{what}: other files than the folder, e.g. {sorted(folder.keys() ^ other.keys())[:3]}")
        wrong = sorted(name for name, digest in folder.items() if other[name] != digest)
        if wrong:
            raise RuntimeError(f"{what}: {len(wrong)} of {len(folder)} samples differ from the folder's, e.g. {wrong[:3]}")
        measure.say(f"equal to the folder's: {len(folder):,} samples of {what or 'the mount'}")


def kind_of(spec):
    """How a view is read by digests.py."""
    if "dtype=f32" in spec:
        return "--kind", "tensor"
    return ("--kind", "array") if spec.startswith("npy") else ("--kind", "image")


def expected(spec):
    """The words for digests.py that make the same of the folder."""
    if "dtype=f32" in spec:
        return "--kind", "tensor"
    size = next((word.removeprefix("size=") for word in spec.split("+") if word.startswith("size=")), None)
    return ("--kind", "image", "--resize", size) if size else ("--kind", "image")
