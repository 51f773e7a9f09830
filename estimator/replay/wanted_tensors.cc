#include "estimator/replay/wanted_tensors.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr char kNew[] = "@new", kUpdate[] = "@update", kGradient[] = "@gradient";
constexpr size_t kMostNear = 5;

// True if "model.cc:41" means the place "/src/model.cc:41".
bool IsAt(const std::string& origin, const std::string& line) {
  return origin == line || absl::EndsWith(origin, absl::StrCat("/", line));
}

std::string FileOf(const std::string& place) { return place.substr(0, place.rfind(':')); }

class Finder {
 public:
  Finder(const GraphBuilder& graph, const std::vector<GraphNode>& nodes) : graph_(graph), nodes_(nodes) {
    for (const VariableSpec& v : graph.variables()) variables_.insert(v.name);
    FindGradients();
  }

  absl::Status Add(const std::string& name) {
    const size_t at = name.rfind('@');
    const std::string base = name.substr(0, at), suffix = at == std::string::npos ? "" : name.substr(at);
    if (variables_.contains(name)) return AddVariable(name, "", WantedTensor::Kind::kBefore);
    if (!suffix.empty() && variables_.contains(base)) {
      if (suffix == kNew) return AddVariable(base, kNew, WantedTensor::Kind::kAfter);
      if (suffix == kUpdate) return AddVariable(base, kUpdate, WantedTensor::Kind::kUpdate);
      if (suffix == kGradient) return AddGradient(base);
    }
    const Tensor tensor = graph_.Find(name);
    if (!tensor.ok()) return Unknown(name);
    AddTensor(name, name, tensor.origin());
    return absl::OkStatus();
  }

  absl::Status AddLine(const std::string& line) {
    const size_t before = wanted_.size();
    std::set<std::string> lines;  // lines of that file in which tensors are made
    for (const std::string& name : graph_.names()) {
      const std::string origin = graph_.Find(name).origin();
      if (IsAt(origin, line)) {
        if (!variables_.contains(name)) {
          AddTensor(name, name, origin);
        } else {
          TD_RETURN_IF_ERROR(AddVariable(name, "", WantedTensor::Kind::kBefore));
        }
      } else if (IsAt(FileOf(origin), FileOf(line))) {
        lines.insert(origin.substr(FileOf(origin).size() + 1));
      }
    }
    if (wanted_.size() > before) return absl::OkStatus();
    std::vector<std::string> numbers(lines.begin(), lines.end());
    const auto number = [](const std::string& text) {
      int64_t value = 0;
      return absl::SimpleAtoi(text, &value) ? value : 0;
    };
    std::sort(numbers.begin(), numbers.end(),
              [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
    return absl::NotFoundError(absl::StrCat(
        "--fetch_line: no tensor of the training is made at ", line, "; ",
        numbers.empty() ? absl::StrCat("none is made in ", FileOf(line), " at all")
                        : absl::StrCat("lines of ", FileOf(line), " that make some: ", absl::StrJoin(numbers, ", "))));
  }

  absl::Status AddAll() {
    for (const std::string& name : graph_.names()) {
      const Tensor tensor = graph_.Find(name);
      if (!variables_.contains(name) && tensor.ok()) AddTensor(name, name, tensor.origin());
    }
    for (const std::string& name : variables_) {
      TD_RETURN_IF_ERROR(AddVariable(name, "", WantedTensor::Kind::kBefore));
      TD_RETURN_IF_ERROR(AddVariable(name, kNew, WantedTensor::Kind::kAfter));
    }
    return absl::OkStatus();
  }

  std::vector<WantedTensor> Take() { return std::move(wanted_); }

 private:
  // Finds the gradient of each variable that is assigned the result of an update rule. The rule's operands are the
  // variable and its slots, for which it has results, and then the gradient.
  void FindGradients() {
    for (const GraphNode& assign : nodes_) {
      if (assign.op != "assign" || assign.operands.empty() || assign.operands[0].result != 0) continue;
      const GraphNode& rule = nodes_[assign.operands[0].node];
      if (!absl::StartsWith(rule.op, "apply_") || rule.operands.size() <= rule.results.size()) continue;
      const GraphNode::Operand& gradient = rule.operands[rule.results.size()];
      const std::string& name = nodes_[gradient.node].name;
      gradients_[assign.variable] = gradient.result == 0 ? name : absl::StrCat(name, ":", gradient.result);
    }
  }

  absl::Status AddVariable(const std::string& name, absl::string_view suffix, WantedTensor::Kind kind) {
    Insert({.name = absl::StrCat(name, suffix), .kind = kind, .source = name, .origin = graph_.Find(name).origin()});
    return absl::OkStatus();
  }

  void AddTensor(const std::string& shown, const std::string& name, const std::string& origin) {
    Insert({.name = shown, .kind = WantedTensor::Kind::kTensor, .source = name, .origin = origin});
  }

  absl::Status AddGradient(const std::string& variable) {
    const auto gradient = gradients_.find(variable);
    if (gradient != gradients_.end() && graph_.Find(gradient->second).ok()) {
      AddTensor(absl::StrCat(variable, kGradient), gradient->second, graph_.Find(variable).origin());
      return absl::OkStatus();
    }
    return absl::NotFoundError(absl::StrCat(
        "--fetch: \"", variable, kGradient, "\" is not there: \"", variable,
        "\" is not trained, or by a rule made of ops, whose gradients have names of their own (gradients/...)"));
  }

  void Insert(WantedTensor tensor) {
    if (names_.insert(tensor.name).second) wanted_.push_back(std::move(tensor));
  }

  absl::Status Unknown(const std::string& name) const {
    const std::vector<std::string> names = graph_.names();
    std::vector<std::string> near;
    if (std::string nearest = NearestName(name, names); !nearest.empty()) near.push_back(std::move(nearest));
    for (const std::string& candidate : names) {
      const bool part = absl::StartsWith(candidate, absl::StrCat(name, "/")) || absl::EndsWith(candidate, "/" + name);
      if (part && near.size() < kMostNear && (near.empty() || near[0] != candidate)) near.push_back(candidate);
    }
    return absl::NotFoundError(
        absl::StrCat("--fetch: no tensor of the training is called \"", name, "\"; ",
                     near.empty() ? "" : absl::StrCat("did you mean \"", absl::StrJoin(near, "\" or \""), "\"? "),
                     "--dump_step prints all, and behind a variable's name may stand @new, @update or @gradient"));
  }

  const GraphBuilder& graph_;
  const std::vector<GraphNode>& nodes_;
  std::set<std::string> variables_;
  std::map<std::string, std::string> gradients_;  // the gradient's name, by variable
  std::vector<WantedTensor> wanted_;
  std::set<std::string> names_;
};

}  // namespace

absl::StatusOr<std::vector<WantedTensor>> FindWantedTensors(const GraphBuilder& graph,
                                                            const std::vector<GraphNode>& nodes,
                                                            const ReplayRequest& request) {
  Finder finder(graph, nodes);
  TD_RETURN_IF_ERROR(finder.Add("loss"));
  for (const std::string& name : request.fetches) TD_RETURN_IF_ERROR(finder.Add(name));
  if (!request.fetch_line.empty()) TD_RETURN_IF_ERROR(finder.AddLine(request.fetch_line));
  if (request.dump_step) TD_RETURN_IF_ERROR(finder.AddAll());
  return finder.Take();
}

}  // namespace tandem
