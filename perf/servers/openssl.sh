#!/bin/sh
# openssl s_server with whole HTTP/1.1 responses, which its -HTTP sends as they lie in the folder: openssl.json calls this
# with the TLS port, the certificate chain, its key and the folder with small.json and big.bin.
set -eu
port=$1 cert=$2 key=$3 www=$4
cd "$www"
for page in small.json big.bin; do
    printf 'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\nConnection: close\r\n\r\n' \
        "$(wc -c <"$page")" >"${page%.*}"
    cat "$page" >>"${page%.*}"
done
exec openssl s_server -accept "127.0.0.1:$port" -cert "$cert" -key "$key" -HTTP -quiet
