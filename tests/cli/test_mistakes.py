# SPDX-License-Identifier: Apache-2.0
"""What a new user gets wrong: exit status 2, one line that names the cause and the cure, and nothing is left or changed."""

import os

import pytest
from cli_support import describe, make_source, refuse, run, succeed

PACK, MOUNT, CTL = "augurpack", "augurfs", "augurctl"


@pytest.fixture(scope="module")
def place(augurpack, tmp_path_factory):
    """A folder `photos`, its store, an empty folder `mnt`, a folder `full`, and a file."""
    place = tmp_path_factory.mktemp("mistakes")
    make_source(place / "photos")
    succeed(augurpack, "create", "--quiet", place / "photos", place / "store")
    (place / "mnt").mkdir()
    (place / "full").mkdir()
    (place / "full" / "mine").write_bytes(b"mine")
    (place / "file").write_bytes(b"x")
    return place


def contents(place):
    """Modes and bytes of all that is there, but the lock of the store, which names who had it last."""
    return {path: (mode, data) for path, (mode, _, data) in describe(place).items() if path != b"store/lock"}


@pytest.mark.parametrize("program, words, says", [
    (PACK, ["create", "fotos", "new"], ["fotos: No such file or directory: check the path"]),
    (PACK, ["create", "file", "new"], ["file: neither a tar nor a zip file", "pack the folder"]),
    (PACK, ["create", "photos", "no/new"], ["no/new: cannot make the folder", "make the one above it first"]),
    (PACK, ["create", "store", "photos"], ["photos: holds other files", "give a folder that is empty or does not exist yet"]),
    (PACK, ["create", "photos", "store"], ["there is a store already", "'augurpack append'", "--force"]),
    (PACK, ["create", "", "new"], ["SRC is empty, as where a variable has no value", "the form is: augurpack create"]),
    (PACK, ["create", "photos", ""], ["STORE is empty"]),
    (PACK, ["create", "--shard-sise=1G", "photos", "new"], ["--shard-sise: no such option; did you mean --shard-size?"]),
    (PACK, ["create", "--shard-size=1X", "photos", "new"], ["'1X' is not a size", "as in 512M"]),
    (PACK, ["create", "--on-error=skipp", "photos", "new"], ["'skipp' is not one of its words: stop or skip; did you mean skip?"]),
    (PACK, ["create", "--decode", "npy+size=0", "photos", "new"], ["size=0: not one or two numbers from 1 to 65535"]),
    (PACK, ["append", "photos", "missing"], ["missing: there is no store to append to: create one first"]),
    (PACK, ["append", "photos", "store"], ["'a/b/large' is in the store already: --replace puts the new one in its place"]),
    (PACK, ["adopt", "photos", "new"], ["photos: is a folder, not a regular file: pack it with 'augurpack create'"]),
    (PACK, ["verify", "photos"], ["photos: not a store", "augurpack create makes a store"]),
    (PACK, ["pack", "photos", "new"], ["'pack': no such command", "'augurpack --help' lists them"]),
    (MOUNT, ["store"], ["MOUNTPOINT is missing; the form is: augurfs [options] STORE MOUNTPOINT"]),
    (MOUNT, ["", "mnt"], ["STORE is empty, as where a variable has no value"]),
    (MOUNT, ["photos", "mnt"], ["photos: not a store", "augurpack create makes a store"]),
    (MOUNT, ["file", "mnt"], ["file: cannot open the store's folder", "give the folder that 'augurpack create' has made"]),
    (MOUNT, ["s3:/bucket/train", "mnt"], ["s3:/bucket/train: No such file or directory", "an address is s3://BUCKET/PATH"]),
    (MOUNT, ["store", "missing"], ["missing: No such file or directory: make it with mkdir -p"]),
    (MOUNT, ["store", "file"], ["file: not a folder, and only a folder can be a mount point"]),
    (MOUNT, ["store", "store"], ["is the store itself", "mount it on another folder"]),
    (MOUNT, ["-o", "memry=4G", "store", "mnt"], ["-o memry: no such mount option; did you mean memory?"]),
    (MOUNT, ["-o", "memory=4GBs", "store", "mnt"], ["'4GBs' is not a size", "as in 512M"]),
    (MOUNT, ["-o", "threads=100000", "store", "mnt"], ["'100000' is too large: 0 to 1024"]),
    (MOUNT, ["-o", "cache=rem", "store", "mnt"], ["'rem' is not one of its words: ram, shm or none; did you mean ram?"]),
    (MOUNT, ["-o", "cache=none,cache-size=4G", "store", "mnt"], ["nothing is kept with cache=none: leave one of the two out"]),
    (MOUNT, ["-o", "decoded-cache-size=4G", "store", "mnt"], ["limits a folder that is not given: add -o decoded-cache=DIR, or leave"]),
    (MOUNT, ["-o", "cache-group=root", "store", "mnt"], ["add cache=shm"]),
    (MOUNT, ["-o", "view=pixel+size=256", "store", "mnt"], ["pixel: not a word of a view; did you mean pixels?"]),
    (MOUNT, ["-o", "generation=7", "store", "mnt"], ["no generation 7: the newest one is 1, which a mount without generation= shows"]),
    (MOUNT, ["-o", "log=no/log", "store", "mnt"], ["no/log: ", "No such file or directory: check the path"]),
    (MOUNT, ["-o", "log=full", "store", "mnt"], ["full: Is a directory: this is a folder, and a file is wanted"]),
    (MOUNT, ["-o", "writable=no/w", "store", "mnt"], ["the folder above it, ", "/no, does not exist: correct the path"]),
    (MOUNT, ["-o", "run-as=no-such-user", "store", "mnt"], ["there is no user of that name"]),
    (CTL, ["restart", "mnt"], ["mnt: no AugurFS is mounted here; 'findmnt -t fuse.augurfs' lists"]),
    (CTL, ["status", "missing"], ["missing: No such file or directory: check the path"]),
    (CTL, ["status", ""], ["MOUNTPOINT is empty"]),
    (CTL, ["statsu", "mnt"], ["'statsu': no such command; did you mean status?"]),
    (CTL, ["hint", "mnt", "--sampler", "torsch"], ["'torsch' is not one of its words", "did you mean torch?"]),
    (CTL, ["hint", "mnt", "--sampler", "torch", "--order", "file"], ["both --order and --sampler: give one of them"]),
])  # fmt: skip
def test_mistake(request, place, program, words, says):
    if program == MOUNT and os.geteuid() != 0 and "run-as" in " ".join(words):
        pytest.skip("needs root")
    before = contents(place)
    error = refuse(2, request.getfixturevalue(program), *words, cwd=place)
    assert error.startswith(f"{program}: "), error
    for word in says:
        assert word in error, error
    assert contents(place) == before


def test_a_folder_without_files_is_packed_with_a_word(augurpack, tmp_path):
    """It may be what is meant; more often a disk is not mounted."""
    (tmp_path / "photos").mkdir()
    done = run(augurpack, "create", "--quiet", tmp_path / "photos", tmp_path / "store")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (0, b"", 1)
    assert b"the store has no file: was that the right source, and is the disk that it is on mounted?" in done.stderr
