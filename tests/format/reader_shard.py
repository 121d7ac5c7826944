# SPDX-License-Identifier: Apache-2.0
"""Section 6 of FORMAT.md: an item of the shard table, and the shard that it names."""

import os
import re
import stat
import struct
import urllib.parse

from reader_catalogue import parse_shard_header
from reader_entry import FOREIGN, OWN
from reader_error import StoreError, refuse_if, show
from reader_header import NAMES, SHARD_BYTES, SHARDS

RELATIVE, ABSOLUTE, ADDRESS = 1, 2, 3


def address_defect(locator):
    """What FORMAT.md section 6 refuses of an address; None: nothing."""
    matched = re.fullmatch(rb"(s3|https|http)://([^/]*)(?:/(.*))?", locator, re.DOTALL)
    if not matched:
        return "an unknown scheme"
    scheme, place, path = matched.groups(default=b"")
    if b"@" in place:
        return "a user or a password"
    if b"?" in path:
        return "a query"
    if scheme == b"s3":
        if not re.fullmatch(rb"[a-z0-9.-]+", place):
            return "no bucket's name"
        if len(path) > 1024:
            return "a key over 1,024 bytes"
    else:
        host = re.fullmatch(rb"(?:[A-Za-z0-9._-]+|\[[A-Za-z0-9._:-]+\])(?::([0-9]+))?", place)
        if not host or host[1] and not 0 < int(host[1]) < 65_536:
            return "no host"
        if not re.fullmatch(rb"[!-~]*", path) or b"#" in path:
            return "a byte that must be encoded"
        if re.search(rb"%(?![0-9A-Fa-f]{2})|%00|%2[Ff]", path):
            return "a '%' that encodes nothing, or a '/'"
        path = urllib.parse.unquote_to_bytes(path)
    if any(part in (b"", b".", b"..") for part in path.split(b"/")):
        return "no object, or an empty part, '.' or '..'"
    return None


class Shard:
    """A shard of the table, opened and checked. Owns its descriptor."""

    def __init__(self, store, number):
        """Opens shard `number` of the store; refuses what the table and the shard's header must not have."""
        where = f"{store.manifest.index}: shard {number}"

        def check(condition, defect, text):
            refuse_if(condition, defect, f"{where}: {text}")

        check(number >= store.header.shard_count, "file_shard", "not below the shard count")
        raw = store.section_bytes(SHARDS, number * SHARD_BYTES, SHARD_BYTES)
        (
            kind,
            locator_kind,
            locator_bytes,
            locator_offset,
            file_bytes,
            seconds,
            nanoseconds,
            reserved,
            generation,
            more,
        ) = struct.unpack("<HHIQQqIIQ16s", raw)
        check(kind not in (OWN, FOREIGN), "shard_kind", f"kind {kind}: not own or foreign")
        check(
            locator_kind not in (RELATIVE, ABSOLUTE, ADDRESS),
            "shard_locator_kind",
            f"locator kind {locator_kind}: not relative, absolute or an address",
        )
        check(
            kind == OWN and locator_kind != RELATIVE,
            "shard_locator_kind",
            "locator kind of an own shard is not relative",
        )
        check(
            not 0 < locator_bytes <= 4095 or locator_offset + locator_bytes > store.header.sections[NAMES].bytes,
            "shard_locator",
            f"locator of {locator_bytes} bytes at {locator_offset}: leaves NAMES, is empty or too long",
        )
        locator = store.section_bytes(NAMES, locator_offset, locator_bytes)
        check(b"\0" in locator, "shard_locator", "NUL in the locator")
        check(kind == OWN and b"/" in locator, "shard_locator", f"'/' in the locator {show(locator)!r} of an own shard")
        defect = address_defect(locator) if locator_kind == ADDRESS else None
        check(defect is not None, "shard_locator", f"locator {show(locator)!r}: {defect}")
        check(
            locator_kind != ADDRESS and (locator_kind == ABSOLUTE) != locator.startswith(b"/"),
            "shard_locator",
            f"locator {show(locator)!r}: relative with a '/' at the beginning, or absolute without",
        )
        check(nanoseconds > 999_999_999, "shard_nanoseconds", f"token nanoseconds {nanoseconds}: over 999999999")
        check(kind == OWN and (seconds or nanoseconds), "shard_own_token", "token of an own shard is not 0")
        check(reserved or any(more), "shard_item_reserved", "reserved field is not zero")
        check(
            not 0 < generation <= store.manifest.generation,
            "shard_generation",
            f"generation {generation}: 0 or above the index's",
        )

        self.number = number
        self.kind = kind
        self.first_byte = 64 if kind == OWN else 0
        self.bytes = file_bytes
        self.name = show(locator)
        self.fd = -1
        if locator_kind == ADDRESS:
            # This reader's user has named no folder of a server.
            raise StoreError("shard_address", f"{self.name}: requests to it are not allowed")
        try:
            self.fd = os.open(os.path.join(store.folder, locator), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError("shard_missing", f"{self.name}: {os.strerror(error.errno)}", error.errno) from None
        try:
            self._check_file(store, generation, (seconds, nanoseconds))
        except StoreError:
            self.close()
            raise

    def _check_file(self, store, generation, token):
        status = os.fstat(self.fd)
        refuse_if(not stat.S_ISREG(status.st_mode), "shard_file_bytes", f"{self.name}: not a regular file")
        refuse_if(
            status.st_size != self.bytes,
            "shard_file_bytes",
            f"{self.name}: size is {status.st_size}; the index says file bytes {self.bytes}",
        )
        if self.kind == FOREIGN:
            self.header = None
            if divmod(status.st_mtime_ns, 10**9) != token:
                store.warnings.append(f"{self.name}: another mtime than when it was adopted; the size is the same")
            return
        self.header = parse_shard_header(self.name, os.pread(self.fd, 64, 0))
        refuse_if(
            self.header.generation != generation,
            "shard_header_generation",
            f"{self.name}: generation {self.header.generation}: the shard table says {generation}",
        )
        refuse_if(
            self.header.number != self.number,
            "shard_header_number",
            f"{self.name}: header says shard number {self.header.number}: the shard table has it as {self.number}",
        )

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
