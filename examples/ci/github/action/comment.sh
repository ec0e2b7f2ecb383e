#!/usr/bin/env bash
# Write, update or remove the comment on the pull request. The gate's answer is the job's, whatever happens here.
set -euo pipefail
text=$RUNNER_TEMP/abistore/abi.md
[ -e "$text" ] || exit 0
abistore comment "$text" || echo "::warning::no comment on the pull request: a run for a fork has a token that only reads"
