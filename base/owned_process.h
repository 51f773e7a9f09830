// Whether this process is Tandem's program, or only uses Tandem.
#ifndef TANDEM_BASE_OWNED_PROCESS_H_
#define TANDEM_BASE_OWNED_PROCESS_H_

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// True from the beginning of RunProgram (base/program.h) or RunMain on. Only then does Tandem do what changes the whole
// process: it handles signals and uncaught exceptions, opens standard descriptors that are missing, and ends the
// process where memory runs out in a library that cannot go on. Everywhere else it is a library, which leaves its host
// process as it is and returns errors.
bool OwnsProcess();

// Makes OwnsProcess true. For RunProgram and RunMain.
void OwnProcess();

}  // namespace tandem

#endif  // TANDEM_BASE_OWNED_PROCESS_H_
