// Plans of matrix products.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_MATMUL_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_MATMUL_H_

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_plan.h"
#include "runtime/executable_generated.h"

namespace tandem {
namespace onednn {

// The layouts of b: as the graph has it, and packed. The packed one is asked for without epilogue, so that producer and
// consumer always agree.
dnnl::memory::desc PlainKernel(const fb::MatMulT& c);
dnnl::memory::desc PackedKernel(const fb::MatMulT& c);

Plan PlanOf(const fb::MatMulT& c);
Plan PlanOf(const fb::BatchMatMulT& c);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_MATMUL_H_
