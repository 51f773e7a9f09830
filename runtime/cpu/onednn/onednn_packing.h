// Packing of weights into the layouts that primitives read.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PACKING_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PACKING_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/kernels/pack_weights.h"
#include "runtime/cpu/onednn/onednn_plan.h"
#include "runtime/cpu/onednn/onednn_primitives.h"
#include "runtime/format/index.h"

namespace tandem {
namespace onednn {

// Returns the bytes of the packed weights.
uint64_t PackedBytes(const format::PackWeights& packing);

Plan PlanOf(const format::PackWeights& packing);

// Returns the panels with which PackWeights converts one layout of a kernel ([out, in, height, width] or [rows,
// columns]) into another; nothing if it does not support the layouts.
std::optional<WeightPanels> PanelsOf(const dnnl::memory::desc& plain, const dnnl::memory::desc& packed);

// Returns the panels into which `packing` packs; nothing if the packed layout does not consist of panels, or if the
// process may not use the instructions that this needs.
std::optional<WeightPanels> PackedPanels(const format::PackWeights& packing);
inline constexpr char kPackPanels[] = "panels";
std::unique_ptr<OneDnnPrimitive> MakePanelPacking(const WeightPanels& panels);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PACKING_H_
