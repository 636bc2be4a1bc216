#!/bin/bash
# Builds every fuzz target for OSS-Fuzz, ClusterFuzz or ClusterFuzzLite (docs/scale.md). The service's own environment says
# how: CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE, SANITIZER (address, undefined, memory, coverage), FUZZING_ENGINE
# (libfuzzer; afl with address), ARCHITECTURE (x86_64), SRC, WORK, and OUT, which gets X, X_seed_corpus.zip, X.dict and
# X.options of each target X. BORINGSSL_SRC names the BoringSSL checkout to build on; unset, apt fetches Debian's.
set -euo pipefail
# OSS-Fuzz starts a copy of this file, in the workspace.
root=$(dirname "$(readlink -f "$0")")/../..
if [[ -e $root/fuzz/oss-fuzz/build.sh ]]; then cd "$root"; fi

fail() {
    echo "build.sh: $1" >&2
    exit 1
}

for name in CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE SANITIZER FUZZING_ENGINE SRC WORK OUT; do
    [[ -n ${!name+set} ]] || fail "$name is not set; the service sets it, and bazel run //fuzz:oss_fuzz_check does as it"
done
[[ ${ARCHITECTURE:-x86_64} == x86_64 ]] || fail "ARCHITECTURE is $ARCHITECTURE; only x86_64 is supported"
case $SANITIZER/$FUZZING_ENGINE in
    address/libfuzzer | undefined/libfuzzer | memory/libfuzzer | coverage/libfuzzer | address/afl) ;;
    *) fail "SANITIZER $SANITIZER with FUZZING_ENGINE $FUZZING_ENGINE is not supported (docs/scale.md has the table)" ;;
esac
# Bazel runs one compiler for C, C++ and links.
[[ $("$CXX" --version) == "$("$CC" --version)" ]] || fail "CXX ($CXX) must be the same compiler as CC ($CC)"
[[ -e fuzz/oss-fuzz/build.sh ]] || fail "$PWD is not the root of tlsgate's sources"
mkdir -p "$OUT" "$WORK"

options=(
    "--repo_env=CC=$CC"
    # The variants oss_fuzz link libstdc++ or libc++ themselves.
    --repo_env=BAZEL_LINKOPTS=-fuse-ld=lld
    --repo_env=BAZEL_LINKLIBS=-lm
    --repo_env=TLSGATE_OSS_FUZZ=1
    "--//bazel:oss_fuzz_engine=$FUZZING_ENGINE"
    "--//bazel:oss_fuzz_sanitizer=$SANITIZER"
    "--//bazel:oss_fuzz_cflags=$CFLAGS"
    "--//bazel:oss_fuzz_cxxflags=$CXXFLAGS"
    "--//bazel:oss_fuzz_link=$LIB_FUZZING_ENGINE"
    # The service's compiler warns of more, or of less, than the one that the sources were written with.
    "--per_file_copt=.*@-Wno-error"
    --verbose_failures
)
# AFL++'s compiler takes its orders from the environment.
while read -r name; do
    options+=("--action_env=$name")
done < <(compgen -e | grep '^AFL_' || true)

# bare_accept and bare_pair are a measure for the speed of others.
targets='filter("^//fuzz:(?!bare_).*_oss_fuzz$", //fuzz:all)'
[[ $SANITIZER != memory ]] || targets+=' except attr(tags, "\bno_memory_sanitizer\b", //fuzz:all)'
query=(bazel query --noshow_progress --ui_event_filters=-info "--repo_env=CC=$CC" --repo_env=TLSGATE_OSS_FUZZ=1)
found=$("${query[@]}" "$targets")
mapfile -t labels <<<"$found"
bazel build "${options[@]}" "${labels[@]}"
bin=$(bazel info "${options[@]}" bazel-bin 2>/dev/null)
for label in "${labels[@]}"; do
    unzip -oq "$bin/fuzz/${label#//fuzz:}.zip" -d "$OUT"
done

# Bazel compiles in /proc/self/cwd, and that is where a coverage report looks for the sources, below OUT.
if [[ $SANITIZER == coverage ]]; then
    execution=$(bazel info execution_root 2>/dev/null)
    sources=$OUT/proc/self/cwd
    mkdir -p "$sources/external"
    cp -rL fuzz harness perf "$sources"
    (cd "$execution" && find external/boringssl/ -follow \( -name '*.c' -o -name '*.cc' -o -name '*.h' -o -name '*.inc' \) -print0 |
        xargs -0 cp -L --parents -t "$sources")
    (cd "$execution" && find bazel-out/ -follow \( -name '*.c' -o -name '*.h' \) -path '*/bin/*' -print0 2>/dev/null |
        xargs -0 -r cp -L --parents -t "$sources")
fi
