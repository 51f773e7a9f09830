// What of a machine and a process may decide about the bits of a step.
#ifndef TANDEM_ESTIMATOR_RECORD_MACHINE_FACTS_H_
#define TANDEM_ESTIMATOR_RECORD_MACHINE_FACTS_H_

#include "estimator/record/run_description.h"

namespace tandem {

// "processor", a fingerprint of its "instructions", and the "libraries" that the process has loaded, by their files.
Facts MachineFacts();

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_MACHINE_FACTS_H_
