// Plans of convolutions and their gradients.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_CONVOLUTION_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_CONVOLUTION_H_

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/cpu/onednn_plan.h"
#include "runtime/executable_generated.h"

namespace tandem {
namespace onednn {

// The layouts of a convolution's kernel: as the graph has it, and packed for a Conv2D or Conv2DInputGrad. The packed
// one is asked for without epilogue, so that producer and consumer always agree.
dnnl::memory::desc PlainConvolutionKernel(const fb::LibraryCallT& c);
dnnl::memory::desc PackedConvolutionKernel(const fb::LibraryCallT& c, fb::Primitive primitive);

Plan PlanConv2D(const fb::LibraryCallT& c);
Plan PlanConv2DInputGrad(const fb::LibraryCallT& c);
Plan PlanConv2DFilterGrad(const fb::LibraryCallT& c);

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_CONVOLUTION_H_
