#include "tools/scale/served_step.h"

#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "graph/parameter_servers.h"
#include "runtime/format/index.h"
#include "tools/dump/find_executable.h"

namespace tandem {
namespace {

double BytesOf(DType dtype, const std::vector<int64_t>& shape) {
  double bytes = static_cast<double>(SizeOf(dtype));
  for (int64_t size : shape) bytes *= static_cast<double>(size);
  return bytes;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindServers(const std::string& path, const Executable& worker) {
  std::error_code error;
  const std::string folder = std::filesystem::is_directory(path, error) ? path : DirName(path);
  std::vector<std::string> files;
  for (uint32_t s = 0; s < worker.index().parameter_servers; ++s) {
    TD_ASSIGN_OR_RETURN(std::string file, FindExecutable(folder, absl::StrCat("train_ps", s)));
    files.push_back(std::move(file));
  }
  return files;
}

absl::StatusOr<ServedStep> ServedStepOf(const Executable& worker,
                                        const std::vector<std::shared_ptr<const Executable>>& servers) {
  const format::Index& index = worker.index();
  ServedStep step;
  step.threads = worker.num_replicas();
  step.servers.resize(servers.size());
  for (const auto& output : index.outputs) {
    const std::optional<SentValue> sent = SentValueOfName(output.name);
    if (!sent.has_value() || sent->server < 0 || sent->server >= static_cast<int>(servers.size())) continue;
    step.servers[sent->server].sent += static_cast<double>(index.programs[0].buffers[output.buffer].bytes);
  }
  std::set<std::string> read;
  for (const auto& variable : index.variables) read.insert(variable.name);
  for (size_t s = 0; s < servers.size(); ++s) {
    const format::Index& server = servers[s]->index();
    if (server.parameter_server != static_cast<int>(s) || server.parameter_servers != index.parameter_servers) {
      return absl::InvalidArgumentError(
          absl::StrCat(servers[s]->name(), " is the part of server ", server.parameter_server, " of ",
                       server.parameter_servers, ", and ", worker.name(), " needs server ", s, " of ",
                       index.parameter_servers, "; give a model directory of one training"));
    }
    std::map<std::string, const format::Variable*> kept;
    for (const auto& variable : server.variables) kept[variable.name] = &variable;
    for (const auto& p : index.placement) {
      const PlacedPart part = {p.variable, static_cast<int>(p.server), p.first_row, p.rows};
      const auto variable = kept.find(part.name());
      if (p.server != s || !read.contains(part.variable) || variable == kept.end()) continue;
      if (variable->second->updated) {
        step.servers[s].returned += BytesOf(variable->second->dtype, variable->second->shape);
      }
    }
  }
  return step;
}

ServedStep PlacedStep(const Executable& program, int servers, double update) {
  std::vector<VariableSpec> variables;
  std::map<std::string, const format::Variable*> of_name;
  std::set<std::string> by_rows;
  for (const auto& v : program.index().variables) {
    of_name[v.name] = &v;
    variables.push_back(
        {.name = v.name, .dtype = v.dtype, .shape = Shape(v.shape.begin(), v.shape.end()), .slot_of = v.slot_of});
    if (v.slot_of.empty()) by_rows.insert(v.name);
  }
  ServedStep step;
  step.threads = program.num_replicas();
  step.servers.resize(servers);
  double total = 0;
  std::vector<double> updated(servers);  // for each server, the bytes of its variables and their optimizer slots
  for (const PlacedPart& part : PlaceVariables(variables, servers, by_rows)) {
    const format::Variable& v = *of_name.at(part.variable);
    if (!v.updated) continue;
    const double bytes = BytesOf(v.dtype, part.ShapeOf(Shape(v.shape.begin(), v.shape.end())));
    ServerLoad& server = step.servers[part.server];
    total += bytes;
    updated[part.server] += bytes;
    if (!v.slot_of.empty()) continue;
    server.sent += bytes;
    server.returned += bytes;
  }
  for (int s = 0; s < servers; ++s) step.servers[s].update = total == 0 ? 0 : update * updated[s] / total;
  return step;
}

void AddCopies(double bytes_per_second, ServedStep* step) {
  for (ServerLoad& server : step->servers) server.update += (server.sent + server.returned) / bytes_per_second;
}

}  // namespace tandem
