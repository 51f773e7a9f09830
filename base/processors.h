// The number of processors that this process may use.
#ifndef TANDEM_BASE_PROCESSORS_H_
#define TANDEM_BASE_PROCESSORS_H_

#include <string>

namespace tandem {

// Returns the number of processors that the process may run on, limited to the processor time of its control groups,
// rounded up: a container limited to 2.5 processors has 3. At least 1. `root` is a folder with the files of /proc and
// /sys, for tests.
int UsableProcessors(const std::string& root = "/");

}  // namespace tandem

#endif  // TANDEM_BASE_PROCESSORS_H_
