// A plan of cuDNN as an executable stores it: engine, settings and version. The convolution itself is taken from the
// call, so that a damaged or hostile file cannot make a plan read or write other memory than the call does; cuDNN's own
// serialised plans describe their tensors, and its parser is not made for such files.
#ifndef TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_PLAN_TEXT_H_
#define TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_PLAN_TEXT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct CudnnPlanText {
  int64_t version = 0;               // cuDNN's version, 91900 for 9.19.0: each version numbers its engines anew
  int64_t engine = 0;                // cuDNN's global index of the engine
  std::map<int64_t, int64_t> knobs;  // settings of the engine: cudnnBackendKnobType_t to choice
  // The name of the plan that the library prefers, if the frontend cannot make it from an engine and settings. It is
  // searched for among the plans that the library offers on the device; the engine above is used where it is not found.
  std::string preferred;

  bool operator==(const CudnnPlanText& o) const {
    return version == o.version && engine == o.engine && knobs == o.knobs && preferred == o.preferred;
  }
};

// Returns a text such as "cudnn 91900 engine 62 knobs 2=7 13=1", and " preferred eng49_k0=23_k2=5" where there is such
// a plan.
std::string FormatCudnnPlan(const CudnnPlanText& plan);
// Reads a text of FormatCudnnPlan. Errors: FailedPrecondition for any other text, for more than 64 knobs and for
// numbers of more than 31 bits.
absl::StatusOr<CudnnPlanText> ParseCudnnPlan(absl::string_view bytes);

// True if the plan `replayed`, which was made again from engine and settings, is the one that the library offered,
// judged by their names ("eng11_k2=4_k3=0"). The frontend has no name for settings that are deprecated. One of them
// says how operands are read (3, USE_TEX), and may be missing. Another says into how many parts a sum is split (0,
// SPLIT_K): without it a filter gradient on an H100 took a hundred times as long.
bool IsReplayOf(absl::string_view offered, absl::string_view replayed);

// True if a plan of this name ("eng0", "eng0_k2=1") uses the engine that is made for grouped convolutions: it computes
// every convolution, but one that is not grouped many times slower than others do.
bool IsGroupedEngine(absl::string_view name);

// True if a plan of this name uses engine 1, which computes filter gradients with more padding on one side wrongly:
// with cuDNN 9.19, an H100 got sums over other elements, or what was in memory before.
bool IsOfEvenPadsOnly(absl::string_view name);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_LIBRARIES_CUDNN_PLAN_TEXT_H_
