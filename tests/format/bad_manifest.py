# SPDX-License-Identifier: Apache-2.0
"""Bad stores: every refusal of a manifest."""

import os

from patch import Index
from bad_table import INDEX, MANIFEST, add


def manifest(name, change, defect, *words, base="plain", file=MANIFEST):
    """`change` edits the lines of the manifest in the Index that it is given; the checksum is made right."""

    def make(store):
        index = Index(store)
        change(index)
        index.save_manifest("".join(line + "\n" for line in index.lines).encode())

    add(name, make, defect, file, *words, base=base)


def set_line(key, line):
    return lambda index: index.set_line(key, line)


def raw_manifest(edit):
    def make(store):
        path = os.path.join(store, "manifest")
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(edit(data))

    return make


add(
    "manifest_missing",
    lambda store: os.remove(os.path.join(store, "manifest")),
    "manifest_missing",
    MANIFEST,
    "not a store|no such file",
)
add(
    "manifest_empty",
    raw_manifest(lambda data: b""),
    "manifest_magic",
    MANIFEST,
    "augurfs-store|not a store|empty|missing|LF",
)
add(
    "manifest_no_final_lf", raw_manifest(lambda data: data[:-1]), "manifest_line", MANIFEST, "LF|newline|ended|checksum"
)
add(
    "manifest_checksum",
    raw_manifest(lambda data: data.replace(b"writer m", b"writer M")),
    "manifest_checksum",
    MANIFEST,
    "checksum",
)
add(
    "manifest_checksum_upper_case",
    raw_manifest(lambda data: data[: data.rindex(b" ")] + data[data.rindex(b" ") :].upper()),
    "manifest_checksum",
    MANIFEST,
    "checksum",
)
add(
    "manifest_missing_checksum",
    raw_manifest(lambda data: data[: data.rindex(b"checksum")]),
    "manifest_missing_key",
    MANIFEST,
    "checksum",
)
add(
    "manifest_after_checksum",
    raw_manifest(lambda data: data + b"x-more text\n"),
    "manifest_after_checksum",
    MANIFEST,
    "checksum",
)
add(
    "manifest_after_checksum_lf",
    raw_manifest(lambda data: data + b"\n"),
    "manifest_after_checksum",
    MANIFEST,
    "checksum",
)
manifest(
    "manifest_too_long", lambda index: index.lines.append("x-fill " + "f" * 4096), "manifest_too_long", r"4[, ]?096"
)
manifest(
    "manifest_not_a_store", set_line("augurfs-store", "augurfs-stor 1"), "manifest_magic", "augurfs-store|not a store"
)
manifest(
    "manifest_version_3", set_line("augurfs-store", "augurfs-store 3"), "manifest_version", "version|augurfs-store", "3"
)
manifest(
    "manifest_version_01", set_line("augurfs-store", "augurfs-store 01"), "manifest_version", "version|augurfs-store"
)
for key_ in ("generation", "index", "index-bytes", "index-id", "writer"):
    manifest(
        "manifest_missing_" + key_.replace("-", "_"), set_line(key_, None), "manifest_missing_key", key_, "missing|no "
    )
manifest(
    "manifest_repeated_key",
    lambda index: index.lines.append("generation 1"),
    "manifest_repeated_key",
    "generation",
    "repeat|twice|again|once",
)
manifest(
    "manifest_unknown_key", lambda index: index.lines.append("colour blue"), "manifest_unknown_key", "unknown", "colour"
)
manifest(
    "manifest_line_without_space",
    lambda index: index.lines.append("x-nothing"),
    "manifest_line",
    "line|key|space",
    "x-nothing|space|value",
)
manifest("manifest_generation_0", set_line("generation", "generation 0"), "manifest_generation", "generation")
for label_, text_ in (
    ("with_letter", "1a"),
    ("negative", "-1"),
    ("hex", "0x1"),
    ("over_limit", "100000000"),
    ("overflow_u64", "99999999999999999999999"),
    ("leading_zero", "01"),
):
    manifest(
        f"manifest_generation_{label_}",
        set_line("generation", "generation " + text_),
        "manifest_generation",
        "generation",
    )
manifest("manifest_value_empty", set_line("generation", "generation "), "manifest_line", "generation")
manifest("manifest_two_spaces", set_line("writer", "writer  someone"), "manifest_line", "writer", "space|key value")
manifest("manifest_tab", set_line("writer", "writer some\tone"), "manifest_line", "ASCII")
manifest(
    "manifest_index_bytes_leading_zero",
    lambda index: index.set_line("index-bytes", "index-bytes 0" + index.value("index-bytes")),
    "manifest_index_bytes",
    "index-bytes",
)
manifest(
    "manifest_index_name_short", set_line("index", "index index-1"), "manifest_index_name", "index", "index-1|name"
)
manifest(
    "manifest_index_name_of_another",
    set_line("index", "index index-00000002"),
    "manifest_index_name",
    "index",
    "index-00000002|name",
)
manifest(
    "manifest_index_name_with_slash",
    set_line("index", "index ../store/index-00000001"),
    "manifest_index_name",
    "index",
)
manifest(
    "manifest_index_bytes",
    set_line("index-bytes", "index-bytes 131081"),
    "manifest_index_bytes",
    "131081|index-bytes|size",
    file=f"{INDEX}|{MANIFEST}",
)
manifest(
    "manifest_index_bytes_not_decimal",
    set_line("index-bytes", "index-bytes 131073b"),
    "manifest_index_bytes",
    "index-bytes",
)
manifest(
    "manifest_index_id",
    lambda index: index.set_line("index-id", "index-id " + "0" * len(index.value("index-id"))),
    "index_id",
    "index-id|hash",
    file=f"{INDEX}|{MANIFEST}",
)
manifest(
    "manifest_index_id_of_the_other_version",
    lambda index: index.set_line("index-id", "index-id " + "0" * (96 - len(index.value("index-id")))),
    "index_id",
    "index-id|hash",
    file=f"{INDEX}|{MANIFEST}",
)
