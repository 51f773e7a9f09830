// The facts about a machine and a process that may change the bits of a step.
#ifndef TANDEM_ESTIMATOR_RECORD_MACHINE_FACTS_H_
#define TANDEM_ESTIMATOR_RECORD_MACHINE_FACTS_H_

#include "estimator/record/run_description.h"

namespace tandem {

// Returns the "processor", a fingerprint of its "instructions", and the "libraries" that the process has loaded, by
// their file names.
Facts MachineFacts();

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_MACHINE_FACTS_H_
