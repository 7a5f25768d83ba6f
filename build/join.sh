#!/usr/bin/env bash
# Puts turnstep, as it is built here, among the peers of a copy of another bench: join.sh bench|safety FOLDER. Then, there:
# bench: node run.mjs CASE bare,turnstep · safety: node run.mjs all turnstep --kills=100
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
from="$root/${1:?say which one: bench or safety}/side-by-side/peers/turnstep"
peer="${2:?give the folder of the copy, with run.mjs and peers/ in it}/peers/turnstep"
test -d "$from" || { echo "\"$1\" is neither bench nor safety" >&2; exit 1; }
rm -rf "$peer"
cp -r "$from" "$peer"
peer=$(cd "$peer" && pwd)
tarball=$(cd "$root" && npm pack --ignore-scripts --silent --pack-destination="$peer")
mv "$peer/$tarball" "$peer/turnstep.tgz"
cd "$peer" && npm install --no-audit --no-fund --no-package-lock
