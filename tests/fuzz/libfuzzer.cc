// In place of the driver: libFuzzer looks at coverage, and has no use for what targets say.
#include "tests/fuzz/fuzz_target.h"

namespace tandem::fuzz {

void NoteAccepted() {}

}  // namespace tandem::fuzz
