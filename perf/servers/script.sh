#!/bin/sh
# A template for a server that a script starts: script.json calls it with the TLS port, the certificate chain, its key,
# the folder with small.json and big.bin, and what a variant adds. It must stay in the foreground, end by the signal that
# the description names, and leave nothing behind. `exec` makes the server this very process, so that the signal reaches it.
set -eu
port=$1 cert=$2 key=$3 www=$4
shift 4
cd "$www"
exec openssl s_server -accept "127.0.0.1:$port" -cert "$cert" -key "$key" -WWW -quiet "$@"
