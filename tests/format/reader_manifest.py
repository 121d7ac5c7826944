# SPDX-License-Identifier: Apache-2.0
"""Section 2 of FORMAT.md: the manifest."""

import dataclasses
import os
import re

from reader_error import StoreError, refuse_if, show, xxh3_64

MANIFEST_BYTES_MAX = 4096


@dataclasses.dataclass(frozen=True)
class Manifest:
    version: int
    generation: int
    index: str
    index_bytes: int
    index_id: str
    writer: str


def decimal(values, key):
    text = values[key]
    refuse_if(
        not re.fullmatch(r"0|[1-9][0-9]*", text),
        "manifest_" + key.replace("-", "_"),
        f"manifest: {key} {text!r}: not a decimal number without leading zeros",
    )
    return int(text)


def parse_manifest(data):
    refuse_if(
        len(data) > MANIFEST_BYTES_MAX,
        "manifest_too_long",
        f"manifest: {len(data)} bytes; at most {MANIFEST_BYTES_MAX}",
    )
    first = data.split(b"\n", 1)[0]
    refuse_if(
        not first.startswith(b"augurfs-store "),
        "manifest_magic",
        "manifest: first line is not 'augurfs-store' and a version: not a store",
    )
    refuse_if(
        first[14:] not in (b"1", b"2"),
        "manifest_version",
        f"manifest: version {show(first[14:])}: this reader knows 1 and 2",
    )
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
        refuse_if(
            not re.fullmatch(rb"[!-~]+ [!-~][ -~]*", line),
            "manifest_line",
            f"manifest: line {show(line)!r} is not 'key value' in printable ASCII",
        )
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
    refuse_if(
        not 0 < generation <= 99_999_999,
        "manifest_generation",
        f"manifest: generation {generation} is not from 1 to 99999999",
    )
    refuse_if(
        values["index"] != f"index-{generation:08d}",
        "manifest_index_name",
        f"manifest: index {values['index']!r} is not the name of generation {generation}",
    )
    index_bytes = decimal(values, "index-bytes")
    return Manifest(int(first[14:]), generation, values["index"], index_bytes, values["index-id"], values["writer"])


def read_manifest(folder):
    try:
        with open(os.path.join(folder, b"manifest"), "rb") as file:
            return parse_manifest(file.read(MANIFEST_BYTES_MAX + 1))
    except FileNotFoundError:
        raise StoreError("manifest_missing", f"{show(folder)}: no manifest: not a store") from None
