"""What a fault of the catalogue is, and the kinds that the catalogue must cover."""

# Each kind has at least one fault, or the build fails.
KINDS = [
    "re-arm missing",
    "re-arm once only",
    "re-arm with an even value",
    "re-arm only after a write",
    "re-arm not for a split request",
    "TCP_NODELAY missing",
    "setsockopt failure fatal",
    "deadline refreshed by each byte",
    "deadline never set",
    "deadline underflows",
    "busy loop",
    "want-write waited for as want-read",
    "certificate larger than the send buffer",
    "data left in the read-ahead buffer",
    "data left in the TLS layer",
    "edge-triggered accept takes one",
    "accept error ends the listener",
    "EMFILE without back-off",
    "listener never resumed",
    "EINTR taken for an error",
    "descriptor leaked",
    "SSL leaked",
    "buffer leaked",
    "use after free within a batch of events",
    "error queue not cleared",
    "SIGPIPE",
    "write after close_notify",
    "FIN before close_notify",
    "drain missing",
    "drain unbounded",
    "RST cuts the response",
    "partial write repeated",
    "partial write lost",
    "counters drift",
    "ClientHello over several segments",
    "NUL in a header",
    "ticket key expired",
    "ticket keys not shared by shards",
    "ticket key never rotated",
    "early data",
    "state shared by shards",
    "wrong limit on headers",
    "wrong limit on bodies",
    "request lost",
]

def _text(owner, field, value):
    if type(value) != "string" or value == "" or value.strip() != value or "\n" in value:
        fail("%s: %s is one line of text, not %r" % (owner, field, value))
    return value

def _texts(owner, field, values, least):
    if type(values) != "list" or len(values) < least:
        fail("%s: %s is a list of at least %d texts, not %r" % (owner, field, least, values))
    return [_text(owner, field, value) for value in values]

def _report(owner, report):
    if type(report) != "tuple" or len(report) != 2:
        fail("%s: a report is (\"owner/project#number\", \"title\"), not %r" % (owner, report))
    where, title = [_text(owner, "reports", part) for part in report]
    project, _, number = where.partition("#")
    if len(project.split("/")) != 2 or not number.isdigit():
        fail("%s: %r is not owner/project#number" % (owner, where))
    return struct(project = project, number = int(number), title = title)

def fault(name, kind, breaks, sources, check, caught_by, input, reports = [], without_own_regression = True):
    """One fault: harness/faults/patches/NAME.patch and what must catch it.

    Args:
      name: lower case with underscores; says what is wrong.
      kind: one of KINDS.
      breaks: in one line, what the patched code does wrong.
      sources: the C files that the patch changes, below harness/.
      check: the name of a check in checks.bzl.
      caught_by: what that check must say, each good enough: a property ("P5"), "assertion" (one that the shipped code
        makes), or the name of a test.
      input: in words, the input that shows the fault.
      reports: public reports of bugs of the kind, looked up and found: ("owner/project#number", "title").
      without_own_regression: False if the check needs the file regressions/NAME of its corpus; otherwise that file, if
        there is one, is left out of the run.

    Returns:
      A struct.
    """
    if type(name) != "string" or name != name.lower() or not name.replace("_", "").isalnum():
        fail("a fault's name is of lower-case letters, digits and underscores, not %r" % name)
    if kind not in KINDS:
        fail("%s: there is no kind %r; fault.bzl lists them" % (name, kind))
    for source in _texts(name, "sources", sources, 1):
        parts = source.split("/")
        if len(parts) != 2 or parts[0] not in ["accept", "server"] or not parts[1].endswith(".c"):
            fail("%s: a fault is in C files of accept/ or server/, not in %r" % (name, source))
    if type(without_own_regression) != "bool":
        fail("%s: without_own_regression is True or False" % name)
    return struct(
        name = name,
        kind = kind,
        breaks = _text(name, "breaks", breaks),
        sources = sources,
        check = _text(name, "check", check),
        caught_by = _texts(name, "caught_by", caught_by, 1),
        input = _text(name, "input", input),
        reports = [_report(name, report) for report in reports],
        without_own_regression = without_own_regression,
    )

def check_catalogue(faults, patches):
    """Fails unless the faults and the patch files belong to each other and every kind has a fault.

    Args:
      faults: of fault().
      patches: the files of patches/.
    """
    names = sorted([one.name for one in faults])
    for i in range(1, len(names)):
        if names[i] == names[i - 1]:
            fail("%s is in the catalogue twice" % names[i])
    expected = ["patches/%s.patch" % name for name in names]
    missing = [path for path in expected if path not in patches]
    unknown = [path for path in patches if path not in expected]
    if missing or unknown:
        fail("the catalogue and patches/ differ: %s; not in the catalogue: %s" %
             ("missing: " + ", ".join(missing) if missing else "none missing", ", ".join(unknown) or "none"))
    uncovered = [kind for kind in KINDS if kind not in [one.kind for one in faults]]
    if uncovered:
        fail("no fault is of kind %s" % ", ".join(uncovered))
    alone = len([one for one in faults if one.without_own_regression])
    if 2 * alone < len(faults):
        fail("only %d of %d faults are caught without their own regression file" % (alone, len(faults)))
