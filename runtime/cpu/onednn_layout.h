// What the compiler must know about oneDNN before it can write a program: packed sizes and implementations. Free of
// oneDNN types.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_LAYOUT_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_LAYOUT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/executable_generated.h"

namespace tandem {

// Bytes of the packed kernel operand of a Conv2D, Conv2DInputGrad or MatMul of these sizes, or of the result of a
// PackWeights. The layout depends on primitive, shapes, strides, pads and transpose flags, not on the epilogue: copy
// those fields from the consumer into its PackWeights call.
absl::StatusOr<uint64_t> PackedWeightsBytes(const fb::LibraryCallT& call);

// Whether the layout that a PackWeights call makes is one of panels, which Algorithm::PackPanels writes.
bool PacksPanels(const fb::LibraryCallT& call);

// The implementation of the call's algorithm; of Library the one that this machine's oneDNN takes, e.g.
// "brgconv:avx512_core". One with "ref" in it is
// slow by orders of magnitude and must not be in a program.
absl::StatusOr<std::string> ImplementationName(const fb::LibraryCallT& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_LAYOUT_H_
