// Plans of convolutions and their gradients.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_CONVOLUTION_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_CONVOLUTION_H_

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_plan.h"
#include "runtime/executable_generated.h"

namespace tandem {
namespace onednn {

// The layouts of a convolution's kernel: as the graph has it, and packed for its direction. The packed one is asked for
// without epilogue, so that producer and consumer always agree.
dnnl::memory::desc PlainKernel(const fb::Conv2DT& c);
dnnl::memory::desc PackedKernel(const fb::Conv2DT& c);

Plan PlanOf(const fb::Conv2DT& c);
// Of the filter gradient of a dense 1x1 convolution, as a product.
Plan PlanPointwiseProduct(const fb::Conv2DT& c);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_CONVOLUTION_H_
