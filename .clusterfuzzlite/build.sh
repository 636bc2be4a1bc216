#!/bin/bash
# The service copies this to $SRC; the sources are beside it.
exec "$SRC/tlsgate/fuzz/oss-fuzz/build.sh"
