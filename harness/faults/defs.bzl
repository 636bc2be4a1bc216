"""fault_catalogue: the patched builds of the fault catalogue, and the tests over them.

For each fault NAME of the catalogue:

    NAME              test: the check that the catalogue names catches it, and the unpatched build passes the same run
    NAME_record       what came of that run (runner/record.h)
    NAME_program      the check with the patched sources, in its variant
    NAME_sources      the patched sources, at patched/NAME/harness/...

and over all of them:

    caught_N_of_N     test: the score, N of N; its name says what it says
    docs_test         test: docs/faults.md is what the catalogue says
    faults.md         that page, written anew
    catalogue.json    the catalogue, for report/

The runs are build actions, so a run is done once for the tests, the score and the page, and again only when something
that it depends on has changed.
"""

load("//bazel:c.bzl", "c_binary")
load("//bazel:variants.bzl", "variant_binary", "variant_test")
load("//harness/faults:checks.bzl", "CHECKS")
load("//harness/faults:fault.bzl", "check_catalogue")

def _program_of(program, arguments):
    return struct(path = program.path, arguments = [argument.path for argument in arguments])

def _fault_record_impl(ctx):
    # A fault that is to be caught without its own regression file does not see it.
    corpus = [
        file
        for file in ctx.files.corpus
        if ctx.attr.with_own_regression or not file.path.endswith("/regressions/" + ctx.attr.fault)
    ]
    server_test = ctx.executable.server_test
    if server_test:
        patched = _program_of(server_test, [ctx.executable.patched])
        clean = _program_of(server_test, [ctx.executable.clean])
    else:
        patched = _program_of(ctx.executable.patched, [])
        clean = _program_of(ctx.executable.clean, [])
    plan = ctx.actions.declare_file(ctx.label.name + ".plan.json")
    ctx.actions.write(plan, json.encode(struct(
        schema = 1,
        fault = ctx.attr.fault,
        check = ctx.attr.check,
        caught_by = ctx.attr.caught_by,
        patched = patched,
        clean = clean,
        runs = ctx.attr.runs,
        max_len = ctx.attr.max_len,
        corpus = [file.path for file in corpus],
    )))
    record = ctx.actions.declare_file(ctx.label.name + ".json")
    programs = [program for program in [ctx.executable.patched, ctx.executable.clean, server_test] if program]
    ctx.actions.run(
        executable = ctx.executable._runner,
        arguments = [plan.path, record.path],
        env = {
            "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
            "PATH": "/bin:/usr/bin",
            "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
        inputs = corpus + [plan],
        mnemonic = "Fault",
        outputs = [record],
        progress_message = "Trying whether %s catches %s" % (ctx.attr.check, ctx.attr.fault),
        tools = programs,
    )
    return [DefaultInfo(files = depset([record]), runfiles = ctx.runfiles(files = [record]))]

# What came of trying whether a check catches a fault. Also for accept paths elsewhere (fuzz/adapter.bzl).
fault_record = rule(
    implementation = _fault_record_impl,
    attrs = {
        "caught_by": attr.string_list(mandatory = True),
        "check": attr.string(mandatory = True),
        "clean": attr.label(cfg = "target", executable = True, mandatory = True),
        "corpus": attr.label_list(allow_files = True),
        "fault": attr.string(mandatory = True),
        "max_len": attr.int(),
        "patched": attr.label(cfg = "target", executable = True, mandatory = True),
        "runs": attr.int(),
        "server_test": attr.label(cfg = "target", executable = True),
        "with_own_regression": attr.bool(mandatory = True),
        "_runner": attr.label(
            cfg = "target",
            default = "//harness/faults/runner",
            executable = True,
        ),
    },
)

def _fault_docs_impl(ctx):
    ctx.actions.run(
        executable = ctx.executable._report,
        arguments = ["docs", ctx.outputs.out.path, ctx.file.catalogue.path] + [file.path for file in ctx.files.records],
        inputs = ctx.files.records + [ctx.file.catalogue],
        mnemonic = "FaultDocs",
        outputs = [ctx.outputs.out],
    )

_fault_docs = rule(
    implementation = _fault_docs_impl,
    attrs = {
        "catalogue": attr.label(allow_single_file = True, mandatory = True),
        "out": attr.output(mandatory = True),
        "records": attr.label_list(allow_files = True, mandatory = True),
        "_report": attr.label(
            cfg = "target",
            default = "//harness/faults/report",
            executable = True,
        ),
    },
)

def _catalogue_json_impl(ctx):
    ctx.actions.write(ctx.outputs.out, ctx.attr.text)

_catalogue_json = rule(
    implementation = _catalogue_json_impl,
    attrs = {
        "out": attr.output(mandatory = True),
        "text": attr.string(mandatory = True),
    },
)

# Applies a patch to copies of the sources. It must apply without fuzz, and change just the sources that are declared.
_APPLY = """
set -e
tree=$$(mktemp -d)
trap 'rm -rf "$$tree"' EXIT
for source in {sources}; do
    mkdir -p $$tree/$$(dirname $$source)
    cp -L $$source $$tree/$$source
done
chmod -R u+w $$tree
if ! patch --force --silent --no-backup-if-mismatch --fuzz=0 -p1 -d $$tree < $(location {patch}) > $$tree/said 2>&1; then
    cat $$tree/said >&2
    echo "faults: {patch} does not apply: the sources have changed under it." \\
        "{remedy}" >&2
    exit 1
fi
for source in {sources}; do
    if cmp -s $$source $$tree/$$source; then
        echo "faults: {patch} does not change $$source, which the catalogue says it does" >&2
        exit 1
    fi
    cp $$tree/$$source $(RULEDIR)/patched/{name}/$$source
done
"""

def _label(source):
    return "//harness/%s:%s" % tuple(source.split("/"))

_REMEDY = ("./tlsgate faults refresh re-bases what it can; " +
           "if the fault is no longer possible, another of its kind takes its place.")

def _patch(name, labels, paths, remedy):
    patch = "patches/%s.patch" % name
    native.genrule(
        name = name + "_sources",
        srcs = [patch] + labels,
        outs = ["patched/%s/%s" % (name, path) for path in paths],
        cmd = _APPLY.format(name = name, patch = patch, remedy = remedy, sources = " ".join(paths)),
        message = "Applying the fault " + name,
    )

def patched_sources(name, sources, remedy = _REMEDY):
    """NAME_sources: copies of the sources with patches/NAME.patch of the calling package applied.

    Args:
      name: of the patch.
      sources: the C files that it changes, below harness/.
      remedy: what to do when it no longer applies.
    """
    _patch(name, [_label(source) for source in sources], ["harness/" + source for source in sources], remedy)

def patched_files(name, sources):
    """The same for C files of the calling package.

    Args:
      name: of the patch, in patches/ of the package; its paths begin at the workspace's root.
      sources: the files that it changes.
    """
    package = native.package_name()
    paths = ["%s/%s" % (package, source) if package else source for source in sources]
    _patch(name, sources, paths, "Write it anew: its fault, in the sources as they are now.")

def _patched_program(one, check):
    c_binary(
        name = one.name + "_raw",
        testonly = True,
        srcs = [":%s_sources" % one.name] + check.srcs,
        linkopts = check.linkopts,
        tags = ["manual"],
        deps = check.deps + [
            "//harness/accept:internals",
            "//harness/server:internals",
        ],
    )
    variant_binary(
        name = one.name + "_program",
        testonly = True,
        target = ":%s_raw" % one.name,
        variant = check.variant,
    )

def _fault_test(one):
    check = CHECKS[one.check]
    patched_sources(one.name, one.sources)
    _patched_program(one, check)
    fuzz = check.fuzz_target
    fault_record(
        name = one.name + "_record",
        testonly = True,
        caught_by = one.caught_by,
        check = one.check,
        clean = "//harness/server:https_server_asan" if check.server_test else check.clean,
        corpus = [fuzz.corpus] if fuzz else [],
        fault = one.name,
        max_len = fuzz.max_len if fuzz else 0,
        patched = ":%s_program" % one.name,
        runs = fuzz.runs if fuzz else 0,
        server_test = check.server_test,
        with_own_regression = not one.without_own_regression,
    )
    variant_test(
        name = one.name,
        size = "small",
        args = [
            "score",
            "$(location :%s_record)" % one.name,
        ],
        data = [":%s_record" % one.name],
        target = "//harness/faults/report",
        variant = "release",
    )

def _name_of(one):
    return one.name

def fault_catalogue(faults, patches):
    """Declares everything that the head of this file lists.

    Args:
      faults: of fault().
      patches: the files of patches/.
    """
    check_catalogue(faults, patches)
    faults = sorted(faults, key = _name_of)
    for one in faults:
        if one.check not in CHECKS:
            fail("%s: there is no check %r in checks.bzl" % (one.name, one.check))
        _fault_test(one)
    records = [":%s_record" % one.name for one in faults]
    _catalogue_json(
        name = "catalogue",
        out = "catalogue.json",
        text = json.encode(struct(schema = 1, faults = faults)),
    )
    variant_test(
        name = "caught_%d_of_%d" % (len(faults), len(faults)),
        size = "small",
        args = ["score"] + ["$(location %s)" % record for record in records],
        data = records,
        target = "//harness/faults/report",
        variant = "release",
    )
    _fault_docs(
        name = "docs",
        testonly = True,
        catalogue = ":catalogue.json",
        out = "faults.md",
        records = records,
    )
    variant_test(
        name = "docs_test",
        size = "small",
        args = [
            "same",
            "$(location //docs:faults.md)",
            "$(location :faults.md)",
        ],
        data = [
            ":faults.md",
            "//docs:faults.md",
        ],
        target = "//harness/faults/report",
        variant = "release",
    )
