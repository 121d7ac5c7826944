# SPDX-License-Identifier: Apache-2.0
"""The second reader of the AugurFS store: written from src/store/FORMAT.md alone, to prove that the text suffices.

It favours plainness over speed and refuses whatever the page says a reader must refuse, with a StoreError that names
the file and the defect. Not for mounting, and not for more than one thread.

    python tests/format/reader.py check STORE        every byte and every rule; exit status 1 when refused
    python tests/format/reader.py ls STORE           one line for each entry, in path order
    python tests/format/reader.py cat STORE PATH     the bytes of one file
"""

import dataclasses
import errno
import fcntl
import mmap
import os
import re
import stat
import struct
import sys

import xxhash

BLOCK_BYTES = 1 << 20  # of a large record
PIECE_BYTES = 1 << 16  # of the index: header block, body block, root piece
HEADER_BYTES = 8192
ENTRY_BYTES = 96
SHARD_BYTES = 64
NO_SHARD = 0xFFFFFFFF
MANIFEST_BYTES_MAX = 4096
ENTRIES_MAX = 2**40 - 2

ENTRIES, NAMES, SHARDS, BLOCKS, CHECKSUMS = 1, 2, 3, 4, 5
SECTION_NAMES = {ENTRIES: "ENTRIES", NAMES: "NAMES", SHARDS: "SHARDS", BLOCKS: "BLOCKS", CHECKSUMS: "CHECKSUMS"}
ITEM_BYTES = {ENTRIES: 96, NAMES: 1, SHARDS: 64, BLOCKS: 16, CHECKSUMS: 8}

OWN, FOREIGN = 1, 2
RELATIVE, ABSOLUTE = 1, 2


class StoreError(Exception):
    """A store that must be refused. `defect` is a short name of the broken rule; the text names the file first."""

    def __init__(self, defect, text):
        super().__init__(text)
        self.defect = defect


def refuse_if(condition, defect, text):
    if condition:
        raise StoreError(defect, text)


def xxh3_64(data):
    return xxhash.xxh3_64_intdigest(data)


def xxh3_128(data):
    """The 16 bytes as the store has them: the low 64 bits, then the high 64 bits, each little-endian."""
    return xxhash.xxh3_128_intdigest(data).to_bytes(16, "little")


HASH_OF_NOTHING = xxh3_128(b"")


def show(raw):
    """A name for an error text or a listing; any bytes."""
    return os.fsdecode(raw).encode("unicode_escape", "surrogateescape").decode("ascii", "backslashreplace")


# ---------------------------------------------------------------------------------------------- manifest


@dataclasses.dataclass(frozen=True)
class Manifest:
    generation: int
    index: str
    index_bytes: int
    index_id: str
    writer: str


def decimal(values, key):
    text = values[key]
    refuse_if(not re.fullmatch(r"[0-9]+", text), "manifest_" + key.replace("-", "_"), f"manifest: {key} {text!r}: not a decimal number")
    return int(text)


def parse_manifest(data):
    refuse_if(len(data) > MANIFEST_BYTES_MAX, "manifest_too_long", f"manifest: {len(data)} bytes; at most {MANIFEST_BYTES_MAX}")
    first = data.split(b"\n", 1)[0]
    refuse_if(not first.startswith(b"augurfs-store "), "manifest_magic", "manifest: first line is not 'augurfs-store 1': not a store")
    refuse_if(first != b"augurfs-store 1", "manifest_version", f"manifest: version {show(first[14:])}: this reader knows 1")
    refuse_if(not data.endswith(b"\n"), "manifest_line", "manifest: last line is not ended by LF")
    lines = data[:-1].split(b"\n")
    at = [i for i, line in enumerate(lines) if line.startswith(b"checksum ")]
    refuse_if(not at, "manifest_missing_key", "manifest: key checksum is missing")
    refuse_if(at[0] != len(lines) - 1, "manifest_after_checksum", "manifest: something after the checksum line")
    body = data[: -len(lines[-1]) - 1]
    checksum = f"checksum {xxh3_64(body):016x}".encode()
    refuse_if(lines[-1] != checksum, "manifest_checksum", "manifest: checksum mismatch")

    values = {}
    for line in lines[1:-1]:
        refuse_if(not line.isascii() or b" " not in line, "manifest_line", f"manifest: line {show(line)!r} is not 'key value'")
        key, value = line.decode().split(" ", 1)
        if key.startswith("x-"):
            continue
        refuse_if(key in values, "manifest_repeated_key", f"manifest: key {key} is repeated")
        refuse_if(
            key not in ("generation", "index", "index-bytes", "index-id", "writer"),
            "manifest_unknown_key",
            f"manifest: unknown key {key}",
        )
        values[key] = value
    for key in ("generation", "index", "index-bytes", "index-id", "writer"):
        refuse_if(key not in values, "manifest_missing_key", f"manifest: key {key} is missing")
    generation = decimal(values, "generation")
    refuse_if(generation == 0, "manifest_generation", "manifest: generation is 0")
    refuse_if(
        values["index"] != f"index-{generation:08d}" or generation > 99_999_999,
        "manifest_index_name",
        f"manifest: index {values['index']!r} is not the name of generation {generation}",
    )
    return Manifest(generation, values["index"], decimal(values, "index-bytes"), values["index-id"], values["writer"])


def read_manifest(folder):
    try:
        with open(os.path.join(folder, b"manifest"), "rb") as file:
            return parse_manifest(file.read(MANIFEST_BYTES_MAX + 1))
    except FileNotFoundError:
        raise StoreError("manifest_missing", f"{show(folder)}: no manifest: not a store") from None


# ---------------------------------------------------------------------------------------------- header


@dataclasses.dataclass(frozen=True)
class Section:
    id: int
    offset: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Header:
    generation: int
    entry_count: int
    shard_count: int
    file_count: int
    directory_count: int
    symlink_count: int
    image_count: int
    tree_bytes: int
    record_bytes: int
    sections: dict
    roots: tuple


def parse_header(manifest, raw, file_bytes):
    """`raw` is the first 8,192 bytes of an index of `file_bytes`."""
    name = manifest.index

    def check(condition, defect, text):
        refuse_if(condition, defect, f"{name}: {text}")

    check(len(raw) < HEADER_BYTES, "index_too_short", f"{len(raw)} bytes: too short for a header")
    (magic, version, header_bytes, stated_bytes, generation, entry_count, shard_count, block_bytes, section_count, reserved) = (
        struct.unpack_from("<8sIIQQQIIII", raw, 0)
    )
    check(magic != b"AUGURIDX", "header_magic", "magic is not AUGURIDX: not an index")
    check(version != 1, "header_version", f"version {version}: this reader knows 1")
    identity = f"{xxhash.xxh3_128_intdigest(raw):032x}"
    check(identity != manifest.index_id, "index_id", "header does not hash to the index-id of the manifest")
    check(xxh3_128(raw[:8176]) != raw[8176:8192], "header_checksum", "header checksum mismatch")
    check(header_bytes != HEADER_BYTES, "header_bytes", f"header bytes {header_bytes}: not {HEADER_BYTES}")
    check(stated_bytes != file_bytes, "header_file_bytes", f"file bytes {stated_bytes}: the file has {file_bytes}")
    check(
        generation != manifest.generation,
        "header_generation",
        f"generation {generation}: the manifest says {manifest.generation}",
    )
    check(block_bytes != BLOCK_BYTES, "header_block_bytes", f"block bytes {block_bytes}: not {BLOCK_BYTES}")
    check(not 5 <= section_count <= 16, "header_section_count", f"section count {section_count}: not 5 to 16")
    used = 128 + 32 * section_count
    check(
        reserved != 0 or any(raw[104:128]) or any(raw[used:640]) or any(raw[640:4096]),
        "header_reserved",
        "a reserved field of the header is not zero",
    )
    sections = parse_sections(name, raw, section_count, file_bytes)
    check(
        not 0 < entry_count <= ENTRIES_MAX or entry_count * ENTRY_BYTES != sections[ENTRIES].bytes,
        "header_entry_count",
        f"entry count {entry_count}: ENTRIES has {sections[ENTRIES].bytes} bytes",
    )
    check(
        shard_count * SHARD_BYTES != sections[SHARDS].bytes,
        "header_shard_count",
        f"shard count {shard_count}: SHARDS has {sections[SHARDS].bytes} bytes",
    )
    roots = struct.unpack_from("<510Q", raw, 4096)
    pieces = -(-sections[CHECKSUMS].bytes // PIECE_BYTES)
    check(pieces > len(roots), "checksums_items", f"CHECKSUMS has {pieces} root pieces: over {len(roots)}")
    check(any(roots[pieces:]), "header_reserved", "an unused root checksum is not zero: reserved")
    totals = struct.unpack_from("<6Q", raw, 56)
    return Header(generation, entry_count, shard_count, *totals, sections, roots)


def parse_sections(name, raw, count, file_bytes):
    sections = []
    for i in range(count):
        id_, version, flags, offset, size, item_bytes, reserved = struct.unpack_from("<IHHQQII", raw, 128 + 32 * i)
        title = f"section {SECTION_NAMES.get(id_, id_)}"

        def check(condition, defect, text, title=title):
            refuse_if(condition, defect, f"{name}: {title}: {text}")

        check(id_ == 0, "section_id", "id is 0")
        check(any(s.id == id_ for s in sections), "section_id", "the same id twice")
        check(flags & ~1 or reserved, "section_reserved", "a reserved flag or field is not zero")
        check(id_ not in ITEM_BYTES and flags & 1, "section_must_understand", "unknown, and must be understood")
        check(id_ in ITEM_BYTES and version != 1, "section_version", f"version {version}: this reader knows 1")
        check(id_ in ITEM_BYTES and item_bytes != ITEM_BYTES[id_], "section_item_bytes", f"item bytes {item_bytes}: not {ITEM_BYTES.get(id_)}")
        check(item_bytes == 0, "section_item_bytes", "item bytes 0")
        check(offset % 64, "section_offset", f"offset {offset}: not a multiple of 64")
        check(offset < PIECE_BYTES, "section_offset", f"offset {offset}: within the header block")
        check(offset > file_bytes, "section_offset", f"offset {offset}: past the end of the file")
        check(offset + size > file_bytes, "section_bytes", f"{size} bytes at {offset}: past the end of the file")
        check(size % item_bytes, "section_bytes", f"{size} bytes: not a multiple of item bytes {item_bytes}")
        sections.append(Section(id_, offset, size))
    placed = sorted((s for s in sections if s.bytes), key=lambda s: s.offset)
    for before, after in zip(placed, placed[1:]):
        refuse_if(
            before.offset + before.bytes > after.offset,
            "section_overlap",
            f"{name}: sections {SECTION_NAMES.get(before.id, before.id)} and {SECTION_NAMES.get(after.id, after.id)} overlap",
        )
    by_id = {s.id: s for s in sections}
    for id_, title in SECTION_NAMES.items():
        refuse_if(id_ not in by_id, "section_missing", f"{name}: section {title} is missing")
    place = by_id[CHECKSUMS]
    refuse_if(
        place.offset % PIECE_BYTES or place.offset + place.bytes != file_bytes,
        "checksums_place",
        f"{name}: section CHECKSUMS: not from a multiple of {PIECE_BYTES} to the end of the file",
    )
    blocks = (place.offset - PIECE_BYTES) // PIECE_BYTES
    refuse_if(
        place.bytes != blocks * 8,
        "checksums_items",
        f"{name}: section CHECKSUMS: {place.bytes // 8} items for {blocks} blocks",
    )
    return by_id


# ---------------------------------------------------------------------------------------------- entries


@dataclasses.dataclass(frozen=True)
class Image:
    width: int
    height: int
    exif_bytes: int
    kind: int
    channels: int
    orientation: int
    bit_depth: int


NO_IMAGE = Image(0, 0, 0, 0, 0, 0, 0)
IMAGE_FORMAT = "<IIIBBBB"


@dataclasses.dataclass(frozen=True)
class Entry:
    number: int
    name: bytes
    mode: int
    mtime: tuple  # seconds, nanoseconds
    shard: int
    size: int
    offset: int
    hash: bytes
    parent: int
    first_block: int
    image: Image

    @property
    def is_directory(self):
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self):
        return stat.S_ISREG(self.mode)

    @property
    def is_symlink(self):
        return stat.S_ISLNK(self.mode)


def known_type(mode):
    return mode & ~0o7777 in (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK)


def good_name(name):
    return 0 < len(name) <= 255 and name not in (b".", b"..") and b"/" not in name and b"\0" not in name


def image_defect(image):
    """What is wrong with the image fields, or None."""
    if image.kind == 0:
        return None if image == NO_IMAGE else "image kind 0, but an image field is not 0"
    if image.kind > 2:
        return f"image kind {image.kind}: not 0, 1 or 2"
    if image.width == 0 or image.height == 0:
        return "image width or height 0"
    if not 1 <= image.channels <= 4:
        return f"image channels {image.channels}: not 1 to 4"
    if image.orientation > 8:
        return f"image orientation {image.orientation}: over 8"
    if image.bit_depth not in ((8, 12) if image.kind == 1 else (1, 2, 4, 8, 16)):
        return f"image bit depth {image.bit_depth}: not one of its kind"
    return None


# ---------------------------------------------------------------------------------------------- catalogue


@dataclasses.dataclass(frozen=True)
class CatalogueItem:
    path: bytes
    mode: int
    mtime: tuple
    size: int
    shard: int
    offset: int
    hash: bytes
    image: Image
    target: bytes
    blocks: tuple


def parse_catalogue_item(name, payload, at):
    """The item at byte `at` of the payload, and its length."""

    def check(condition, defect, text):
        refuse_if(condition, defect, f"{name}: catalogue item: {text}")

    check(len(payload) - at < 88, "catalogue_item", "past the end of its frame")
    (item_bytes, path_bytes, target_bytes, block_count, mode, nanoseconds, seconds, size, shard, reserved, offset, hash_) = (
        struct.unpack_from("<IIIIIIqQIIQ16s", payload, at)
    )
    used = 88 + path_bytes + target_bytes + 16 * block_count
    check(item_bytes % 8 or not used <= item_bytes < used + 8, "catalogue_item", f"item bytes {item_bytes}: its parts have {used}")
    check(at + item_bytes > len(payload), "catalogue_item", "past the end of its frame")
    check(reserved, "catalogue_item_reserved", "reserved field is not zero")
    check(any(payload[at + used : at + item_bytes]), "catalogue_item_reserved", "padding is not zero")
    image = Image(*struct.unpack_from(IMAGE_FORMAT, payload, at + 72))
    path = payload[at + 88 : at + 88 + path_bytes]
    target = payload[at + 88 + path_bytes : at + 88 + path_bytes + target_bytes]
    start = at + 88 + path_bytes + target_bytes
    blocks = tuple(payload[start + 16 * i : start + 16 * (i + 1)] for i in range(block_count))

    check(path and not all(good_name(part) for part in path.split(b"/")), "catalogue_item_path", f"bad path {show(path)!r}")
    check(not known_type(mode), "catalogue_item_mode", f"{show(path)!r}: type {mode:o}")
    check(nanoseconds > 999_999_999, "catalogue_item_mtime", f"{show(path)!r}: nanoseconds {nanoseconds}")
    is_link, is_file = stat.S_ISLNK(mode), stat.S_ISREG(mode)
    check(not path and not stat.S_ISDIR(mode), "catalogue_item_path", "the root is not a directory")
    check(
        (is_link and (not 0 < target_bytes <= 4095 or b"\0" in target)) or (not is_link and target_bytes),
        "catalogue_item_target",
        f"{show(path)!r}: bad target",
    )
    has_record = is_file and size > 0
    check(has_record == (shard == NO_SHARD), "catalogue_item_record", f"{show(path)!r}: shard {shard} with size {size}")
    check(not is_file and (size or any(hash_)), "catalogue_item_record", f"{show(path)!r}: size or hash, but not a regular file")
    check(
        block_count != (-(-size // BLOCK_BYTES) if size > BLOCK_BYTES else 0),
        "catalogue_item_record",
        f"{show(path)!r}: block count {block_count} with size {size}",
    )
    wrong = image_defect(image) if is_file else (None if image == NO_IMAGE else "an image field is not 0")
    check(wrong, "catalogue_item_image", f"{show(path)!r}: {wrong}")
    return CatalogueItem(path, mode, (seconds, nanoseconds), size, shard, offset, hash_, image, target, blocks), item_bytes


def parse_catalogue(name, data):
    items = []
    at = 0
    while at < len(data):
        frame = f"{name}: catalogue frame at {at}"
        refuse_if(len(data) - at < 24, "frame_payload_bytes", f"{frame}: header past the end")
        magic, payload_bytes, item_count, reserved, checksum = struct.unpack_from("<4sIIIQ", data, at)
        refuse_if(magic != b"CFRM", "frame_magic", f"{frame}: magic is not CFRM")
        refuse_if(reserved, "frame_reserved", f"{frame}: reserved field is not zero")
        refuse_if(at + 24 + payload_bytes > len(data), "frame_payload_bytes", f"{frame}: payload bytes {payload_bytes}: past the end")
        payload = data[at + 24 : at + 24 + payload_bytes]
        refuse_if(xxh3_64(payload) != checksum, "frame_checksum", f"{frame}: payload checksum mismatch")
        count = 0
        inner = 0
        while inner < payload_bytes:
            item, item_bytes = parse_catalogue_item(name, payload, inner)
            items.append(item)
            inner += item_bytes
            count += 1
        refuse_if(count != item_count, "frame_item_count", f"{frame}: item count {item_count}: the payload has {count} items")
        at += 24 + payload_bytes
    return items


# ---------------------------------------------------------------------------------------------- shards


@dataclasses.dataclass(frozen=True)
class ShardHeader:
    number: int
    generation: int


def pread_all(fd, size, offset, name):
    parts = []
    while size:
        part = os.pread(fd, min(size, 1 << 24), offset)
        refuse_if(not part, "shard_too_short", f"{name}: truncated at byte {offset}")
        parts.append(part)
        offset += len(part)
        size -= len(part)
    return b"".join(parts)


def parse_shard_header(name, raw):
    refuse_if(len(raw) < 64, "shard_too_short", f"{name}: {len(raw)} bytes: too short for a shard header")
    magic, version, number, generation = struct.unpack_from("<8sIIQ", raw, 0)
    refuse_if(magic != b"AUGURSHD", "shard_magic", f"{name}: magic is not AUGURSHD: not a shard")
    refuse_if(version != 1, "shard_version", f"{name}: version {version}: this reader knows 1")
    refuse_if(struct.unpack_from("<Q", raw, 56)[0] != xxh3_64(raw[:56]), "shard_checksum", f"{name}: header checksum mismatch")
    refuse_if(any(raw[24:56]), "shard_reserved", f"{name}: reserved field of the header is not zero")
    return ShardHeader(number, generation)


def read_catalogue(fd, name, header):
    """The catalogue items of the complete own shard that `fd` has open."""
    size = os.fstat(fd).st_size
    refuse_if(size < 128, "shard_too_short", f"{name}: {size} bytes: too short for a trailer")
    raw = pread_all(fd, 64, size - 64, name)
    magic, version, number, generation, offset, length, items, checksum = struct.unpack_from("<8sIIQQQQQ", raw, 0)
    refuse_if(magic != b"AUGURCAT", "trailer_magic", f"{name}: trailer magic is not AUGURCAT")
    refuse_if(version != 1, "trailer_version", f"{name}: trailer version {version}: this reader knows 1")
    refuse_if(struct.unpack_from("<Q", raw, 56)[0] != xxh3_64(raw[:56]), "trailer_checksum", f"{name}: trailer checksum mismatch")
    refuse_if(number != header.number, "trailer_number", f"{name}: trailer shard number {number}: the header says {header.number}")
    refuse_if(
        generation != header.generation,
        "trailer_generation",
        f"{name}: trailer generation {generation}: the header says {header.generation}",
    )
    refuse_if(
        offset < 64 or offset + length != size - 64,
        "trailer_catalogue_place",
        f"{name}: trailer: catalogue offset {offset} and bytes {length} do not end where the trailer begins",
    )
    data = pread_all(fd, length, offset, name)
    refuse_if(xxh3_64(data) != checksum, "catalogue_checksum", f"{name}: catalogue checksum mismatch")
    listing = parse_catalogue(name, data)
    refuse_if(len(listing) != items, "trailer_item_count", f"{name}: trailer item count {items}: the frames have {len(listing)}")
    return listing


class Shard:
    """A shard of the table, opened and checked. Owns its descriptor."""

    def __init__(self, store, number):
        """Opens shard `number` of the store; refuses what the table and the shard's header must not have."""
        where = f"{store.manifest.index}: shard {number}"

        def check(condition, defect, text):
            refuse_if(condition, defect, f"{where}: {text}")

        check(number >= store.header.shard_count, "file_shard", "not below the shard count")
        raw = store.section_bytes(SHARDS, number * SHARD_BYTES, SHARD_BYTES)
        (kind, locator_kind, locator_bytes, locator_offset, file_bytes, seconds, nanoseconds, reserved, generation, more) = struct.unpack(
            "<HHIQQqIIQ16s", raw
        )
        check(kind not in (OWN, FOREIGN), "shard_kind", f"kind {kind}: not own or foreign")
        check(locator_kind not in (RELATIVE, ABSOLUTE), "shard_locator_kind", f"locator kind {locator_kind}: not relative or absolute")
        check(kind == OWN and locator_kind != RELATIVE, "shard_locator_kind", "locator kind of an own shard is not relative")
        check(
            not 0 < locator_bytes <= 4095 or locator_offset + locator_bytes > store.header.sections[NAMES].bytes,
            "shard_locator",
            f"locator of {locator_bytes} bytes at {locator_offset}: leaves NAMES, is empty or too long",
        )
        locator = store.section_bytes(NAMES, locator_offset, locator_bytes)
        check(b"\0" in locator, "shard_locator", "NUL in the locator")
        check(kind == OWN and b"/" in locator, "shard_locator", f"'/' in the locator {show(locator)!r} of an own shard")
        check(nanoseconds > 999_999_999, "shard_nanoseconds", f"token nanoseconds {nanoseconds}: over 999999999")
        check(reserved or any(more), "shard_item_reserved", "reserved field is not zero")
        check(not 0 < generation <= store.manifest.generation, "shard_generation", f"generation {generation}: 0 or above the index's")

        self.kind = kind
        self.bytes = file_bytes
        self.name = show(locator)
        self.fd = -1
        try:
            self.fd = os.open(os.path.join(store.folder, locator), os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise StoreError("shard_missing", f"{self.name}: {os.strerror(error.errno)}") from None
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

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


# ---------------------------------------------------------------------------------------------- store


class Store:
    """One generation of a store, open: the manifest, the header and the root entry are checked, the rest when used.

    Owns the map of the index and a descriptor for each shard that was needed; a context manager closes them.
    `warnings` collects what is odd but not refused.
    """

    def __init__(self, path):
        self.folder = os.path.abspath(os.fsencode(path))
        self.warnings = []
        self._shards = {}
        self._checked_pieces = set()
        self._checked_blocks = set()
        self._map = None
        self._fd = -1
        try:
            self._open()
            self.entry(0)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()
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
        refuse_if(size < HEADER_BYTES, "index_too_short", f"{self.manifest.index}: {size} bytes: too short for a header")
        self._map = mmap.mmap(self._fd, size, prot=mmap.PROT_READ)
        self.header = parse_header(self.manifest, self._map[:HEADER_BYTES], size)

    # --- bytes of the index, checked before use

    def _check_piece(self, piece):
        if piece in self._checked_pieces:
            return
        section = self.header.sections[CHECKSUMS]
        start = section.offset + piece * PIECE_BYTES
        data = self._map[start : min(start + PIECE_BYTES, section.offset + section.bytes)]
        refuse_if(
            xxh3_64(data) != self.header.roots[piece],
            "root_checksum",
            f"{self.manifest.index}: root piece {piece} of CHECKSUMS: checksum mismatch",
        )
        self._checked_pieces.add(piece)

    def _check_block(self, block):
        if block in self._checked_blocks:
            return
        self._check_piece(block * 8 // PIECE_BYTES)
        expected = struct.unpack_from("<Q", self._map, self.header.sections[CHECKSUMS].offset + 8 * block)[0]
        start = (block + 1) * PIECE_BYTES
        refuse_if(
            xxh3_64(self._map[start : start + PIECE_BYTES]) != expected,
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
        for block in range(self.header.sections[CHECKSUMS].bytes // 8):
            self._check_block(block)

    # --- the tree

    def _mode(self, number):
        return struct.unpack_from("<I", self.section_bytes(ENTRIES, number * ENTRY_BYTES + 12, 4))[0]

    def entry(self, number):
        """Entry `number`, with every rule for it checked that needs no shard file and no sibling."""
        assert 0 <= number < self.header.entry_count
        raw = self.section_bytes(ENTRIES, number * ENTRY_BYTES, ENTRY_BYTES)
        (name_offset, name_bytes, reserved, mode, seconds, nanoseconds, shard, size, offset, hash_, parent, first_block) = struct.unpack_from(
            "<QHHIqIIQQ16sQQ", raw
        )
        image = Image(*struct.unpack_from(IMAGE_FORMAT, raw, 80))

        def check(condition, defect, text):
            refuse_if(condition, defect, f"{self.manifest.index}: entry {number}: {text}")

        check(not known_type(mode), "entry_type", f"mode {mode:o}: type is not directory, regular file or symbolic link")
        check(nanoseconds > 999_999_999, "entry_nanoseconds", f"mtime nanoseconds {nanoseconds}: over 999999999")
        check(reserved, "entry_reserved", "reserved field is not zero")
        check(name_offset + name_bytes > self.header.sections[NAMES].bytes, "entry_name_range", "name leaves NAMES")
        check(parent >= self.header.entry_count, "entry_parent", f"parent {parent}: not below the entry count")
        if number == 0:
            check(not stat.S_ISDIR(mode), "root_type", "the root is not a directory")
            check(name_bytes != 0, "root_name", "the root has a name")
            check(parent != 0, "root_parent", f"the root has parent {parent}")
            name = b""
        else:
            check(parent >= number, "entry_parent", f"parent {parent}: not below its own number")
            check(not stat.S_ISDIR(self._mode(parent)), "entry_parent", f"parent {parent} is not a directory")
            check(not 0 < name_bytes <= 255, "entry_name_bytes", f"name of {name_bytes} bytes: not 1 to 255")
            name = self.section_bytes(NAMES, name_offset, name_bytes)
            check(not good_name(name), "entry_name", f"name {show(name)!r} is not allowed")

        if stat.S_ISREG(mode):
            self._check_regular(check, shard, size, offset, hash_, first_block)
            wrong = image_defect(image)
            check(wrong, "entry_image", wrong)
        else:
            what = "directory" if stat.S_ISDIR(mode) else "symbolic link"
            for field, value in (("shard", shard), ("hash", any(hash_)), ("first block", first_block), ("image", image != NO_IMAGE)):
                check(value, "entry_unused_field", f"{field} of a {what} is not 0")
        if stat.S_ISDIR(mode):
            check(size and offset <= number, "directory_offset", f"children from entry {offset}: not above its own number")
            check(not size and offset, "directory_offset", f"empty directory with offset {offset}")
            check(offset + size > self.header.entry_count, "directory_range", f"{size} children from entry {offset} leave the entry table")
        if stat.S_ISLNK(mode):
            check(not 0 < size <= 4095, "link_size", f"link target of {size} bytes: not 1 to 4095")
            check(offset + size > self.header.sections[NAMES].bytes, "link_range", "link target leaves NAMES")
            check(b"\0" in self.section_bytes(NAMES, offset, size), "link_nul", "NUL in the link target")
        return Entry(number, name, mode, (seconds, nanoseconds), shard, size, offset, hash_, parent, first_block, image)

    def _check_regular(self, check, shard, size, offset, hash_, first_block):
        if size == 0:
            check(shard != NO_SHARD, "empty_file", f"shard {shard} of an empty file: not 0xFFFFFFFF")
            check(offset, "empty_file", f"offset {offset} of an empty file: not 0")
            check(first_block, "empty_file", f"first block {first_block} of an empty file: not 0")
            check(hash_ != HASH_OF_NOTHING, "empty_file", "hash of an empty file is not that of no bytes")
            return
        check(shard >= self.header.shard_count, "file_shard", f"shard {shard}: not below the shard count")
        item = self.section_bytes(SHARDS, shard * SHARD_BYTES, SHARD_BYTES)
        shard_bytes = struct.unpack_from("<Q", item, 16)[0]
        first_byte = 64 if struct.unpack_from("<H", item, 0)[0] == OWN else 0
        check(
            offset < first_byte or offset + size > shard_bytes,
            "file_range",
            f"offset {offset} and size {size} leave shard {shard}, which has {shard_bytes} bytes",
        )
        if size > BLOCK_BYTES:
            blocks = -(-size // BLOCK_BYTES)
            room = self.header.sections[BLOCKS].bytes // 16
            check(first_block + blocks > room, "file_blocks", f"first block {first_block} and {blocks} blocks leave BLOCKS")
        else:
            check(first_block, "file_blocks", f"first block {first_block} of a record up to block bytes: not 0")

    def children(self, directory):
        """The checked entries of the directory's children, by name."""
        before = None
        for number in range(directory.offset, directory.offset + directory.size):
            child = self.entry(number)
            self._check_parent(directory, child)
            refuse_if(
                before is not None and child.name <= before,
                "children_order",
                f"{self.manifest.index}: entry {number}: name {show(child.name)!r}: children not strictly ascending",
            )
            before = child.name
            yield child

    def _check_parent(self, directory, child):
        refuse_if(
            child.parent != directory.number,
            "child_parent",
            f"{self.manifest.index}: entry {child.number}: parent {child.parent}: listed as a child of {directory.number}",
        )

    def lookup(self, path):
        """The entry at `path` (bytes; `a/b`, the root is empty), or None when there is none."""
        entry = self.entry(0)
        for part in path.split(b"/") if path else ():
            if not entry.is_directory:
                return None
            low, high = entry.offset, entry.offset + entry.size
            found = None
            while low < high and found is None:
                middle = (low + high) // 2
                child = self.entry(middle)
                self._check_parent(entry, child)
                if child.name == part:
                    found = child
                elif child.name < part:
                    low = middle + 1
                else:
                    high = middle
            if found is None:
                return None
            entry = found
        return entry

    def walk(self):
        """Yields (path, entry) of the whole tree in path order, the root first with an empty path."""
        root = self.entry(0)
        yield b"", root
        stack = [(b"", self.children(root))]
        while stack:
            prefix, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                stack.pop()
                continue
            path = prefix + child.name
            yield path, child
            if child.is_directory:
                stack.append((path + b"/", self.children(child)))

    def link_target(self, entry):
        assert entry.is_symlink
        return self.section_bytes(NAMES, entry.offset, entry.size)

    # --- records

    def shard(self, number):
        if number not in self._shards:
            self._shards[number] = Shard(self, number)
        return self._shards[number]

    def blocks(self, entry):
        """The hashes of the blocks of a large record; none for others."""
        if entry.size <= BLOCK_BYTES:
            return ()
        count = -(-entry.size // BLOCK_BYTES)
        raw = self.section_bytes(BLOCKS, entry.first_block * 16, count * 16)
        return tuple(raw[i : i + 16] for i in range(0, len(raw), 16))

    def read(self, entry, offset=0, size=None):
        """Bytes of a regular file, as read(2): short or empty at the end. Only checked bytes are returned."""
        assert entry.is_file
        end = entry.size if size is None else min(entry.size, offset + size)
        if offset >= end:
            return b""
        shard = self.shard(entry.shard)
        if entry.size <= BLOCK_BYTES:
            data = pread_all(shard.fd, entry.size, entry.offset, shard.name)
            refuse_if(xxh3_128(data) != entry.hash, "record_hash", f"{shard.name}: record of entry {entry.number}: checksum mismatch")
            return data[offset:end]
        hashes = self.blocks(entry)
        parts = []
        for block in range(offset // BLOCK_BYTES, -(-end // BLOCK_BYTES)):
            start = block * BLOCK_BYTES
            data = pread_all(shard.fd, min(BLOCK_BYTES, entry.size - start), entry.offset + start, shard.name)
            refuse_if(
                xxh3_128(data) != hashes[block],
                "record_block_hash",
                f"{shard.name}: record of entry {entry.number}: block {block}: checksum mismatch",
            )
            parts.append(data[max(offset - start, 0) : end - start])
        return b"".join(parts)


# ---------------------------------------------------------------------------------------------- whole-store checks


@dataclasses.dataclass
class Report:
    entries: int
    files: int
    records: int
    record_bytes: int
    catalogue_items: int
    warnings: list


def full_check(path):
    """Checks every byte and every rule; returns a Report or raises StoreError."""
    with Store(path) as store:
        store.check_all_blocks()
        files = directories = symlinks = images = tree_bytes = 0
        records = {}
        for number in range(store.header.entry_count):
            entry = store.entry(number)
            if number:
                parent = store.entry(entry.parent)
                refuse_if(
                    not parent.offset <= number < parent.offset + parent.size,
                    "entry_orphan",
                    f"{store.manifest.index}: entry {number}: not among the children of its parent {entry.parent}",
                )
            if entry.is_directory:
                directories += 1
                for _ in store.children(entry):
                    pass
            elif entry.is_symlink:
                symlinks += 1
            else:
                files += 1
                images += entry.image.kind != 0
                tree_bytes += entry.size
                if entry.size:
                    records.setdefault((entry.shard, entry.offset, entry.size), []).append(entry)
        record_bytes = sum(size for _, _, size in records)
        for title, stated, counted in (
            ("file count", store.header.file_count, files),
            ("directory count", store.header.directory_count, directories),
            ("symlink count", store.header.symlink_count, symlinks),
            ("image count", store.header.image_count, images),
            ("tree bytes", store.header.tree_bytes, tree_bytes),
            ("record bytes", store.header.record_bytes, record_bytes),
        ):
            refuse_if(stated != counted, "header_totals", f"{store.manifest.index}: {title} {stated}: the entries have {counted}")

        catalogue_items = 0
        for number in range(store.header.shard_count):
            shard = store.shard(number)
            if shard.kind == OWN:
                catalogue_items += len(read_catalogue(shard.fd, shard.name, shard.header))
        for sharing in records.values():
            for entry in {(e.hash, e.first_block): e for e in sharing}.values():
                digest = xxhash.xxh3_128()
                for start in range(0, entry.size, BLOCK_BYTES):
                    digest.update(store.read(entry, start, BLOCK_BYTES))
                refuse_if(
                    digest.intdigest().to_bytes(16, "little") != entry.hash,
                    "record_hash",
                    f"{store.shard(entry.shard).name}: record of entry {entry.number}: checksum mismatch of the whole record",
                )
        return Report(store.header.entry_count, files, len(records), record_bytes, catalogue_items, list(store.warnings))


SHARD_NAME = re.compile(rb"shard-([0-9]{8})-([0-9]{5,})")


class Rebuilt:
    """The tree of a store from the catalogues of its own shards alone: no index is read, and a manifest only to tell
    which generations are complete. `items` is path -> CatalogueItem."""

    def __init__(self, folder):
        self.folder = os.path.abspath(os.fsencode(folder))
        self.items = {}
        self._names = {}
        try:
            newest = read_manifest(self.folder).generation
        except StoreError:
            newest = None
        found = []
        for name in os.listdir(self.folder):
            match = SHARD_NAME.fullmatch(name)
            if match and (newest is None or int(match[1]) <= newest):
                found.append((int(match[1]), int(match[2]), name))
        for generation, number, name in sorted(found):
            with open(os.path.join(self.folder, name), "rb") as file:
                header = parse_shard_header(show(name), file.read(64))
                refuse_if(
                    (header.generation, header.number) != (generation, number),
                    "shard_name",
                    f"{show(name)}: header says generation {header.generation}, shard number {header.number}",
                )
                self._names[number] = name
                for item in read_catalogue(file.fileno(), show(name), header):
                    self.items[item.path] = item

    def read(self, item):
        """The whole record of an item that lies in an own shard, checked."""
        if item.size == 0:
            return b""
        name = self._names[item.shard]
        with open(os.path.join(self.folder, name), "rb") as file:
            data = pread_all(file.fileno(), item.size, item.offset, show(name))
        refuse_if(xxh3_128(data) != item.hash, "record_hash", f"{show(name)}: record of {show(item.path)!r}: checksum mismatch")
        for i, expected in enumerate(item.blocks):
            block = data[i * BLOCK_BYTES : (i + 1) * BLOCK_BYTES]
            refuse_if(xxh3_128(block) != expected, "record_block_hash", f"{show(name)}: record of {show(item.path)!r}: block {i}: checksum mismatch")
        return data


def rebuild(path):
    return Rebuilt(path)


# ---------------------------------------------------------------------------------------------- command line


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("check", "ls", "cat"):
        print(__doc__, file=sys.stderr)
        return 2
    command, path = arguments[:2]
    try:
        if command == "check":
            report = full_check(path)
            for warning in report.warnings:
                print(f"warning: {warning}", file=sys.stderr)
            print(
                f"{report.entries} entries, {report.files} files, {report.records} records of {report.record_bytes} bytes,"
                f" {report.catalogue_items} catalogue items: good"
            )
            return 0
        with Store(path) as store:
            if command == "ls":
                for name, entry in store.walk():
                    tail = f" -> {show(store.link_target(entry))}" if entry.is_symlink else ""
                    seconds, nanoseconds = entry.mtime
                    print(f"{stat.filemode(entry.mode)} {entry.size:>12} {seconds}.{nanoseconds:09} {show(name) or '.'}{tail}")
                return 0
            wanted = os.fsencode(arguments[2]) if len(arguments) > 2 else b""
            entry = store.lookup(wanted)
            if entry is None or not entry.is_file:
                print(f"reader.py: {show(wanted)}: no such regular file", file=sys.stderr)
                return 2
            for start in range(0, entry.size, BLOCK_BYTES):
                sys.stdout.buffer.write(store.read(entry, start, BLOCK_BYTES))
            return 0
    except StoreError as error:
        print(f"reader.py: {path}: {error} [{error.defect}]", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
