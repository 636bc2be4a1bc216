#include "perf/diagnose/delayed_acks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "TcpExt:"

double tg_delayed_acks_parse(const char *text) {
  const char *names = strstr(text, PREFIX);
  const char *values = names == NULL ? NULL : strstr(names + 1, PREFIX);
  if (values == NULL) {
    return -1;
  }
  names += strlen(PREFIX);
  names += strspn(names, " ");
  values += strlen(PREFIX);
  while (*names != '\n' && *names != '\0' && *values != '\n' && *values != '\0') {
    const size_t len = strcspn(names, " \n");
    char *end = NULL;
    const double value = strtod(values, &end);
    if (end == values) {
      return -1;
    }
    if (len == strlen("DelayedACKs") && memcmp(names, "DelayedACKs", len) == 0) {
      return value;
    }
    names += len + strspn(names + len, " ");
    values = end;
  }
  return -1;
}

double tg_delayed_acks_read(void) {
  static char text[65536];
  FILE *file = fopen("/proc/net/netstat", "re");
  if (file == NULL) {
    return -1;
  }
  text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
  (void)fclose(file);
  return tg_delayed_acks_parse(text);
}
