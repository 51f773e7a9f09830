// A plan of cuDNN's as an executable keeps it: which engine, with which settings, of which version. The convolution
// itself is the call's, so that a damaged or hostile file cannot make a plan read or write other memory than the call
// does; cuDNN's own serialised plans describe their tensors, and its parser is not made for such files.
#ifndef TANDEM_RUNTIME_CUDA_CUDNN_PLAN_TEXT_H_
#define TANDEM_RUNTIME_CUDA_CUDNN_PLAN_TEXT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct CudnnPlanText {
  int64_t version = 0;               // cuDNN's, 91900 for 9.19.0: engines are numbered anew in each
  int64_t engine = 0;                // cuDNN's global index
  std::map<int64_t, int64_t> knobs;  // cudnnBackendKnobType_t to choice

  bool operator==(const CudnnPlanText& o) const {
    return version == o.version && engine == o.engine && knobs == o.knobs;
  }
};

// "cudnn 91900 engine 62 knobs 2=7 13=1".
std::string FormatCudnnPlan(const CudnnPlanText& plan);
// Errors: FailedPrecondition for anything else, for more than 64 knobs and for numbers of more than 31 bits.
absl::StatusOr<CudnnPlanText> ParseCudnnPlan(absl::string_view bytes);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_CUDNN_PLAN_TEXT_H_
