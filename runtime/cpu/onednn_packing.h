// Packing of weights into the layouts that primitives take.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_

#include <memory>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_plan.h"
#include "runtime/cpu/onednn_primitives.h"
#include "runtime/executable_generated.h"

namespace tandem {
namespace onednn {

// The packed layout of the kernel operand of a Conv2D, Conv2DInputGrad or MatMul of the call's sizes.
dnnl::memory::desc PackedKernel(const fb::LibraryCallT& c, fb::Primitive primitive);

Plan PlanPacking(const fb::LibraryCallT& c);

// Whether the call is a packing that oneDNN does slowly, and never in parts.
bool PacksMatrix(const fb::LibraryCallT& c);
inline constexpr char kPackMatrix[] = "pack_matrix";
std::unique_ptr<OneDnnPrimitive> MakeMatrixPacking(const fb::LibraryCallT& c);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_
