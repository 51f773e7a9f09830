// The sizes of packed weights and the implementations of oneDNN, which the compiler needs before it can write a
// program. Free of oneDNN types.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_LAYOUT_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_LAYOUT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/format/index.h"

namespace tandem {

// Returns the bytes that a PackWeights call writes. `call` may also be one that reads packed weights, whose PackWeights
// call is PackingFor (library_calls/pack_weights.h).
absl::StatusOr<uint64_t> PackedWeightsBytes(const format::LibraryCall& call);

// True if the layout that a PackWeights call makes is one of panels, which Algorithm::PackPanels writes.
bool PacksPanels(const format::LibraryCall& call);

// Returns the name of the implementation of the call's algorithm. For Algorithm::Library this is the one that oneDNN
// chooses on this machine, e.g. "brgconv:avx512_core". An implementation with "ref" in its name is slow by orders of
// magnitude and must not be in a program.
absl::StatusOr<std::string> ImplementationName(const format::LibraryCall& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_LAYOUT_H_
