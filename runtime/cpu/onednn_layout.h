// What the compiler must know about oneDNN before it can write a program: packed sizes and implementations. Free of
// oneDNN types.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_LAYOUT_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_LAYOUT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/format/index.h"

namespace tandem {

// Bytes of what a PackWeights call writes, or PackingFor a call that reads it (library_calls/pack_weights.h).
absl::StatusOr<uint64_t> PackedWeightsBytes(const format::LibraryCall& call);

// Whether the layout that a PackWeights call makes is one of panels, which Algorithm::PackPanels writes.
bool PacksPanels(const format::LibraryCall& call);

// The implementation of the call's algorithm; of Library the one that this machine's oneDNN takes, e.g.
// "brgconv:avx512_core". One with "ref" in it is slow by orders of magnitude and must not be in a program.
absl::StatusOr<std::string> ImplementationName(const format::LibraryCall& call);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_LAYOUT_H_
