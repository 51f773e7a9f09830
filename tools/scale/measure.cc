#include "tools/scale/measure.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/host_tensor.h"
#include "base/median.h"
#include "base/status_macros.h"
#include "runtime/executable/command_info.h"
#include "runtime/format/index.h"
#include "runtime/session/command_trace.h"
#include "tools/run/random_inputs.h"

namespace tandem {

absl::StatusOr<Measured> Measure(const std::string& path, int runs) {
  LoadOptions options;
  TD_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable, Executable::Load(path));
  options.threads = executable->num_replicas();
  TD_ASSIGN_OR_RETURN(std::unique_ptr<LoadedExecutable> model, LoadExecutable(path, options));
  const format::Index& index = model->executable().index();
  std::map<std::string, HostTensor> inputs;
  for (const auto& input : index.inputs) {
    inputs[input.name] = RandomInput(input, model->max_rows(), /*seed=*/1, /*step=*/0);
  }
  StepScalars scalars = {{"global_step", 0}, {"seed", 0}};
  // The learning rate is so small that random data cannot make the weights overflow.
  for (const auto& s : index.scalars) scalars.emplace(s.name, 1e-6);
  auto step = [&]() -> absl::StatusOr<double> {
    const int64_t start = TraceNow();
    TD_ASSIGN_OR_RETURN(RunResult result, Run(*model, inputs, scalars));
    scalars["global_step"] = scalars["global_step"].integer() + 1;
    if (!result.finite) return absl::InternalError("a step on random inputs was not finite");
    return 1e-9 * static_cast<double>(TraceNow() - start);
  };

  Measured measured;
  std::vector<double> walls;
  for (int i = 0; i < runs + 2; ++i) {
    TD_ASSIGN_OR_RETURN(double seconds, step());
    if (i >= 2) walls.push_back(seconds);
  }
  measured.wall = Median(walls);

  CommandTrace trace;
  model->session().set_trace(&trace);
  for (int i = 0; i < runs; ++i) TD_RETURN_IF_ERROR(step().status());
  model->session().set_trace(nullptr);
  const std::vector<CommandInfo> infos = ListCommands(*executable);
  measured.commands.seconds.assign(infos.size(), 0);
  const double devices = executable->num_replicas();
  double first_map_records = 0;
  auto first_map = std::find_if(infos.begin(), infos.end(), [](const CommandInfo& s) { return s.map; });
  for (const auto& thread : trace.threads) {
    for (const CommandRecord& r : thread) {
      // The parts of a global command (one that runs once per device) ran on several threads at the same time, and
      // their times are added up. With more devices, each device would run its own part.
      measured.commands.seconds[r.id] += 1e-9 * static_cast<double>(r.end - r.begin) / (runs * devices);
      if (first_map != infos.end() && r.id == first_map->id) first_map_records += 1;
    }
  }
  measured.commands.microbatches = std::max(1.0, first_map_records / (runs * devices));
  return measured;
}

}  // namespace tandem
