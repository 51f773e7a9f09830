// Filter gradients that small_filter_grad.h computes instead of oneDNN, as library calls.
#ifndef TANDEM_RUNTIME_CPU_SMALL_FILTER_GRAD_CALL_H_
#define TANDEM_RUNTIME_CPU_SMALL_FILTER_GRAD_CALL_H_

#include <memory>

#include "runtime/cpu/onednn_primitives.h"
#include "runtime/executable_generated.h"

namespace tandem {

// Whether small_filter_grad.h computes the call.
bool IsSmallFilterGrad(const fb::LibraryCallT& c);
inline constexpr char kSmallFilterGrad[] = "small_filter_grad";
std::unique_ptr<OneDnnPrimitive> MakeSmallFilterGrad(const fb::LibraryCallT& c);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_SMALL_FILTER_GRAD_CALL_H_
