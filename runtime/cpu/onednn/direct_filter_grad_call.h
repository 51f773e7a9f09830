// Library calls of filter gradients that direct_filter_grad.h computes instead of oneDNN.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_DIRECT_FILTER_GRAD_CALL_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_DIRECT_FILTER_GRAD_CALL_H_

#include <memory>

#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/format/index.h"

namespace tandem {

inline constexpr char kDirectFilterGradName[] = "direct_filter_grad";
std::unique_ptr<OneDnnPrimitive> MakeDirectFilterGrad(const format::Conv2D& c);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_DIRECT_FILTER_GRAD_CALL_H_
