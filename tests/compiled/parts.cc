#include "tests/compiled/parts.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/parameter_servers.h"

namespace tandem::compiled {

absl::StatusOr<Parts> Parts::Make(const BuildFn& build, const Options& options, int servers) {
  Parts parts;
  Options part = options;
  part.part.servers = servers;
  TD_ASSIGN_OR_RETURN(parts.worker_, Prepare(build, part));
  part.devices = 1;
  part.lanes = 0;
  part.microbatch_rows = 0;
  for (int i = 0; i < servers; ++i) {
    part.part.server = i;
    TD_ASSIGN_OR_RETURN(Program program, Prepare(build, part));
    parts.servers_.push_back(std::move(program));
  }
  return parts;
}

absl::Status Parts::Assign(const TensorMap& values) {
  const auto assign = [&](const Program& program) -> absl::Status {
    for (const auto& [name, value] : values) {
      if (program.variables->Contains(name)) TD_RETURN_IF_ERROR(program.variables->Assign(name, value));
    }
    return absl::OkStatus();
  };
  TD_RETURN_IF_ERROR(assign(worker_));
  for (const Program& server : servers_) TD_RETURN_IF_ERROR(assign(server));
  return absl::OkStatus();
}

absl::StatusOr<StepResult> Parts::Run(const StepInputs& inputs) {
  TD_ASSIGN_OR_RETURN(StepResult result, worker_.Run(inputs));
  if (!result.finite) return result;
  const auto& outputs = worker_.executable->index().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<SentValue> sent = SentValueOfName(outputs[i]->name);
    if (!sent.has_value()) continue;
    TD_RETURN_IF_ERROR(servers_.at(sent->server).variables->Assign(outputs[i]->name, result.outputs[i]));
  }
  for (Program& server : servers_) {
    StepInputs of_server;
    of_server.inputs.emplace_back();
    of_server.scalars = inputs.scalars;
    TD_ASSIGN_OR_RETURN(const StepResult updated, server.Run(of_server));
    if (!updated.finite) return absl::InternalError("an update is not finite");
    for (const auto& variable : server.executable->index().variables) {
      if (!variable->updated || !worker_.variables->Contains(variable->name)) continue;
      TD_ASSIGN_OR_RETURN(const HostTensor value, server.variables->Read(variable->name));
      TD_RETURN_IF_ERROR(worker_.variables->Assign(variable->name, value));
    }
  }
  return result;
}

std::vector<std::string> Parts::Differences(const TensorMap& values) const {
  std::vector<std::string> lines;
  for (const auto& [name, value] : values) {
    bool found = false;
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (!servers_[i].variables->Contains(name)) continue;
      found = true;
      if (std::memcmp(servers_[i].variables->Buffer(name, 0), value.raw(), value.byte_size()) != 0) {
        lines.push_back(
            absl::StrCat(name, " on server ", i, " of ", servers_.size(), " has other bits than in one program"));
      }
    }
    // What no step updates need not be in a server's program.
    if (!found && !worker_.variables->Contains(name)) lines.push_back(absl::StrCat(name, " is in no part"));
  }
  return lines;
}

}  // namespace tandem::compiled
