#include "tests/compiled/parts.h"

#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "estimator/parameter_server/placement.h"
#include "graph/parameter_servers.h"
#include "runtime/format/index.h"

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
  for (const auto& [name, value] : values) {
    if (worker_.variables->Contains(name)) TD_RETURN_IF_ERROR(worker_.variables->Assign(name, value));
  }
  for (const PlacedPart& part : PlacementOf(*worker_.executable)) {
    const auto value = values.find(part.variable);
    VariableStore& server = *servers_.at(part.server).variables;
    if (value == values.end() || !server.Contains(part.name())) continue;
    TD_RETURN_IF_ERROR(server.Assign(part.name(), ValueOf(part, value->second)));
  }
  return absl::OkStatus();
}

HostTensor Parts::ValueOf(const PlacedPart& part, const HostTensor& whole) {
  return part.whole() ? whole : Rows(whole, part.first_row, part.first_row + part.rows);
}

absl::StatusOr<StepResult> Parts::Run(const StepInputs& inputs) {
  TD_ASSIGN_OR_RETURN(StepResult result, worker_.Run(inputs));
  if (!result.finite) return result;
  const auto& outputs = worker_.executable->index().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<SentValue> sent = SentValueOfName(outputs[i].name);
    if (!sent.has_value()) continue;
    TD_RETURN_IF_ERROR(servers_.at(sent->server).variables->Assign(outputs[i].name, result.outputs[i]));
  }
  for (Program& server : servers_) {
    StepInputs of_server;
    of_server.inputs.emplace_back();
    of_server.scalars = inputs.scalars;
    TD_ASSIGN_OR_RETURN(const StepResult updated, server.Run(of_server));
    if (!updated.finite) return absl::InternalError("an update is not finite");
  }
  for (const PlacedPart& part : PlacementOf(*worker_.executable)) {
    const VariableStore& server = *servers_.at(part.server).variables;
    if (!server.Contains(part.name()) || !worker_.variables->Contains(part.variable)) continue;
    TD_ASSIGN_OR_RETURN(const HostTensor value, server.Read(part.name()));
    TD_ASSIGN_OR_RETURN(const HostTensor before, worker_.variables->Read(part.variable));
    HostTensor whole = before.Clone();
    const int64_t row = part.whole() ? 0 : whole.byte_size() / whole.shape()[0];
    std::memcpy(static_cast<char*>(whole.raw()) + part.first_row * row, value.raw(), value.byte_size());
    TD_RETURN_IF_ERROR(worker_.variables->Assign(part.variable, whole));
  }
  return result;
}

std::vector<std::string> Parts::Differences(const TensorMap& values) const {
  std::vector<std::string> lines;
  std::set<std::string> found;
  for (const PlacedPart& part : PlacementOf(*worker_.executable)) {
    const VariableStore& server = *servers_.at(part.server).variables;
    const auto value = values.find(part.variable);
    if (value == values.end() || !server.Contains(part.name())) continue;
    found.insert(part.variable);
    const HostTensor expected = ValueOf(part, value->second);
    if (!server.Read(part.name())->BitEqual(expected)) {
      lines.push_back(absl::StrCat(part.name(), " on server ", part.server, " of ", servers_.size(),
                                   " has other bits than in one program"));
    }
  }
  for (const auto& [name, value] : values) {
    // What no step updates need not be in a server's program.
    if (!found.contains(name) && !worker_.variables->Contains(name)) {
      lines.push_back(absl::StrCat(name, " is in no part"));
    }
  }
  return lines;
}

}  // namespace tandem::compiled
