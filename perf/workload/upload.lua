-- For wrk -s: every request posts 1 MiB.
wrk.method = "POST"
wrk.body = string.rep("u", 1048576)
wrk.headers["Content-Type"] = "application/octet-stream"
