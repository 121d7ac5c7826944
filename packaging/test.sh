#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything and runs all tests: see usage.
set -euo pipefail

usage() {
  cat <<'END'
usage: packaging/test.sh [--quick] [--sanitizers] [--tidy-all] [--no-skips]
Installs what the tests need (Debian 12, root or sudo), builds the release preset, and runs all tests: the unit tests, the
tests of the programs and of the mount, the frameworks (PyTorch, TensorFlow, ...), the style, and as root five minutes of
bench/soak.py. Leaves nothing mounted.
  --quick       no frameworks, no style, no soak: unit tests, programs and mount only
  --sanitizers  also the unit, program and mount tests under the address+undefined and the thread sanitizer; images that no
                run had before (AUGUR_TEST_SEED is drawn), and the tests that take minutes (AUGUR_TEST_LONG)
  --tidy-all    clang-tidy on every source and each header compiled alone, not only those that a change concerns
  --no-skips    fail when a framework could not be installed (else it is reported as skipped, by name)
END
}

quick= sanitizers= tidy_all= no_skips=
for option in "$@"; do
  case $option in
    --quick) quick=1 ;;
    --sanitizers) sanitizers=1 ;;
    --tidy-all) tidy_all=1 ;;
    --no-skips) no_skips=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "test.sh: $option: no such option" >&2; usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/.."
root=$PWD

# Every temporary file, mount and mount point of this run lies in here, so what is left over at the end is ours.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/augur-tests.XXXXXX")
export TMPDIR
chmod 755 "$TMPDIR" # other users mount and read in the tests

ours() { awk -v top="$TMPDIR/" 'index($2, top) == 1 { print $2 }' /proc/self/mounts | sort -r; }
groups=() names=() # process groups that run beside the tests
cleanup() {
  status=$?
  trap - EXIT
  for group in "${groups[@]}"; do kill -- -"$group" 2>/dev/null || true; done
  left=$(ours)
  if [ -n "$left" ]; then
    printf 'test.sh: a test left these mounted:\n%s\n' "$left" >&2
    while read -r point; do
      # /proc/mounts writes blanks and backslashes in octal.
      point=$(printf '%b' "${point//\\/\\0}")
      umount -l "$point" 2>/dev/null || fusermount3 -uz "$point" || true
    done <<<"$left"
    [ "$status" -ne 0 ] || status=1
  fi
  rm -rf --one-file-system "$TMPDIR"
  if [ "$status" -eq 0 ]; then printf '\ntest.sh: all passed in %d s\n' "$SECONDS"; else printf '\ntest.sh: FAILED (exit %d) after %d s\n' "$status" "$SECONDS" >&2; fi
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

step() { printf '\n== %s  (%d s)\n' "$1" "$SECONDS"; }
failed=()
try() { # NAME COMMAND...: goes on after a failure, so that one run shows all of them
  local name=$1
  shift
  if ! "$@"; then
    failed+=("$name")
    printf 'test.sh: FAILED: %s\n' "$name" >&2
  fi
}

# Half of the tests' time is waiting for disks and mounts, so some run beside others.
start() { # NAME COMMAND...
  names+=("$1")
  set -m
  "${@:2}" >"$TMPDIR/$1.log" 2>&1 &
  groups+=($!)
  set +m
}
await() { # for all that were started
  local number
  for number in "${!groups[@]}"; do
    step "${names[number]}, beside the others"
    wait "${groups[number]}" || failed+=("${names[number]}")
    cat "$TMPDIR/${names[number]}.log"
  done
  groups=() names=()
}

jobs=$(nproc)
build() { # PRESET
  # As in the quickstart, so that what it builds is what was tested; clang-tidy and tests/layers see each file alone.
  cmake --preset "$1" -DAUGUR_TESTS=ON -DAUGUR_BENCH=ON -DCMAKE_UNITY_BUILD=ON >/dev/null
  cmake --build "build/$1"
}

pytests_seconds=2400
# A hanging test is ended as Ctrl-C would, so that its fixtures still unmount.
pytests() { # BUILD_DIR FOLDER...
  local build_dir=$1
  shift
  local folders=()
  for folder in "$@"; do [ ! -d "$folder" ] || folders+=("$folder"); done
  AUGUR_BUILD=$root/$build_dir timeout --foreground --signal=INT --kill-after=60 "$pytests_seconds" \
    "$venv/bin/python" -m pytest -p no:cacheprovider -o tmp_path_retention_policy=failed -q --tb=short -rfEs --durations=8 "${folders[@]}" </dev/null
}

sources() { git ls-files '*.cc' '*.h'; }

check_format() { sources | xargs --no-run-if-empty clang-format-16 --dry-run -Werror; }

# What changed against origin/main, or on main itself in the last commit: C++ files, one a line. In a clone without history all.
changed_files() {
  local since
  since=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$since" ] || [ "$since" = "$(git rev-parse HEAD)" ]; then since=$(git rev-parse --verify -q HEAD~ || true); fi
  if [ -z "$since" ]; then
    sources
  else
    { git diff --name-only --diff-filter=d "$since"; git ls-files --others --exclude-standard; } | grep -E '\.(cc|h)$' || true
  fi
}

# The sources of these; a header stands for the sources that include it.
changed_sources() {
  local header
  for file in $(changed_files); do
    case $file in
      *.cc) echo "$file" ;;
      *.h)
        header=${file#src/}
        header=${header#include/}
        git grep -lF "\"$header\"" -- '*.cc' || true
        ;;
    esac
  done | sort -u
}

check_tidy() {
  local files at_once=1 # the other cores are the tests'
  if [ -n "$tidy_all" ]; then
    files=$(git ls-files '*.cc')
    at_once=$jobs
  else
    files=$(changed_sources)
  fi
  cmake --preset tidy -DAUGUR_TESTS=ON -DAUGUR_BENCH=ON >/dev/null
  # Only what is compiled: a file outside the build has no flags (and tests/layers fails on a test that is outside).
  files=$(for file in $files; do ! grep -qF "\"$root/$file\"" build/tidy/compile_commands.json || echo "$file"; done)
  echo "clang-tidy on $(wc -w <<<"$files") files"
  [ -z "$files" ] || xargs -P "$at_once" -n 1 clang-tidy-16 -p build/tidy --quiet <<<"$files" 2>"$TMPDIR/tidy.err" ||
    { grep -v 'warnings generated' "$TMPDIR/tidy.err" >&2; return 1; }
}

# What needs the processor and nothing else, at the lowest priority.
check_sources() {
  renice -n 19 -p "$BASHPID" >/dev/null
  if [ -z "$tidy_all" ]; then
    AUGUR_CHANGED=$(changed_files)
    export AUGUR_CHANGED
  fi
  try "layers" pytests build/release tests/layers
  if [ -z "$quick" ]; then
    try "clang-format" check_format
    [ -n "$tidy_all" ] || try "clang-tidy" check_tidy
  fi
  [ "${#failed[@]}" -eq 0 ]
}

# Beside the tests of the mount and of the benchmarks, one after the other. None of these looks into the page cache.
check_others() {
  local failed=()
  try "remote stores" pytests build/release tests/remote
  try "format, signatures" pytests build/release tests/format tests/s3
  [ -n "$quick" ] || try "frameworks" pytests build/release tests/frameworks tests/guide
  try "programs" pytests build/release tests/cli
  [ "${#failed[@]}" -eq 0 ]
}

# A run without it says something about the commit alone, not about what was drawn.
if [ -n "$sanitizers" ] && [ -z "${AUGUR_TEST_SEED:-}" ]; then
  AUGUR_TEST_SEED=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
  export AUGUR_TEST_SEED
fi

[ -z "$sanitizers" ] || export AUGUR_TEST_LONG=1

step "Packages"
packaging/deps.sh test
step "Python environment"
venv=$(packaging/venv.sh)
echo "$venv"
# Python keeps compiled modules here. Without that each of some hundred scripts compiles PyTorch again, ten seconds each.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=${venv%/*}/bytecode
# Sets of packages apart. Without one of them its tests are skipped, and say so.
missing_sets=()
for set in other-pillow botocore examples kubernetes formats; do
  folder=$(packaging/venv.sh "$set") || { folder= && missing_sets+=("$set"); }
  name=${set^^}
  export "AUGUR_${name//-/_}=$folder"
done

step "Build"
build release
start "layers and style" check_sources
step "Unit tests"
try "unit tests" ctest --test-dir build/release --output-on-failure -j "$jobs" --timeout 300
start "remote stores, format, frameworks, programs" check_others
step "Mount"
try "mount" pytests build/release tests/mount
# Not beside the tests of the mount: soak and benchmarks drop the page cache, in which those look for files. The soak's figure
# of augurctl status is for a machine that does nothing else.
[ -n "$quick" ] || [ "$(id -u)" -ne 0 ] ||
  start "soak" env AUGUR_BUILD="$root/build/release" nice -n 10 "$venv/bin/python" bench/soak.py --minutes 5 --status-s 60
step "Benchmarks run tiny"
try "benchmarks run tiny" pytests build/release tests/bench
await

if [ -n "$tidy_all" ]; then
  step "clang-tidy on every source"
  try "clang-tidy" check_tidy
fi

if [ -n "$sanitizers" ]; then
  step "One type a name, over all of each program (-Wodr)"
  cmake --preset odr -DAUGUR_TESTS=OFF -DAUGUR_BENCH=OFF >/dev/null
  try "odr" cmake --build build/odr
  pytests_seconds=7200
  for preset in asan tsan; do
    step "Sanitizer: $preset"
    build "$preset"
    # The thread sanitizer of g++ 12 cannot place its shadow memory when the kernel randomises addresses by 32 bits, so
    # both run without that.
    export TSAN_OPTIONS=suppressions=$root/tests/tsan.supp
    try "$preset: unit tests" setarch -R ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" --timeout 600
    # A daemon that a test kills by SIGSEGV dies of it, and does not hang in the sanitizer's report. A helper of a far store
    # starts threads; when its daemon forks it, that has one more thread (augur-signals), which only waits.
    TSAN_OPTIONS+=:handle_segv=0:die_after_fork=0
    # Two runs: each of these folders has a conftest.py, from which its tests import.
    for folders in "tests/format tests/cli tests/s3 tests/mount" tests/remote; do
      AUGUR_SANITIZER=$preset try "$preset: $folders" setarch -R bash -c "$(declare -f pytests); $(declare -p root venv pytests_seconds)
        pytests build/$preset $folders"
    done
  done
fi

step "Summary"
if [ -s "$venv/skipped" ]; then
  echo "Skipped, because they could not be installed: $(tr '\n' ' ' <"$venv/skipped")"
  [ -z "$no_skips" ] || failed+=("skipped frameworks")
fi
for set in "${missing_sets[@]}"; do
  echo "Skipped, because it could not be installed: tests/requirements-$set.txt"
  [ -z "$no_skips" ] || failed+=("skipped $set")
done
if [ ${#failed[@]} -ne 0 ]; then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
