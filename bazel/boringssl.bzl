"""A BUILD file for a BoringSSL checkout that lists its sources in gen/sources.json."""

_PARTS = """
load("@tlsgate//bazel:variants.bzl", "library_in_part")

[
    library_in_part(
        name = part,
        library = part + "_of_variant",
        part = part,
        visibility = ["//visibility:public"],
    )
    for part in ["crypto", "ssl"]
]
"""

_TEMPLATE = """# Written from gen/sources.json.
package(default_visibility = ["//visibility:public"])

_COPTS = [
    "-DBORINGSSL_IMPLEMENTATION",
    "-D_XOPEN_SOURCE=700",
    "-fno-common",
    "-fno-strict-aliasing",
    "-Wno-unused-command-line-argument",
    "-std=c++17",
]

cc_library(
    name = "crypto_of_variant",
    srcs = {crypto_srcs},
    hdrs = {crypto_hdrs},
    copts = _COPTS,
    includes = ["include"],
    linkopts = ["-lpthread"],
)

cc_library(
    name = "ssl_of_variant",
    srcs = {ssl_srcs},
    hdrs = {ssl_hdrs},
    copts = _COPTS,
    includes = ["include"],
    deps = [":crypto"],
)
"""

def boringssl_build_file(sources):
    """The text of a BUILD file with :crypto and :ssl.

    Args:
      sources: gen/sources.json, decoded.

    Returns:
      A string.
    """
    bcm = sources["bcm"]
    crypto = sources["crypto"]
    ssl = sources["ssl"]

    # libssl includes libcrypto's internal headers.
    internal = bcm["internal_hdrs"] + crypto["internal_hdrs"]
    return _TEMPLATE.format(
        crypto_srcs = bcm["srcs"] + crypto["srcs"] + bcm["asm"] + crypto["asm"] + internal,
        crypto_hdrs = crypto["hdrs"],
        ssl_srcs = ssl["srcs"] + ssl["internal_hdrs"] + internal,
        ssl_hdrs = ssl["hdrs"],
    ) + _PARTS

def boringssl_build_file_in_parts(text):
    """BoringSSL's own BUILD file, with its two libraries wrapped.

    Args:
      text: of the file.

    Returns:
      The text with :crypto and :ssl built in the variant that
      //bazel:variants.bzl names for them, or None if it does not declare
      them as expected.
    """
    for part in ["crypto", "ssl"]:
        declared = "    name = \"%s\",\n" % part
        if text.count(declared) != 1:
            return None
        text = text.replace(declared, "    name = \"%s_of_variant\",\n" % part)
    return text + _PARTS
