// Packing of weights into the layouts that primitives take.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_

#include <memory>
#include <optional>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_plan.h"
#include "runtime/cpu/onednn_primitives.h"
#include "runtime/cpu/pack_weights.h"
#include "runtime/executable_generated.h"

namespace tandem {
namespace onednn {

// The packed layout of the kernel operand of a Conv2D, Conv2DInputGrad or MatMul of the call's sizes.
dnnl::memory::desc PackedKernel(const fb::LibraryCallT& c, fb::Primitive primitive);

Plan PlanPacking(const fb::LibraryCallT& c);

// How PackWeights does the reorder between two layouts of a kernel, [out, in, height, width] or [rows, columns]; none
// where it does not know them.
std::optional<WeightPanels> PanelsOf(const dnnl::memory::desc& plain, const dnnl::memory::desc& packed);

// The panels that the call packs; none where their layout is another or the process has no instructions for it.
std::optional<WeightPanels> PackedPanels(const fb::LibraryCallT& c);
inline constexpr char kPackPanels[] = "panels";
std::unique_ptr<OneDnnPrimitive> MakePanelPacking(const WeightPanels& panels);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_
