#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_deb.sh STAGE VERSION [--static] OUTDIR: makes a Debian package of an installed tree, below /usr, and prints its path. Without
# --static the package depends on the libraries of this system.
set -euo pipefail

stage=$(realpath "$1") version=$2 static=
[ "$3" != --static ] || { static=1; shift; }
outdir=$(realpath "$3")
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
root=$work/root
mkdir -p "$root/DEBIAN" "$root/usr" "$root/etc/augurfs"
cp -r "$stage/." "$root/usr"
sed -i 's,/usr/local/bin/,/usr/bin/,' "$root/usr/lib/systemd/system/augurfs@.service"
find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
gzip -9n "$root/usr/share/doc/augurfs/CHANGELOG.md"

# fuse3 has fusermount3, with which ordinary users mount, and mount.fuse3, for /etc/fstab.
depends=fuse3
if [ -z "$static" ]; then
  mkdir "$work/debian"
  printf 'Source: augurfs\n\nPackage: augurfs\nArchitecture: any\n' >"$work/debian/control"
  shared=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/* 2>/dev/null)
  shared=${shared#shlibs:Depends=} # nothing, of programs that need none
  depends="${shared:+$shared, }$depends"
fi
cat >"$root/DEBIAN/control" <<END
Package: augurfs
Version: $version
Architecture: $architecture
Maintainer: The developers of AugurFS
Section: utils
Priority: optional
Depends: $depends
Recommends: ca-certificates
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Description: read-only file system that makes training read images faster
 augurpack packs a folder of images into a few large files. augurfs mounts
 them as the same folder. It finds out how an epoch is shuffled, and reads
 ahead. Training scripts need no change.
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
file=$outdir/augurfs_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz -z"${LEVEL:-9}" --build "$root" "$file" >/dev/null
echo "$file"
