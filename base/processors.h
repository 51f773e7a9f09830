// How many processors this process may use.
#ifndef TANDEM_BASE_PROCESSORS_H_
#define TANDEM_BASE_PROCESSORS_H_

#include <string>

namespace tandem {

// Those that it may run on, and no more than the time that its control groups have, rounded up: a container that is
// limited to 2.5 processors has 3. At least 1. `root` is a folder with the files of /proc and /sys, for tests.
int UsableProcessors(const std::string& root = "/");

}  // namespace tandem

#endif  // TANDEM_BASE_PROCESSORS_H_
