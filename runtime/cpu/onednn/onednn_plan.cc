#include "runtime/cpu/onednn/onednn_plan.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace tandem {
namespace onednn {

using dnnl::memory;

memory::data_type TypeOf(DType type) { return type == DType::kBFloat16 ? memory::data_type::bf16 : kF32; }

const dnnl::engine& Engine() {
  static const dnnl::engine* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

void Plan::AddStage(dnnl::primitive primitive, const dnnl::primitive_desc_base& pd, std::vector<Argument> arguments) {
  memory::desc scratchpad = pd.scratchpad_desc();
  if (scratchpad.get_size() > 0) {
    arguments.push_back({DNNL_ARG_SCRATCHPAD, Source::kScratchpad, scratchpad});
    scratchpad_bytes = std::max<uint64_t>(scratchpad_bytes, scratchpad.get_size());
  }
  stages.push_back({std::move(primitive), std::move(arguments)});
}

void Plan::AddReorder(const memory::desc& from, Source from_source, const memory::desc& to, Source to_source) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::reorder::primitive_desc pd(Engine(), from, Engine(), to, attr);
  if (implementation.empty()) implementation = pd.impl_info_str();
  AddStage(dnnl::reorder(pd), pd, {{DNNL_ARG_FROM, from_source, from}, {DNNL_ARG_TO, to_source, to}});
}

Plan PlanProduct(const dnnl::matmul::primitive_desc& pd) {
  Plan plan;
  plan.implementation = pd.impl_info_str();
  plan.AddStage(dnnl::matmul(pd), pd,
                {{DNNL_ARG_SRC, Source::kInput0, pd.src_desc()},
                 {DNNL_ARG_WEIGHTS, Source::kInput1, pd.weights_desc()},
                 {DNNL_ARG_DST, Source::kOutput, pd.dst_desc()}});
  return plan;
}

bool IsReference(const char* implementation) { return absl::StrContains(implementation, "ref"); }

dnnl::primitive_attr Attributes(const format::Epilogue& epilogue) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops ops;
  if (epilogue.residual) ops.append_sum(1);
  if (epilogue.relu()) ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
  attr.set_post_ops(ops);
  return attr;
}

}  // namespace onednn
}  // namespace tandem
