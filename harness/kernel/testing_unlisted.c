// An object with a call that no list of wrap.bzl has, for wrap_test to find.
#include <unistd.h>

int testing_unlisted(void);
int testing_unlisted(void) {
  return (int)getppid() + (int)getuid();
}
