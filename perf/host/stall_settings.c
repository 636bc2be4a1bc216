#include "perf/host/stall_settings.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Linux's defaults: TCP_PINGPONG_THRESH (include/net/inet_connection_sock.h) and TCP_RTO_MIN (include/net/tcp.h).
#define DEFAULT_PINGPONG_THRESH 1
#define DEFAULT_RTO_MIN_US      200000

struct route_metrics {
  bool known;
  uint32_t quickack;
  uint32_t rto_min_ms;  // 0: the sysctl holds
};

// Returns the value of a sysctl that is a number, or -1 where the kernel has none.
static long sysctl_value(const char *name) {
  char path[128];
  (void)snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
  FILE *file = fopen(path, "re");
  char line[32];
  if (file == NULL) {
    return -1;
  }
  bool got = fgets(line, sizeof(line), file) != NULL;
  (void)fclose(file);
  return got ? strtol(line, NULL, 10) : -1;
}

static void read_metrics(struct rtattr *metrics, struct route_metrics *out) {
  int left = (int)RTA_PAYLOAD(metrics);
  for (struct rtattr *entry = RTA_DATA(metrics); RTA_OK(entry, left); entry = RTA_NEXT(entry, left)) {
    uint32_t value = 0;
    memcpy(&value, RTA_DATA(entry), RTA_PAYLOAD(entry) < sizeof(value) ? RTA_PAYLOAD(entry) : sizeof(value));
    if (entry->rta_type == RTAX_QUICKACK) {
      out->quickack = value;
    } else if (entry->rta_type == RTAX_RTO_MIN) {
      out->rto_min_ms = value;
    }
  }
}

static void parse_route(struct nlmsghdr *message, struct route_metrics *out) {
  struct rtmsg *route = NLMSG_DATA(message);
  int left = (int)RTM_PAYLOAD(message);
  out->known = true;
  for (struct rtattr *attr = RTM_RTA(route); RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
    if (attr->rta_type == RTA_METRICS) {
      read_metrics(attr, out);
    }
  }
}

// Asks rtnetlink(7) for the route to 127.0.0.1, which every measurement uses.
static struct route_metrics loopback_route(void) {
  struct route_metrics metrics = {.known = false};
  struct {
    struct nlmsghdr header;
    struct rtmsg route;
    char attrs[RTA_SPACE(sizeof(struct in_addr))];
  } request = {.header = {.nlmsg_len = sizeof(request), .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
               .route = {.rtm_family = AF_INET, .rtm_dst_len = 32}};
  struct rtattr dst = {.rta_type = RTA_DST, .rta_len = RTA_LENGTH(sizeof(struct in_addr))};
  struct in_addr loopback = {.s_addr = htonl(INADDR_LOOPBACK)};
  memcpy(request.attrs, &dst, sizeof(dst));
  memcpy(request.attrs + RTA_LENGTH(0), &loopback, sizeof(loopback));
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  union {
    struct nlmsghdr header;
    char bytes[8192];
  } reply;
  if (fd >= 0 && send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
    ssize_t len = recv(fd, &reply, sizeof(reply), 0);
    if (len > 0 && NLMSG_OK(&reply.header, (size_t)len) && reply.header.nlmsg_type == RTM_NEWROUTE) {
      parse_route(&reply.header, &metrics);
    }
  }
  if (fd >= 0) {
    close(fd);
  }
  return metrics;
}

// Appends "WHAT VALUE UNIT" to a list separated by semicolons.
static void add(char *out, size_t size, const char *what, long value, const char *unit) {
  size_t len = strlen(out);
  (void)snprintf(out + len, size - len, "%s%s %ld%s", len > 0 ? "; " : "", what, value, unit);
}

void tg_stall_settings_describe(char *out, size_t size) {
  out[0] = '\0';
  long thresh = sysctl_value("tcp_pingpong_thresh");
  long rto_min_us = sysctl_value("tcp_rto_min_us");
  struct route_metrics route = loopback_route();
  if (thresh > DEFAULT_PINGPONG_THRESH) {
    add(out, size, "net.ipv4.tcp_pingpong_thresh =", thresh, "");
  }
  if (rto_min_us >= 0 && rto_min_us < DEFAULT_RTO_MIN_US) {
    add(out, size, "net.ipv4.tcp_rto_min_us =", rto_min_us, "");
  }
  if (route.quickack != 0) {
    add(out, size, "the route to 127.0.0.1 has quickack", (long)route.quickack, "");
  }
  if (route.rto_min_ms != 0 && route.rto_min_ms < DEFAULT_RTO_MIN_US / 1000) {
    add(out, size, "the route to 127.0.0.1 has rto_min", (long)route.rto_min_ms, " ms");
  }
}

static json_t *number_or_null(long value) {
  return value < 0 ? json_null() : json_integer(value);
}

json_t *tg_stall_settings_json(void) {
  struct route_metrics route = loopback_route();
  return json_pack("{s:o, s:o, s:o, s:o}", "tcp_pingpong_thresh", number_or_null(sysctl_value("tcp_pingpong_thresh")),
                   "tcp_rto_min_us", number_or_null(sysctl_value("tcp_rto_min_us")), "route_quickack",
                   number_or_null(route.known ? (long)route.quickack : -1), "route_rto_min_ms",
                   number_or_null(route.known ? (long)route.rto_min_ms : -1));
}
