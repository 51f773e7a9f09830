// MeasureOnRandomInputs: runs a program and records every command.
#include <algorithm>

#include "base/status_macros.h"
#include "runtime/format/index.h"
#include "runtime/run/run.h"
#include "tools/costs/measurement.h"
#include "tools/run/random_inputs.h"

namespace tandem {

absl::StatusOr<Measurement> MeasureOnRandomInputs(const std::string& path, int threads, double seconds) {
  constexpr int kWarmUps = 3, kMinRuns = 3, kMaxRuns = 1000;
  TD_ASSIGN_OR_RETURN(auto model, LoadExecutable(path, {.threads = threads}));
  const format::Index& index = model->executable().index();
  std::map<std::string, HostTensor> inputs;
  for (const auto& input : index.inputs) {
    inputs[input.name] = RandomInput(input, model->max_rows(), /*seed=*/0, /*step=*/0);
  }
  // The learning rates are small, so that the values stay finite.
  StepScalars scalars = {{"global_step", 0}, {"seed", 0}};
  for (const auto& s : index.scalars) scalars.emplace(s.name, 1e-6);
  MeasurementBuilder builder(model->executable());
  const int64_t start = TraceNow();
  double spent = 0;
  for (int run = 0; run < kWarmUps + kMaxRuns; ++run) {
    if (run >= kWarmUps + kMinRuns && spent >= seconds) break;
    CommandTrace trace;
    if (run >= kWarmUps) model->session().set_trace(&trace);
    const int64_t begin = TraceNow();
    const absl::Status status = Run(*model, inputs, scalars).status();
    const int64_t end = TraceNow();
    model->session().set_trace(nullptr);
    TD_RETURN_IF_ERROR(status);
    if (run >= kWarmUps) builder.AddRun(trace, 1e-9 * static_cast<double>(end - begin));
    spent = 1e-9 * static_cast<double>(end - start);
    scalars["global_step"] = scalars["global_step"].integer() + 1;
  }
  return builder.Finish();
}

}  // namespace tandem
