// Groups whose ranks are threads of one process: code that uses groups is tested without a transport.
#ifndef TANDEM_RUNTIME_COLLECTIVES_TESTING_THREAD_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_TESTING_THREAD_GROUP_H_

#include <memory>
#include <vector>

#include "runtime/collectives/process_group.h"

namespace tandem {

// Returns one group for each rank; each is for one thread. After an Abort of one, all return its error.
std::vector<std::unique_ptr<ProcessGroup>> MakeThreadGroups(int size);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_TESTING_THREAD_GROUP_H_
