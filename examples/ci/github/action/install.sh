#!/usr/bin/env bash
# Install abistore beside the project's own Python: what INSTALL names, or the clone that has this folder.
set -euo pipefail
clone=$(cd "$(dirname "$0")/../../../.." && pwd)
if [ -z "$INSTALL" ]; then
  if [ -e "$clone/abistore/interface.py" ]; then
    INSTALL=$clone
  elif command -v abistore >/dev/null; then
    exit 0
  else
    echo "::error::abistore is not installed: say what to install (install: ./abistore-1.0-py3-none-any.whl)" && exit 64
  fi
fi
python3 -m venv "$RUNNER_TEMP/abistore-venv"
"$RUNNER_TEMP/abistore-venv/bin/python" -m pip install --quiet "$INSTALL"
echo "$RUNNER_TEMP/abistore-venv/bin" >>"$GITHUB_PATH"
