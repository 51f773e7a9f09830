// A library call that can be computed in several ways, of which one is chosen.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_TUNABLE_CALL_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_TUNABLE_CALL_H_

#include <string>

#include "runtime/cuda/libraries/library_calls.h"

namespace tandem {

// Candidates are in the library's own order: number 0 is the one that its heuristic prefers, and selected at first.
// workspace_bytes() and implementation() are those of the selected one.
class TunableCall : public PreparedCall {
 public:
  virtual int candidates() const = 0;
  virtual void Select(int candidate) = 0;
  // Returns a candidate's name, which is unique for the call, device and library version.
  virtual std::string CandidateName(int candidate) const = 0;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_TUNABLE_CALL_H_
