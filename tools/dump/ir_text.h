// The IR that an executable keeps, as text.
#ifndef TANDEM_TOOLS_DUMP_IR_TEXT_H_
#define TANDEM_TOOLS_DUMP_IR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Whether a segment is the IR at the end of a phase, and not what passes note beside it.
bool IsPhase(const format::Segment& segment);

// Of segment `segment`, whose kind is IrText. All phases are stored as text but `codegen`, which is bitcode of LLVM:
// DataLossError when LLVM cannot read it.
absl::StatusOr<std::string> IrText(const Executable& executable, int segment);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_IR_TEXT_H_
