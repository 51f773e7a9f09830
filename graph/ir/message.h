// Pieces of text for the messages of verifiers and type inference.
#ifndef TANDEM_GRAPH_IR_MESSAGE_H_
#define TANDEM_GRAPH_IR_MESSAGE_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/dtype.h"
#include "graph/ir/interfaces.h"

namespace tandem::td {

// The shape of a tensor: "[b,28,28,1]".
inline std::string Str(mlir::Type type) { return ShapeString(ToShape(type)); }
inline std::string Str(mlir::Value value) { return Str(value.getType()); }

// Axes, pads, strides and other numbers that are not sizes: "[0,-1,2]", where -1 does not mean the batch.
inline std::string Str(llvm::ArrayRef<int64_t> numbers) { return absl::StrCat("[", absl::StrJoin(numbers, ","), "]"); }

}  // namespace tandem::td

#endif  // TANDEM_GRAPH_IR_MESSAGE_H_
