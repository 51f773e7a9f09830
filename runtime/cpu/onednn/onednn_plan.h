// The oneDNN primitives of one library call, and helpers to make them.
#ifndef TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PLAN_H_
#define TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PLAN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/format/index.h"

namespace tandem {
namespace onednn {

constexpr auto kF32 = dnnl::memory::data_type::f32;

dnnl::memory::data_type TypeOf(DType type);
const dnnl::engine& Engine();

// The buffer that an argument of a primitive is bound to.
enum class Source { kInput0, kInput1, kInput2, kOutput, kTemporary, kScratchpad };

struct Argument {
  int id;
  Source source;
  dnnl::memory::desc desc;
};

// One primitive of a call and its arguments. A call has one stage, or two with a change of layout between them.
struct Stage {
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
};

struct Plan {
  std::vector<Stage> stages;
  std::string implementation;
  uint64_t temporary_bytes = 0, scratchpad_bytes = 0;

  void AddStage(dnnl::primitive primitive, const dnnl::primitive_desc_base& pd, std::vector<Argument> arguments);
  void AddReorder(const dnnl::memory::desc& from, Source from_source, const dnnl::memory::desc& to, Source to_source);
};

// True if the name of an implementation is that of oneDNN's slow reference code.
bool IsReference(const char* implementation);

// Returns the attributes for an epilogue. If it has a residual, the result is added to the values in the destination.
dnnl::primitive_attr Attributes(const format::Epilogue& epilogue);

// Returns the plan of a product.
Plan PlanProduct(const dnnl::matmul::primitive_desc& pd);

// Returns the plan of a primitive that has a kernel (weights) operand, packed or not. `make` returns the primitive's
// description for a layout of the kernel, `packed` returns the layout of packed kernels, and `others` are the arguments
// except the kernel. If only the reference implementation supports a plain kernel's layout, the kernel is reordered
// first.
template <typename Primitive, typename MakeDesc, typename PackedDesc>
Plan PlanWithKernel(bool is_packed, const dnnl::memory::desc& plain, MakeDesc make, PackedDesc packed,
                    std::vector<Argument> others) {
  Plan plan;
  dnnl::memory::desc kernel = is_packed ? packed() : plain;
  auto pd = make(kernel);
  Source source = Source::kInput1;
  if (!is_packed && IsReference(pd.impl_info_str())) {
    kernel = packed();
    pd = make(kernel);
    plan.temporary_bytes = kernel.get_size();
    plan.AddReorder(plain, Source::kInput1, kernel, Source::kTemporary);
    source = Source::kTemporary;
  }
  plan.implementation = pd.impl_info_str();
  others.push_back({DNNL_ARG_WEIGHTS, source, kernel});
  plan.AddStage(Primitive(pd), pd, std::move(others));
  return plan;
}

}  // namespace onednn
}  // namespace tandem

#endif  // TANDEM_RUNTIME_CPU_ONEDNN_ONEDNN_PLAN_H_
