"""measured_program: a program whose costs are counted, as //perf/exact:check wants it."""

load("//bazel:c.bzl", "c_binary")
load("//bazel:variants.bzl", "variant_binary")
load("//harness/faults:defs.bzl", "patched_sources")

def measured_program(name, srcs = [], deps = [], testonly = False):
    """NAME, and NAME_stripped: the same without debug information, which valgrind cannot read.

    Args:
      name: of the program.
      srcs: its own sources.
      deps: its libraries.
      testonly: as of any rule.
    """
    for suffix, linkopts in [("", []), ("_stripped", ["-Wl,--strip-debug"])]:
        c_binary(
            name = name + "_raw" + suffix,
            testonly = testonly,
            srcs = srcs,
            linkopts = linkopts,
            tags = ["manual"],
            deps = deps,
        )
        variant_binary(
            name = name + suffix,
            testonly = testonly,
            target = ":" + name + "_raw" + suffix,
            variant = "counted",
        )

def faulty_programs(own, catalogue):
    """The program that is measured with a fault in it: NAME and NAME_stripped for each.

    As in harness/faults, the patched objects come before the libraries.

    Args:
      own: the sources that patches/NAME.patch changes, below harness/, by NAME.
      catalogue: names of faults of harness/faults.
    """
    for name, sources in own.items():
        patched_sources(
            name,
            sources,
            remedy = "Write it anew: it adds to the path what its name says, perf/exact/gate_test.c.",
        )
    sources = [(name, ":%s_sources" % name) for name in own]
    sources += [(name, "//harness/faults:%s_sources" % name) for name in catalogue]
    for name, label in sources:
        measured_program(
            name = name,
            testonly = True,
            srcs = [label],
            deps = [
                ":measure_main",
                "//harness/accept:internals",
                "//harness/server:internals",
            ],
        )
