// Makes the plans (oneDNN primitives with their arguments) of matrix products.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_MATMUL_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_MATMUL_H_

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn/onednn_plan.h"
#include "runtime/format/index.h"

namespace tandem {
namespace onednn {

// The layouts of b: plain, as the graph has it, and packed. The packed layout is determined for the call without an
// epilogue, so that the call that packs and the call that reads always agree.
dnnl::memory::desc PlainKernel(const format::MatMul& c);
dnnl::memory::desc PackedKernel(const format::MatMul& c);

// `packed_for`: the product for which packed weights were packed, `c` with perhaps another number of rows.
Plan PlanOf(const format::MatMul& c, const format::MatMul& packed_for);
Plan PlanOf(const format::BatchMatMul& c);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_MATMUL_H_
