#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "fuzz/oss-fuzz/check/contract.h"

bool tg_contract_hide(const char *const folders[], size_t num, struct tg_error *err) {
  if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
    tg_error_set(err,
                 "cannot hide the build folders (mount namespace: %s): run as root, or allow unprivileged user "
                 "namespaces",
                 strerror(errno));
    return false;
  }
  for (size_t i = 0; i < num; i++) {
    if (mount("hidden", folders[i], "tmpfs", MS_RDONLY, "size=4k") != 0) {
      tg_error_set(err, "cannot hide %s: %s", folders[i], strerror(errno));
      return false;
    }
  }
  return true;
}
