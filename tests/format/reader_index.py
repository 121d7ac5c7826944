# SPDX-License-Identifier: Apache-2.0
"""The index of a store, open: its bytes, each checked before use."""

import errno
import fcntl
import mmap
import os

from reader_error import StoreError, refuse_if
from reader_header import CHECKSUMS, PIECE_BYTES, parse_header
from reader_manifest import read_manifest


class Index:
    """The index of one generation: the manifest and the header are checked, the rest when used.

    Owns the map of the index; a context manager closes it. `root_hash`, when given, is the only one that is accepted.
    """

    def __init__(self, path, root_hash=None):
        self.pinned = root_hash
        self.folder = os.path.abspath(os.fsencode(path))
        self._checked_pieces = set()
        self._checked_blocks = set()
        self._map = None
        self._fd = -1
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._map is not None:
            self._map.close()
            self._map = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self):
        self.manifest = read_manifest(self.folder)
        while True:
            try:
                self._fd = os.open(os.path.join(self.folder, self.manifest.index.encode()), os.O_RDONLY | os.O_CLOEXEC)
                break
            except OSError as error:
                # The manifest may name an index that a writer has just replaced and removed: look once more.
                again = read_manifest(self.folder)
                if error.errno != errno.ENOENT or again == self.manifest:
                    raise StoreError("index_missing", f"{self.manifest.index}: {os.strerror(error.errno)}") from None
                self.manifest = again
        try:
            fcntl.flock(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            pass  # a file system without locks
        size = os.fstat(self._fd).st_size
        refuse_if(
            size != self.manifest.index_bytes,
            "manifest_index_bytes",
            f"{self.manifest.index}: {size} bytes; index-bytes of the manifest is {self.manifest.index_bytes}",
        )
        refuse_if(
            size < PIECE_BYTES, "index_too_short", f"{self.manifest.index}: {size} bytes: too short for a header"
        )
        self._map = mmap.mmap(self._fd, size, prot=mmap.PROT_READ)
        self.header = parse_header(self.manifest, self._map[:PIECE_BYTES], size)
        self.layout = self.header.layout
        refuse_if(
            self.pinned is not None and self.header.root_hash != self.pinned,
            "root_hash",
            f"{self.manifest.index}: root hash {self.header.root_hash.hex() or 'none (version 1)'}: not the one asked for",
        )

    def _check_piece(self, piece):
        if piece in self._checked_pieces:
            return
        section = self.header.sections[CHECKSUMS]
        start = section.offset + piece * PIECE_BYTES
        data = self._map[start : min(start + PIECE_BYTES, section.offset + section.bytes)]
        refuse_if(
            self.layout.sum(data) != self.header.roots[piece],
            "root_checksum",
            f"{self.manifest.index}: root piece {piece} of CHECKSUMS: checksum mismatch",
        )
        self._checked_pieces.add(piece)

    def _check_block(self, block):
        if block in self._checked_blocks:
            return
        step = self.layout.sum_bytes
        self._check_piece(block * step // PIECE_BYTES)
        at = self.header.sections[CHECKSUMS].offset + step * block
        expected = self._map[at : at + step]
        start = (block + 1) * PIECE_BYTES
        refuse_if(
            self.layout.sum(self._map[start : start + PIECE_BYTES]) != expected,
            "block_checksum",
            f"{self.manifest.index}: block {block}: checksum mismatch",
        )
        self._checked_blocks.add(block)

    def section_bytes(self, id_, offset, size):
        """REQUIRES: the range is within the section."""
        section = self.header.sections[id_]
        assert 0 <= offset and offset + size <= section.bytes, (id_, offset, size)
        start = section.offset + offset
        if size:
            for block in range(start // PIECE_BYTES - 1, (start + size - 1) // PIECE_BYTES):
                self._check_block(block)
        return self._map[start : start + size]

    def check_all_blocks(self):
        for block in range(self.header.sections[CHECKSUMS].bytes // self.layout.sum_bytes):
            self._check_block(block)
