"""Faults in the HTTP responder."""

load("//harness/faults:fault.bzl", "fault")

FAULTS = [
    fault(
        name = "body_limit_for_each_chunk",
        kind = "wrong limit on bodies",
        breaks = "The limit on bodies holds for each chunk and not for their sum",
        sources = ["server/http_request.c"],
        check = "http_request",
        caught_by = ["chunks_add_up_to_the_body_limit"],
        input = "A chunked body of many chunks, each under the limit",
        reports = [("nodejs/http-parser#33", "Overflow detection on chunk trailers")],
    ),
    fault(
        name = "content_length_wraps",
        kind = "wrong limit on bodies",
        breaks = "A Content-Length beyond 2^64 wraps",
        sources = ["server/http_fields.c"],
        check = "http_request",
        caught_by = ["refuses_what_it_cannot_understand"],
        input = "Content-Length: 18446744073709551617",
        reports = [
            ("unbit/uwsgi#2775", "HTTP parser request-smuggling primitives (dup-CL / obs-fold / Content-Length overflow)"),
            ("jeremycw/httpserver.h#77", "Vulnerability Report: `Content-Length` Signed Integer Overflow"),
        ],
    ),
    fault(
        name = "field_value_one_too_long",
        kind = "wrong limit on headers",
        breaks = "One byte more than fits is kept of a field's value",
        sources = ["server/http_request.c"],
        check = "http_request",
        caught_by = ["P1"],
        input = "A Connection field of 513 bytes",
    ),
    fault(
        name = "head_limit_after_each_read",
        kind = "wrong limit on headers",
        breaks = "The limit on a request's head is looked at after each read, so a head that a read completes may be any length",
        sources = ["server/http_request.c"],
        check = "request_bytes",
        caught_by = ["P7"],
        input = "A head of some 17 KiB on a plaintext connection, whole and in parts",
        reports = [("nodejs/http-parser#33", "Overflow detection on chunk trailers")],
        without_own_regression = False,
    ),
    fault(
        name = "nul_in_field_value",
        kind = "NUL in a header",
        breaks = "A NUL in a field's value is let pass",
        sources = ["server/http_request.c"],
        check = "accept_schedule",
        caught_by = ["P6"],
        input = "A NUL in a field's value",
        reports = [
            ("nodejs/http-parser#468", "http-parser does not correct sanitize NUL characters in header values"),
            ("eclipse-ee4j/glassfish#25128", "HTTP header parser incorrectly accepts CR and NUL within header values"),
        ],
        without_own_regression = False,
    ),
    fault(
        name = "pipelined_request_lost",
        kind = "request lost",
        breaks = "What was read behind a request whose response must wait is dropped",
        sources = ["server/http_app.c"],
        check = "accept_schedule",
        caught_by = ["P3", "P6"],
        input = "Two pipelined requests in one record",
        reports = [
            ("warmcat/libwebsockets#638", "Server failing to process pipelined calls"),
            ("yhirose/cpp-httplib#1271", "Pipelined requests are dropped if in the same tcp frame"),
        ],
    ),
]
