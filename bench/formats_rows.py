# SPDX-License-Identifier: Apache-2.0
"""The rows of bench/formats.py: a storage as real files on the disk, from a view of the images' store, and from a store of those files."""

import dataclasses
import os
import shutil

import measure
import mounts
from views_row import Row, Rows, compare, view_path

GEOMETRY = "size=256+crop=224"
SHARDS = 8  # of tar and TFRecord: each worker has some


@dataclasses.dataclass(frozen=True)
class Storage:
    """`view`: the kind and words of the SPEC that shows the images so, beside their geometry; "" for the images themselves."""

    view: str
    module: str = "torchvision"


STORAGES = {
    "imagefolder": Storage(""),
    "h5": Storage("h5", "h5py"),
    "zarr": Storage("zarr", "zarr"),
    "zarr-chunk": Storage("zarr+chunk=64", "zarr"),
    "npy": Storage("npy"),
    "pt": Storage("pt"),
}


@dataclasses.dataclass(frozen=True)
class PackedRow(Row):
    """A mount of the store that the files of a peer were packed into, as they are."""

    packed: str = ""


class FormatRows(Rows):
    """Caches are dropped of the files that are compared, and of no others."""

    def drop_caches(self):
        measure.forget_files(self.args.work, self.args.tree)

    def store_of(self, row):
        files = getattr(row, "packed", "")
        if not files:
            return self.store
        place = os.path.join(self.args.work, f"{files}-store")
        if not os.path.exists(place):
            mounts.create_store(os.path.join(self.args.work, files), place)
        return place

    def made(self, row):
        """Of a view that is copied, the archives of the root alone, and their indexes, which no listing has."""
        place = os.path.join(self.args.work, row.peer)
        if not row.copied or os.path.exists(place):
            return super().made(row)
        measure.say(f"making {row.peer}")
        os.makedirs(place)
        with self.mounted() as (point, _):
            root = view_path(point, row.copied)
            for name in sorted(name for name in os.listdir(root) if name.startswith(("all-", "all."))):
                source = os.path.join(root, name)
                if os.path.isdir(source):
                    shutil.copytree(source, os.path.join(place, name))
                    continue
                for found in filter(os.path.exists, (source, source + ".idx")):
                    shutil.copyfile(found, os.path.join(place, os.path.basename(found)))
        return place

    def pillow(self):
        """The word for the passes of the Pillow that the scripts have."""
        version = mounts.run(self.python("torchvision"), "-c", "import PIL; print(PIL.__version__)")
        return "+passes=pillow13" if int(version.split(".")[0]) >= 13 else ""


def compared(rows, people, title, checked=False):
    """All rounds, with each number of workers; the first row is the base. Nothing where a row cannot run here. `checked`: their samples
    are compared first. Tables come when they are done."""
    people = rows.able(people)
    if len(people) < 2:
        return
    if checked and not rows.args.no_check:
        check(rows, people, title)
    for workers in rows.args.workers:
        yield from compare(rows, people, f"{title}, {workers} worker{'s' * (workers != 1)}", workers)


def check(rows, people, title):
    """All samples and labels of each row are those of the first."""
    found = {}
    for row in people:
        if row.view is None:
            found[row.name] = rows.script(row, rows.made(row) if row.peer else rows.args.tree, *row.words, "--digest")
            continue
        with rows.mounted(store=rows.store_of(row)) as (point, _):
            found[row.name] = rows.script(row, view_path(point, row.view), *row.words, "--digest")
        if found[row.name] != found[people[0].name]:
            raise RuntimeError(f"{title}: samples of '{row.name}' differ from those of '{people[0].name}'")
    measure.say(f"equal: {found[people[0].name]['samples']:,} samples of {title}: {', '.join(found)}")


def storage(name, rows):
    """Real files, the view, and the files packed as they are."""
    chosen = STORAGES[name]
    same = {"script": "stored_arrays.py", "module": chosen.module, "words": ("--storage", name)}
    if not chosen.view:
        people = [Row("files", **same), Row("view", view="", **same)]
    else:
        spec = f"{chosen.view}+{GEOMETRY}{rows.pillow()}"
        files = f"{name}-files"
        people = [Row("files", peer=files, make_words=("--storage", name), **same), Row("view", view=spec, **same),
                  PackedRow("packed", view="", packed=files, **same)]
    return compared(rows, people, name, checked=True)


# Other loaders on the images' own files: the words and module of the script, and the SPEC whose archives it reads; "": the images.
PEERS = {
    "tfrecord": ("tf.data, TFRecord", "tensorflow", f"tfrecord+shards={SHARDS}"),
    "dali-tfrecord": ("DALI, TFRecord", "nvidia.dali", f"tfrecord+shards={SHARDS}"),
    "dali": ("DALI, folder", "nvidia.dali", ""),
    "webdataset": ("WebDataset, tar", "webdataset", f"tar+shards={SHARDS}"),
    "streaming": ("Streaming, MDS", "streaming", f"mds+shards={SHARDS}"),
}


def peer(name, rows):
    """Real files with the bytes of the view, and the view."""
    title, module, spec = PEERS[name]
    same = {"script": "stored_files.py", "module": module, "words": ("--storage", name)}
    files = {"peer": f"{name}-files", "copied": spec} if spec else {}
    return compared(rows, [Row("files", **files, **same), Row("view", view=spec, **same)], title)


def ffcv(rows):
    """FFCV has a format that no view shows, with JPEGs of its own: it stands for itself."""
    files = Row("FFCV JPEG", script="ffcv_beton.py", module="ffcv", peer="jpeg.beton", make_words=("--field", "jpg"), words=("--crop", "center"))
    return compared(rows, [Row("files", script="stored_arrays.py", words=("--storage", "imagefolder")), files], "FFCV beside ImageFolder")
