// The IR that an executable keeps, as text.
#ifndef TANDEM_TOOLS_DUMP_IR_TEXT_H_
#define TANDEM_TOOLS_DUMP_IR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// True if a segment is the IR at the end of a phase, and not a pass's notes about it.
bool IsPhase(const format::Segment& segment);

// Returns the text of segment `segment`, whose kind must be IrText. All phases are stored as text except `codegen`,
// which is LLVM bitcode: DataLossError when LLVM cannot read it.
absl::StatusOr<std::string> IrText(const Executable& executable, int segment);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_IR_TEXT_H_
