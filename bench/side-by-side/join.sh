#!/usr/bin/env bash
# Puts turnstep, as it is built here, among the peers of a copy of the loop bench: join.sh FOLDER. Then, there: node run.mjs CASE bare,turnstep
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
peer="${1:?give the folder of the copy, with run.mjs and peers/ in it}/peers/turnstep"
rm -rf "$peer"
cp -r "$here/peers/turnstep" "$peer"
tarball=$(cd "$here/../.." && npm pack --ignore-scripts --silent --pack-destination="$peer")
mv "$peer/$tarball" "$peer/turnstep.tgz"
cd "$peer" && npm install --no-audit --no-fund --no-package-lock
