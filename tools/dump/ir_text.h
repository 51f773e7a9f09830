// Returns the IR that an executable contains, as text.
#ifndef TANDEM_TOOLS_DUMP_IR_TEXT_H_
#define TANDEM_TOOLS_DUMP_IR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// True if a segment contains the IR at the end of a phase, and not a pass's report about the IR.
bool IsPhase(const format::Segment& segment);

// Returns the text of segment number `segment`, which must contain IR. All phases are stored as text except `codegen`,
// which is LLVM bitcode. DataLoss if LLVM cannot read the bitcode.
absl::StatusOr<std::string> IrText(const Executable& executable, int segment);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_IR_TEXT_H_
