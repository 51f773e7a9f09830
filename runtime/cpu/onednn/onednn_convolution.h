// Plans of convolutions and their gradients.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_CONVOLUTION_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_CONVOLUTION_H_

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn/onednn_plan.h"
#include "runtime/format/index.h"

namespace tandem {
namespace onednn {

// The layouts of a convolution's kernel: plain, as the graph has it, and packed for the convolution's direction. The
// packed one is found for the call without epilogue, so that producer and consumer always agree.
dnnl::memory::desc PlainKernel(const format::Conv2D& c);
dnnl::memory::desc PackedKernel(const format::Conv2D& c);

Plan PlanOf(const format::Conv2D& c);
// Returns the plan of the filter gradient of a dense 1x1 convolution, as a product.
Plan PlanPointwiseProduct(const format::Conv2D& c);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_CONVOLUTION_H_
