#include "estimator/warm_start/warm_start.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/logging.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "data/files/vocabulary_file.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/warm_start/copy_overlap.h"
#include "estimator/warm_start/vocabulary.h"

namespace tandem {
namespace {

std::string List(const std::vector<std::string>& names) {
  constexpr size_t kShown = 10;
  const size_t shown = std::min(names.size(), kShown);
  const std::string text = absl::StrJoin(names.begin(), names.begin() + shown, ", ");
  return shown == names.size() ? text : absl::StrCat(text, " and ", names.size() - shown, " more");
}

std::string TypeString(const VariableSpec& variable) {
  return absl::StrCat(Name(variable.dtype), ShapeString(variable.shape));
}

// Makes one warm start, variable by variable.
class WarmStart {
 public:
  WarmStart(Env* env, const WarmStartSettings& settings, const std::vector<VariableSpec>& variables,
            const CheckpointReader& source, const InitialValueFn& initial_value, bool whole_model)
      : env_(env), settings_(settings), source_(source), initial_value_(initial_value), whole_model_(whole_model) {
    for (const VariableSpec& v : variables) model_[v.name] = &v;
    for (const auto* tensors : {&source.variables(), &source.slots()}) {
      for (const SavedTensor& tensor : *tensors) saved_[tensor.name] = &tensor;
    }
  }

  absl::StatusOr<TensorMap> Run(const std::vector<VariableSpec>& variables) {
    CheckNames();
    const std::regex pattern(settings_.vars_to_warm_start);  // RunConfig::Validate has checked the expression
    for (const VariableSpec& variable : variables) {
      if (!settings_.with_slots && !variable.slot_of.empty()) continue;
      if (std::regex_match(variable.name, pattern)) {
        chosen_.push_back(variable.name);
        TD_RETURN_IF_ERROR(Take(variable));
      } else if (variable.slot_of.empty()) {
        not_chosen_.push_back(variable.name);
        if (settings_.var_name_to_vocab_info.contains(variable.name)) {
          problems_.push_back(absl::StrCat(variable.name, ": var_name_to_vocab_info has it, and vars_to_warm_start \"",
                                           settings_.vars_to_warm_start, "\" does not choose it"));
        }
      }
    }
    CheckReplacements();
    TD_RETURN_IF_ERROR(Failed());
    Report(variables.size());
    return std::move(values_);
  }

 private:
  // Reports names in the settings that the model does not have. Names of slots are accepted: an evaluation has no
  // slots.
  void CheckNames() {
    std::vector<std::string> names, known;
    for (const auto& [name, variable] : model_) known.push_back(name);
    for (const auto& [name, from] : settings_.var_name_to_prev_var_name) names.push_back(name);
    for (const auto& [name, vocab] : settings_.var_name_to_vocab_info) names.push_back(name);
    for (const std::string& name : names) {
      const bool is_slot = std::any_of(known.begin(), known.end(), [&](const std::string& variable) {
        return absl::StartsWith(name, absl::StrCat(variable, "/"));
      });
      const auto variable = model_.find(name);
      if ((variable != model_.end() ? !variable->second->slot_of.empty() : is_slot) && !settings_.with_slots) {
        problems_.push_back(absl::StrCat(name, ": the settings name this slot, and with_slots is false"));
      }
      if (variable != model_.end() || is_slot) continue;
      Unknown(
          absl::StrCat(name, ": the settings name it, and the model has no such variable", DidYouMean(name, known)));
    }
  }

  // Reports an expression that matches none of the chosen variables' names, because it is probably mistyped.
  void CheckReplacements() {
    for (const auto& [expression, replacement] : settings_.var_name_replacements) {
      if (replaced_.contains(expression) || chosen_.empty()) continue;
      Unknown(absl::StrCat("var_name_replacements \"", expression, "\" matches none of ", List(chosen_)));
    }
  }

  // Reports a problem with a name that the variables lack. If `variables` are not all variables of the model, another
  // mode may have one of this name, so the problem is only logged.
  void Unknown(std::string problem) {
    if (whole_model_) {
      problems_.push_back(std::move(problem));
    } else {
      TD_LOG(WARNING) << "warm_start_from: " << problem << " in this mode";
    }
  }

  // Returns the source's name for a variable of the model.
  std::string SourceName(const VariableSpec& variable) {
    const std::string& name = variable.name;
    if (auto it = settings_.var_name_to_prev_var_name.find(name); it != settings_.var_name_to_prev_var_name.end()) {
      return it->second;
    }
    auto owner = model_.find(variable.slot_of);
    if (owner != model_.end() && owner->second != &variable && absl::StartsWith(name, variable.slot_of + "/")) {
      return absl::StrCat(SourceName(*owner->second), name.substr(variable.slot_of.size()));
    }
    std::string from = name;
    for (const auto& [expression, replacement] : settings_.var_name_replacements) {
      const std::regex pattern(expression);
      if (std::regex_search(from, pattern)) replaced_.insert(expression);
      from = std::regex_replace(from, pattern, replacement);
    }
    return from;
  }

  // Returns the vocabularies of a variable. For a slot of the same shape as its variable, returns those of its
  // variable.
  const VocabInfo* VocabOf(const VariableSpec& variable) const {
    const auto& infos = settings_.var_name_to_vocab_info;
    if (auto it = infos.find(variable.name); it != infos.end()) return &it->second;
    auto it = infos.find(variable.slot_of);
    auto owner = model_.find(variable.slot_of);
    if (it == infos.end() || owner == model_.end() || owner->second->shape != variable.shape) return nullptr;
    return &it->second;
  }

  absl::Status Take(const VariableSpec& variable) {
    const std::string& name = variable.name;
    const std::string from = SourceName(variable);
    const auto it = saved_.find(from);
    if (it == saved_.end()) {
      if (settings_.var_name_to_prev_var_name.contains(name) || settings_.var_name_to_vocab_info.contains(name)) {
        std::vector<std::string> names;
        for (const auto& [saved_name, tensor] : saved_) names.push_back(saved_name);
        problems_.push_back(absl::StrCat(name, ": the source has no \"", from, "\"", DidYouMean(from, names)));
      } else if (variable.slot_of.empty()) {  // missing slots are no problem: they begin anew
        absent_.push_back(name == from ? name : absl::StrCat(name, " (\"", from, "\")"));
      }
      return absl::OkStatus();
    }
    const SavedTensor& saved = *it->second;
    const std::string label = name == from ? name : absl::StrCat(name, " from ", PrintableLine(from));
    const std::string differs =
        absl::StrCat(label, ": ", saved.TypeString(), " in the file, ", TypeString(variable), " in the model");
    if (const VocabInfo* vocab = VocabOf(variable); vocab != nullptr) {
      TD_RETURN_IF_ERROR(Annotate(TakeRows(variable, saved, *vocab, label, differs),
                                  absl::StrCat("warm_start_from: vocabularies of ", name, ": ")));
    } else if (saved.dtype == variable.dtype && saved.shape == variable.shape) {
      TD_ASSIGN_OR_RETURN(values_[name], source_.Read(from));
      taken_.insert(from);
      (name == from ? same_name_ : other_name_).push_back(label);
    } else if (settings_.on_shape_mismatch == ShapeMismatch::kSkip) {
      skipped_.push_back(differs);
      taken_.insert(from);  // keeps the report from listing the variable again
    } else if (settings_.on_shape_mismatch == ShapeMismatch::kCopyOverlap && saved.dtype == variable.dtype &&
               saved.shape.size() == variable.shape.size()) {
      TD_RETURN_IF_ERROR(TakeOverlap(variable, saved, std::nullopt));
      in_part_.push_back(differs);
    } else {
      problems_.push_back(differs);
    }
    return absl::OkStatus();
  }

  absl::Status TakeOverlap(const VariableSpec& variable, const SavedTensor& saved,
                           const std::optional<RowsOfAxis>& rows) {
    TD_ASSIGN_OR_RETURN(const HostTensor from, source_.Read(saved.name));
    TD_ASSIGN_OR_RETURN(const HostTensor initial, initial_value_(variable.name));
    HostTensor value = initial.Clone();
    CopyOverlap(from, &value, rows);
    values_[variable.name] = std::move(value);
    taken_.insert(saved.name);
    return absl::OkStatus();
  }

  absl::Status TakeRows(const VariableSpec& variable, const SavedTensor& saved, const VocabInfo& vocab,
                        const std::string& label, const std::string& differs) {
    const size_t axis = static_cast<size_t>(vocab.axis);
    bool fits = saved.dtype == variable.dtype && saved.shape.size() == variable.shape.size();
    if (fits && axis >= variable.shape.size()) {
      problems_.push_back(absl::StrCat(label, ": var_name_to_vocab_info gives axis ", axis, ", and the variable is ",
                                       TypeString(variable)));
      return absl::OkStatus();
    }
    for (size_t d = 0; fits && d < variable.shape.size(); ++d) {
      fits = d == axis || variable.shape[d] == saved.shape[d] ||
             settings_.on_shape_mismatch == ShapeMismatch::kCopyOverlap;
    }
    if (!fits) {
      const bool skip = settings_.on_shape_mismatch == ShapeMismatch::kSkip;
      (skip ? skipped_ : problems_).push_back(differs);
      if (skip) taken_.insert(saved.name);
      return absl::OkStatus();
    }
    const int64_t new_tokens = variable.shape[axis] - vocab.new_oov_buckets;
    const int64_t old_tokens = saved.shape[axis] - vocab.old_oov_buckets;
    if (new_tokens < 0 || old_tokens < 0) {
      problems_.push_back(absl::StrCat(label, ": more OOV buckets than rows (", vocab.new_oov_buckets, " of ",
                                       variable.shape[axis], " in the model, ", vocab.old_oov_buckets, " of ",
                                       saved.shape[axis], " in the file)"));
      return absl::OkStatus();
    }
    TD_ASSIGN_OR_RETURN(const std::vector<std::string> now, ReadVocabulary(env_, vocab.new_vocab, new_tokens));
    TD_ASSIGN_OR_RETURN(const std::vector<std::string> before, ReadVocabulary(env_, vocab.old_vocab, old_tokens));
    RowsOfAxis rows{vocab.axis, MatchRows(before, now)};
    in_part_.push_back(absl::StrCat(label, ": ", rows.rows.size(), " of ", variable.shape[axis],
                                    " rows by their tokens, of ", saved.shape[axis], " in the file"));
    return TakeOverlap(variable, saved, rows);
  }

  absl::Status Failed() const {
    if (!problems_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "warm_start_from: ", source_.path(), " does not fit the model:\n  ", absl::StrJoin(problems_, "\n  "),
          "\nGive other names (var_name_to_prev_var_name), leave these out (vars_to_warm_start), or say "
          "what becomes of other shapes (on_shape_mismatch)."));
    }
    if (!values_.empty() || !skipped_.empty()) return absl::OkStatus();
    std::vector<std::string> names;
    for (const SavedTensor& tensor : source_.variables()) names.push_back(PrintableLine(tensor.name));
    return absl::InvalidArgumentError(absl::StrCat("warm_start_from: ", source_.path(),
                                                   " has none of the variables that \"", settings_.vars_to_warm_start,
                                                   "\" chooses (", List(chosen_), "); it has ", List(names)));
  }

  void Report(size_t variables) const {
    TD_LOG(INFO) << "Warm-started " << values_.size() << " of " << variables << " variables from " << source_.path()
                 << (source_.global_step().has_value() ? absl::StrCat(" (step ", *source_.global_step(), ")") : "")
                 << ".";
    if (!same_name_.empty()) TD_LOG(INFO) << "  taken: " << List(same_name_);
    if (!other_name_.empty()) TD_LOG(INFO) << "  taken under another name: " << List(other_name_);
    if (!in_part_.empty()) TD_LOG(INFO) << "  taken in part, the rest initialised as usual: " << List(in_part_);
    if (!settings_.with_slots && !source_.slots().empty()) {
      TD_LOG(INFO) << "  not taken: optimizers' slots and moving averages, which begin anew (with_slots)";
    }
    if (!not_chosen_.empty()) TD_LOG(INFO) << "  not chosen, so initialised as usual: " << List(not_chosen_);
    std::vector<std::string> left;
    for (const SavedTensor& tensor : source_.variables()) {
      if (!taken_.contains(tensor.name)) left.push_back(PrintableLine(tensor.name));
    }
    if (!left.empty()) TD_LOG(INFO) << "  in the source and not taken: " << List(left);
    if (!skipped_.empty()) {
      TD_LOG(WARNING) << "Of other shapes, so initialised as usual (on_shape_mismatch): " << List(skipped_);
    }
    if (!absent_.empty()) {
      TD_LOG(WARNING) << "Not in " << source_.path() << ", so initialised as usual: " << List(absent_);
    }
  }

  Env* const env_;
  const WarmStartSettings& settings_;
  const CheckpointReader& source_;
  const InitialValueFn& initial_value_;
  const bool whole_model_;
  std::map<std::string, const VariableSpec*> model_;
  std::map<std::string, const SavedTensor*> saved_;

  TensorMap values_;
  std::set<std::string> taken_;     // variables of the source that need no further report
  std::set<std::string> replaced_;  // expressions of var_name_replacements that have matched a name
  std::vector<std::string> problems_, chosen_;
  // Names of variables, grouped by what the report says of them.
  std::vector<std::string> same_name_, other_name_, in_part_, skipped_, absent_, not_chosen_;
};

}  // namespace

absl::StatusOr<TensorMap> ReadWarmStart(Env* env, const WarmStartSettings& settings,
                                        const std::vector<VariableSpec>& variables, const InitialValueFn& initial_value,
                                        bool whole_model) {
  TD_LOG(INFO) << "Warm-starting with WarmStartSettings: {path: " << settings.path
               << ", vars_to_warm_start: " << settings.vars_to_warm_start << "}";
  absl::StatusOr<std::unique_ptr<CheckpointReader>> source = CheckpointReader::Open(env, settings.path);
  TD_RETURN_IF_ERROR(
      Annotate(source.status(), "warm_start_from: ", "; name a file of weights, a checkpoint or a model_dir"));
  return WarmStart(env, settings, variables, **source, initial_value, whole_model).Run(variables);
}

}  // namespace tandem
