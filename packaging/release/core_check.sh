#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# core_check.sh PHOTOS: tries the programs that are in PATH: packs the folder PHOTOS, mounts it as this user, compares all bytes with the
# folder, decodes each photograph, hands the mount over to another daemon, and unmounts. As root, it also mounts as an ordinary user, where
# that may open /dev/fuse, the programs and the folder, and there is fusermount3. Needs /dev/fuse, and no more than what each Linux has.
# Prints the SHA-256 of what was decoded.
set -eu

photos=$1
work=$(mktemp -d /tmp/augur-core.XXXXXX)
chmod 755 "$work"
umount_all() { for point in "$work/mount" "$work/users"; do umount -l "$point" 2>/dev/null || fusermount3 -uzq "$point" 2>/dev/null || true; done; }
trap 'umount_all; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/mount" "$work/users" "$work/cache"
chmod 777 "$work/users" "$work/cache"
export XDG_CACHE_HOME="$work/cache"

for program in augurpack augurfs augurctl; do
  echo "$(command -v "$program"): $("$program" --version | awk 'NR == 1 { v = $0 } NR == 3 { sub("build: ", ""); print v ", " $0 }')"
done
unmount() { # MOUNTPOINT
  if [ "$(id -u)" -eq 0 ]; then umount "$1"; else fusermount3 -u "$1"; fi
}
augurpack create --quiet "$photos" "$work/store"
augurpack verify "$work/store" >/dev/null
augurfs "$work/store" "$work/mount"
diff -r "$photos" "$work/mount"
augurctl restart "$work/mount" >/dev/null
diff -r "$photos" "$work/mount"
augurctl status "$work/mount" >/dev/null
(cd "$work/mount/.augur/views/npy+size=96x96" && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$work/decoded"
echo "$(find "$photos" -type f | wc -l) files are the same; decoded: $(sha256sum <"$work/decoded" | cut -c1-16)"
unmount "$work/mount"
! mountpoint -q "$work/mount" 2>/dev/null

as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
can() { as_user test -w /dev/fuse && as_user test -x "$(command -v augurfs)" && as_user test -r "$photos"; }
if [ "$(id -u)" -eq 0 ] && command -v fusermount3 >/dev/null && can; then
  as_user augurfs "$work/store" "$work/users"
  as_user diff -r "$photos" "$work/users"
  as_user fusermount3 -u "$work/users"
  echo "the same as an ordinary user"
fi
