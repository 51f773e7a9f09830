// Groups whose ranks are threads of one process: what is on top of a group is tested without a transport.
#ifndef TANDEM_RUNTIME_COLLECTIVES_TESTING_THREAD_GROUP_H_
#define TANDEM_RUNTIME_COLLECTIVES_TESTING_THREAD_GROUP_H_

#include <memory>
#include <vector>

#include "runtime/collectives/process_group.h"

namespace tandem {

// One group for each rank, to be used by a thread each. After an Abort of one, all return its error.
std::vector<std::unique_ptr<ProcessGroup>> MakeThreadGroups(int size);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_TESTING_THREAD_GROUP_H_
