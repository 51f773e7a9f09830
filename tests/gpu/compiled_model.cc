#include "tests/gpu/compiled_model.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "benchmarks/models/model.h"
#include "graph/graph_builder.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"

// For the leak sanitizer: cuDNN and cuBLASLt keep what they made until the process ends.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() { return 1; }

namespace tandem {

absl::StatusOr<std::shared_ptr<const Executable>> CompileModelForGpu(absl::string_view model, int64_t batch,
                                                                     Precision precision, ModelVariant variant) {
  TD_ASSIGN_OR_RETURN(const benchmarks::BenchModel made,
                      benchmarks::MakeModel(model, {.all_layers = variant.all_layers}));
  GraphBuilder graph("model");
  benchmarks::FlopCounter flops;
  made.build(graph, flops);
  CompileOptions options;
  options.target = "cuda:sm_90";
  options.devices = {"gpu:0"};
  options.batch_per_replica = batch;
  options.precision = precision;
  options.tf32 = variant.tf32;
  options.kernel_cache_dir = absl::StrCat(testing::TempDir(), "/kernels");  // the same models for several tests
  return CompileGraph(graph, "train", options);
}

}  // namespace tandem
