#include "tests/oracle/coverage.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/status_macros.h"
#include "tests/oracle/cases.h"
#include "tests/oracle/cover.h"

namespace tandem::oracle {
namespace {

// What is compared, and in no other header may it be declared.
const std::set<std::string>& CoveredHeaders() {
  static const auto* headers =
      new std::set<std::string>{"activations.h", "clipping.h",   "layers.h",       "losses.h",
                                "optimizer.h",   "optimizers.h", "regularizers.h", "schedules.h"};
  return *headers;
}

// First values are the oracle's own, metrics and summaries do not train; the rest is internal.
const std::set<std::string>& OtherHeaders() {
  static const auto* headers = new std::set<std::string>{"align.h",
                                                         "check.h",
                                                         "config_reader.h",
                                                         "initializers.h",
                                                         "layer_scope.h",
                                                         "loss_parts.h",
                                                         "metric_parts.h",
                                                         "metrics.h",
                                                         "moving_average.h",
                                                         "name_pattern.h",
                                                         "parameter_groups.h",
                                                         "part_config.h",
                                                         "parts_from_config.h",
                                                         "rule_parts.h",
                                                         "score_uses.h",
                                                         "slot_name.h",
                                                         "summary.h",
                                                         "summary_marks.h",
                                                         "testing.h",
                                                         "weight_owner.h"};
  return *headers;
}

// Names and the shape of a Sequential's input change nothing, and the oracle sets the first values itself.
bool IsExempt(const std::string& field) {
  return field == "name" || field == "input_shape" || field.ends_with("_initializer");
}

// Losses share their options: some fields are for a few, and others refuse them or do not look at them.
bool Takes(const Declaration& declaration, const std::string& field) {
  const std::string& name = declaration.function;
  if (field == "apply_class_balancing") return name == "losses::BinaryFocalCrossEntropy";
  if (declaration.options != "LossOptions") return true;
  if (field == "label_smoothing") {
    return name == "losses::SoftmaxCrossEntropy" || name == "losses::CategoricalCrossEntropy" ||
           name == "losses::BinaryCrossEntropy";
  }
  return field != "from_logits" || (name.ends_with("CrossEntropy") && !name.ends_with("SoftmaxCrossEntropy"));
}

// Another name of the same function. Keras' objects call the functions of the same name.
std::string Alias(const std::string& function) {
  if (function == "optimizers::GradientDescent") return "optimizers::SGD";
  return std::string(absl::StripPrefix(function, "keras::"));
}

// Who calls a function, and with what.
struct Uses {
  std::vector<std::string> callers;
  std::set<std::string> arguments;
};

bool Sets(const Uses& uses, const std::string& field) {
  const std::regex set("[{, ]\\." + field + " =");
  for (const std::string& text : uses.arguments) {
    if (std::regex_search(text, set)) return true;
  }
  return false;
}

void Add(const Covered& covered, const std::string& caller, std::map<std::string, Uses>& uses) {
  for (const auto& [function, arguments] : covered) {
    uses[function].callers.push_back(caller);
    uses[function].arguments.insert(arguments.begin(), arguments.end());
  }
}

absl::StatusOr<std::map<std::string, Uses>> FindUses() {
  std::map<std::string, Uses> uses;
  for (const Model& model : Models()) {
    Covered covered;
    CoverScope scope(&covered);
    GraphBuilder graph("coverage");
    model.loss(graph);
    TD_RETURN_IF_ERROR(graph.status());
    Add(covered, model.name, uses);
  }
  for (const OptimizerCase& optimizer : OptimizerCases()) {
    GraphBuilder graph("coverage");
    const Tensor loss = Models()[0].loss(graph);
    Covered covered;
    CoverScope scope(&covered);
    optimizer.minimize(loss, {});
    TD_RETURN_IF_ERROR(graph.status());
    Add(covered, optimizer.name, uses);
  }
  return uses;
}

template <typename T>
std::string NamesOf(const std::vector<T>& all) {
  return absl::StrJoin(all, ", ", [](std::string* out, const T& one) { out->append(one.name); });
}

std::string Table(const std::vector<Header>& headers, std::map<std::string, Uses>& uses) {
  std::set<std::string> programs;
  const std::vector<Case> all = AllCases();
  for (const Case& c : all) programs.insert(c.ProgramId());
  std::string table = absl::StrCat(
      "# What the oracle covers\n\n"
      "Written by `bazel run //tests/oracle -- --table`; [README.md](README.md) says what a case is and how to run "
      "one.\n\n",
      "The full product has ", all.size(), " cases on ", programs.size(), " executables, the sample that CI runs ",
      SampledCases(kSampleSeed, kSamplePerModel).size(), " cases.\n\n");
  absl::StrAppend(&table, "| | Number | Names |\n|---|---|---|\n");
  absl::StrAppend(&table, "| Models | ", Models().size(), " | ", NamesOf(Models()), " |\n");
  std::vector<OptimizerCase> main, other;
  for (const OptimizerCase& o : OptimizerCases()) (o.main ? main : other).push_back(o);
  absl::StrAppend(&table, "| Optimizers, on every model | ", main.size(), " | ", NamesOf(main), " |\n");
  absl::StrAppend(&table, "| Schedules and options, on three models | ", other.size(), " | ", NamesOf(other), " |\n");
  absl::StrAppend(&table, "| Clipping | ", ClipCases().size(), " | ", NamesOf(ClipCases()), " |\n");
  absl::StrAppend(&table, "| Places | ", Places().size(), " | ", NamesOf(Places()), " |\n");
  absl::StrAppend(&table, "| Precisions | 2 | float32, strict_float32 |\n");
  for (const Header& header : headers) {
    absl::StrAppend(&table, "\n## ", header.path, "\n| Function | Options set | In |\n|---|---|---|\n");
    for (const Declaration& declaration : header.functions) {
      const Uses& use = uses[declaration.function];
      std::vector<std::string> set;
      for (const std::string& field : declaration.fields) {
        if (Sets(use, field)) set.push_back(field);
      }
      const bool by_alias = use.callers.empty() && !uses[Alias(declaration.function)].callers.empty();
      absl::StrAppend(&table, "| ", declaration.function, " | ", absl::StrJoin(set, ", "), " | ",
                      by_alias ? absl::StrCat("as ", Alias(declaration.function)) : absl::StrJoin(use.callers, ", "),
                      " |\n");
    }
  }
  return table;
}

std::vector<std::string> Missing(const std::vector<Header>& headers, std::map<std::string, Uses>& uses) {
  std::vector<std::string> missing;
  for (const Header& header : headers) {
    for (const Declaration& declaration : header.functions) {
      const Uses& use = uses[declaration.function];
      if (use.callers.empty() && uses[Alias(declaration.function)].callers.empty()) {
        missing.push_back(absl::StrCat(header.path, ": no model or optimizer calls ", declaration.function));
        continue;
      }
      for (const std::string& field : declaration.fields) {
        if (IsExempt(field) || !Takes(declaration, field) || Sets(use, field) ||
            Sets(uses[Alias(declaration.function)], field)) {
          continue;
        }
        missing.push_back(absl::StrCat(header.path, ": no model or optimizer sets `", field, "` of ",
                                       declaration.options, " for ", declaration.function));
      }
    }
    for (const std::string& value : header.enum_values) {
      bool found = false;
      for (const Declaration& declaration : header.functions) {
        for (const std::string& text : uses[declaration.function].arguments) {
          found = found || std::regex_search(text, std::regex(value + "\\b"));
        }
      }
      if (!found) missing.push_back(absl::StrCat(header.path, ": no model or optimizer uses ", value));
    }
  }
  return missing;
}

}  // namespace

Header ParseHeader(const std::string& path, const std::string& text) {
  static const auto* space = new std::regex(R"(^namespace (?:tandem)?(?:::)?([\w:]*) \{)");
  static const auto* space_end = new std::regex(R"(^\}  // namespace)");
  static const auto* begin_struct = new std::regex(R"(^struct (\w+) \{)");
  static const auto* begin_layer = new std::regex(R"(^struct (\w+) : Layer \{)");
  static const auto* begin_enum = new std::regex(R"(^enum class (\w+)[^{]*\{)");
  static const auto* field = new std::regex(R"(^  [^/(=]+ (\w+)(?: = [^;]*)?;)");
  static const auto* value = new std::regex(R"(^  (\w+),)");
  static const auto* function = new std::regex(R"(^(?:inline )?(?!return|using|typedef|struct|class)[\w:<>]+ (\w+)\()");
  static const auto* options = new std::regex(R"(const (\w+Options)& )");
  static const auto* method = new std::regex(R"(^  Optimizer (With\w+)\()");
  Header header{path, {}, {}};
  std::map<std::string, std::vector<std::string>> structs;
  std::string current_space, current_struct, current_enum;
  bool in_declaration = false;  // its parameters may go on over lines
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    std::smatch m;
    if (std::regex_search(line, m, *space)) {
      current_space = m[1];
    } else if (std::regex_search(line, *space_end)) {
      current_space.clear();
    } else if (std::regex_search(line, m, *begin_struct)) {
      current_struct = m[1];
    } else if (std::regex_search(line, m, *begin_layer)) {
      header.functions.push_back({absl::StrCat(current_space, "::", m[1].str()), "", {}});
      in_declaration = true;
      continue;  // its constructors follow; the first one with options counts
    } else if (std::regex_search(line, m, *begin_enum)) {
      current_enum = m[1];
    } else if (absl::StartsWith(line, "};")) {
      current_struct.clear();
      current_enum.clear();
    } else if (!current_struct.empty()) {
      if (std::regex_search(line, m, *field)) structs[current_struct].push_back(m[1]);
    } else if (!current_enum.empty()) {
      if (std::regex_search(line, m, *value))
        header.enum_values.push_back(absl::StrCat(current_enum, "::", m[1].str()));
    } else if (std::regex_search(line, m, *method)) {
      header.functions.push_back({absl::StrCat("Optimizer::", m[1].str()), "", {}});
      in_declaration = true;
    } else if (std::regex_search(line, m, *function)) {
      header.functions.push_back({absl::StrCat(current_space, current_space.empty() ? "" : "::", m[1].str()), "", {}});
      in_declaration = true;
    }
    if (!in_declaration) continue;
    if (std::regex_search(line, m, *options)) {
      header.functions.back().options = m[1];
      header.functions.back().fields = structs[m[1]];
    }
    in_declaration = line.find(';') == std::string::npos && line.find('{') == std::string::npos;
  }
  return header;
}

absl::StatusOr<std::vector<Header>> ReadHeaders() {
  std::vector<Header> headers;
  TD_ASSIGN_OR_RETURN(std::vector<std::string> names, Env::Default()->ListDir("frontends"));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    if (!name.ends_with(".h") || OtherHeaders().contains(name)) continue;
    const std::string path = JoinPath("frontends", name);
    if (!CoveredHeaders().contains(name)) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, " is not known to tests/oracle/coverage.cc: is there something to cover in it?"));
    }
    TD_ASSIGN_OR_RETURN(std::string text, Env::Default()->ReadFile(path));
    headers.push_back(ParseHeader(path, text));
  }
  const std::string path = "frontends/keras/layers.h";
  TD_ASSIGN_OR_RETURN(std::string text, Env::Default()->ReadFile(path));
  headers.push_back(ParseHeader(path, text));
  return headers;
}

absl::StatusOr<Coverage> ComputeCoverage(const std::vector<Header>& headers) {
  TD_ASSIGN_OR_RETURN(auto uses, FindUses());
  return Coverage{Table(headers, uses), Missing(headers, uses)};
}

}  // namespace tandem::oracle
