// The age of this process.
#ifndef TANDEM_BASE_PROCESS_START_H_
#define TANDEM_BASE_PROCESS_START_H_

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// Returns the seconds since the process was started, including dynamic linking, in steps of the kernel's clock tick (10
// ms); -1 if the system does not tell.
double SecondsSinceProcessStart();

}  // namespace tandem

#endif  // TANDEM_BASE_PROCESS_START_H_
