#!/usr/bin/env bash
# Build a library, judge it, and store the builds of the default branch. The first run builds the baseline from the last
# tag. action.yml sets the variables.
set -euo pipefail

say() { echo "$1" && echo "$1" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"; }
fail() { echo "::error::$1" && exit "$2"; }

# What happens to the build: no (judged only), commit (stored) or release (stored, and the baseline from then on).
mode() {
  case "$STORE" in
    no | commit | release) echo "$STORE" && return ;;
    auto) ;;
    *) return 1 ;;
  esac
  case "$GITHUB_EVENT_NAME:$GITHUB_REF" in
    pull_request*) echo no ;;
    *:refs/tags/*) echo release ;;
    *:"refs/heads/$DEFAULT_BRANCH") if [ -n "$VERSION$(tags_here)" ]; then echo release; else echo commit; fi ;;
    *) echo no ;;
  esac
}

tags_here() { git tag --points-at HEAD; }

# The last release before this build: a release is compared with the one before it.
last_tag() {
  if [ "$mode" = release ]; then git describe --tags --abbrev=0 HEAD^ 2>/dev/null
  else git describe --tags --abbrev=0 2>/dev/null; fi
}

build() { [ -z "$BUILD" ] || (cd "$1" && bash -euo pipefail -c "$BUILD"); }

judge() {
  local words=(--version "$version" --github --comment "$room/abi.md")
  [ -z "$MERGE_BASE" ] || words+=(--merge-base "$MERGE_BASE")
  [ "$SARIF" != true ] || words+=(--format sarif -o "$room/abi.sarif")
  abistore gate "${files[@]}" "${headers[@]}" "${words[@]}"
}

store() {
  local words=(--version "$version" --revision "$(git rev-parse HEAD)" --against baseline)
  if [ "$mode" = release ]; then words+=(--set-baseline); else words+=(--keep-failed); fi
  abistore ingest "${files[@]}" "${headers[@]}" "${words[@]}"
}

# Whether there was a baseline (67) that somebody cleared: it stays cleared.
was_cleared() {
  local code=0
  abistore gate "${files[@]}" "${headers[@]}" --version "$version" --bootstrap >/dev/null 2>&1 || code=$?
  [ "$code" = 67 ]
}

# Build the last tag in a folder of its own, and store it as the baseline.
set_up() {
  local tag=$1 tree=$room/baseline
  # a pull request writes nothing into a database that others share
  [ "$mode:$shared" != no:true ] || ABISTORE_DB=$room/baseline.db
  git worktree add --quiet --force --detach "$tree" "$tag"
  [ ! -e "$tree/.gitmodules" ] || git -C "$tree" submodule update --quiet --init --recursive
  [ -e "$tree/abistore.toml" ] || [ ! -e abistore.toml ] || cp abistore.toml "$tree"
  build "$tree" || fail "the build of the tag $tag failed, so there is no baseline: see its output" 67
  (cd "$tree" && abistore ingest "${files[@]}" "${headers[@]}" --version "$tag" \
    --revision "$(git rev-parse HEAD)" --set-baseline-if-none)
  git worktree remove --force "$tree"
  say "Set up: the baseline is $tag, built from its tag."
}

# The approvals in the sources; those of a shared database are the default branch's.
approve() {
  [ ! -e abi-approvals.yaml ] || [ "$mode:$shared" = no:true ] || abistore approve sync abi-approvals.yaml
}

# Judge or store, and keep what is said until it is known whether there was a baseline (67) or a database (74).
attempt() {
  local code=0
  : >"$room/summary.md"
  GITHUB_STEP_SUMMARY=$room/summary.md decide >"$room/log" 2>&1 || code=$?
  return "$code"
}

decide() {
  approve && case "$mode" in
    no) judge ;;
    commit) store ;;
    release) judge && store ;;  # without a baseline, store alone would make the build the first one
  esac
}

tell() {
  cat "$room/log"
  cat "$room/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
}

mapfile -t files < <(printf '%s\n' "$FILES" | sed '/^[[:space:]]*$/d')
mapfile -t headers < <(printf '%s\n' "$HEADERS" | sed '/^[[:space:]]*$/d; s/^[[:space:]]*/--header=/')
room=${RUNNER_TEMP:?}/abistore
rm -rf "$room" && mkdir -p "$room"
case "$ABISTORE_DB" in
  *://* | /*) shared=true ;;
  *) shared=false ABISTORE_DB=$PWD/$ABISTORE_DB ;;
esac
export ABISTORE_DB

[ "$(git rev-parse --is-shallow-repository)" = false ] || git fetch --quiet --unshallow --tags
mode=$(mode) || fail "store: $STORE is none of auto, no, commit, release" 64
described=$(git describe --tags 2>/dev/null) || described=
version=${VERSION:-$described}
[ "$mode" != release ] || version=${VERSION:-$(tags_here | head -n 1)}
if [ -z "$version" ]; then
  say "No release is tagged yet, so there is nothing to compare with."
  exit 0
fi
# a label that git does not know would be the newest of its line for ever, and later builds be compared with it
case "$mode" in
  commit) [ "$version" = "$described" ] || fail "$version: not what git describes this commit as, so it is not stored" 64 ;;
  release) tags_here | grep -qxF -- "$version" || fail "$version: no tag of this commit, so it is not stored: tag it" 64 ;;
esac

build .
code=0
attempt || code=$?
if [ "$code" = 74 ] || { [ "$code" = 67 ] && ! was_cleared; }; then
  if tag=$(last_tag); then
    set_up "$tag"
    code=0
    attempt || code=$?
  elif [ "$mode" = release ]; then
    abistore ingest "${files[@]}" "${headers[@]}" --version "$version" \
      --revision "$(git rev-parse HEAD)" --set-baseline-if-none
    say "Set up: the baseline is $version, the first release."
    exit 0
  fi
fi
tell
[ ! -e "$room/abi.sarif" ] || echo "sarif=$room/abi.sarif" >>"$GITHUB_OUTPUT"
exit "$code"
