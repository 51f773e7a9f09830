// Packing of weights into the layouts that primitives take.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_plan.h"
#include "runtime/cpu/onednn_primitives.h"
#include "runtime/cpu/pack_weights.h"
#include "runtime/format/index.h"

namespace tandem {
namespace onednn {

// Of the packed weights.
uint64_t PackedBytes(const format::PackWeights& packing);

Plan PlanOf(const format::PackWeights& packing);

// How PackWeights does the reorder between two layouts of a kernel, [out, in, height, width] or [rows, columns]; none
// where it does not know them.
std::optional<WeightPanels> PanelsOf(const dnnl::memory::desc& plain, const dnnl::memory::desc& packed);

// The panels that are packed; none where their layout is another or the process has no instructions for it.
std::optional<WeightPanels> PackedPanels(const format::PackWeights& packing);
inline constexpr char kPackPanels[] = "panels";
std::unique_ptr<OneDnnPrimitive> MakePanelPacking(const WeightPanels& panels);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_PACKING_H_
