#include "base/standard_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace tandem {

void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open returns the lowest free number, which is `fd` unless another thread was faster.
    const int opened = open("/dev/null", O_RDWR);
    if (opened > STDERR_FILENO) close(opened);
  }
}

int AboveStandardDescriptors(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error_number = errno;
  close(fd);
  errno = error_number;
  return moved;
}

}  // namespace tandem
