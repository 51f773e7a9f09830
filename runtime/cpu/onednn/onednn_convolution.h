// Makes the plans (oneDNN primitives with their arguments) of convolutions and their gradients.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_CONVOLUTION_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_CONVOLUTION_H_

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn/onednn_plan.h"
#include "runtime/format/index.h"

namespace tandem {
namespace onednn {

// The layouts of a convolution's kernel (its weights): plain, as the graph has it, and packed for the convolution's
// direction. The packed layout is determined for the call without an epilogue, so that the call that packs and the call
// that reads always agree.
dnnl::memory::desc PlainKernel(const format::Conv2D& c);
dnnl::memory::desc PackedKernel(const format::Conv2D& c);

// `packed_for`: the convolution for which packed weights were packed, `c` with perhaps another number of images.
Plan PlanOf(const format::Conv2D& c, const format::Conv2D& packed_for);
// Returns the plan of the filter gradient of a dense 1x1 convolution, as a product.
Plan PlanPointwiseProduct(const format::Conv2D& c);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_CONVOLUTION_H_
