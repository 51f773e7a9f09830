#include "tools/compare/compare_steps.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tensor_values.h"
#include "estimator/replay/step_file.h"

namespace tandem {
namespace {

constexpr size_t kMostDifferent = 8;

std::string TypeOf(const HostTensor& t) { return absl::StrCat(Name(t.dtype()), " ", ShapeString(t.shape())); }

// Returns the line that describes a file: "A: a.npz, step 234 of run".
std::string FileLine(absl::string_view letter, const std::string& path, const StepFile& file) {
  return absl::StrCat(
      letter, ": ", path,
      file.step < 0 ? ", of no step that is known" : absl::StrCat(", step ", file.step, " of ", file.run));
}

// Returns the names of the arrays that both files have, in the order of A's model, then of B's model, then
// alphabetically.
std::vector<std::pair<std::string, std::string>> NamesInOrder(const StepFile& a, const StepFile& b) {
  std::vector<std::pair<std::string, std::string>> names;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const std::string& words) {
    if (a.arrays.contains(name) && b.arrays.contains(name) && seen.insert(name).second) names.emplace_back(name, words);
  };
  for (const StepFile* file : {&a, &b}) {
    for (const auto& [name, words] : file->order) add(name, words);
  }
  for (const auto& entry : a.arrays) add(entry.first, "");
  return names;
}

// Returns the names of arrays that only one file has.
std::vector<std::string> NamesOnlyIn(const StepFile& file, const StepFile& other) {
  std::vector<std::string> names;
  for (const auto& entry : file.arrays) {
    if (!other.arrays.contains(entry.first)) names.push_back(entry.first);
  }
  return names;
}

// Returns the first names and the number of the others: "a, b, c and 7 more".
std::string SomeOf(std::vector<std::string> names) {
  const size_t all = names.size();
  if (all > kMostDifferent) names.resize(kMostDifferent);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      all > names.size() ? absl::StrCat(" and ", all - names.size(), " more") : "");
}

std::string DifferenceOf(const HostTensor& a, const HostTensor& b) {
  if (a.dtype() == b.dtype() && a.shape() == b.shape()) return DifferencesText(a, b);
  return absl::StrCat(TypeOf(a), " in A and ", TypeOf(b), " in B");
}

}  // namespace

absl::StatusOr<RunDifferences> CompareSteps(const std::string& path_a, const std::string& path_b) {
  TD_ASSIGN_OR_RETURN(const StepFile a, ReadStepFile(path_a));
  TD_ASSIGN_OR_RETURN(const StepFile b, ReadStepFile(path_b));
  if (a.step >= 0 && b.step >= 0 && a.step != b.step) {
    return absl::InvalidArgumentError(absl::StrCat(path_a, " is of step ", a.step, " and ", path_b, " of step ", b.step,
                                                   "; make the same step of both runs with --replay_step"));
  }
  RunDifferences result;
  const auto line = [&](absl::string_view text) { absl::StrAppend(&result.text, PrintableLine(text), "\n"); };
  line(FileLine("A", path_a, a));
  line(FileLine("B", path_b, b));
  for (const auto& [letter, only] : {std::make_pair("A", NamesOnlyIn(a, b)), std::make_pair("B", NamesOnlyIn(b, a))}) {
    if (!only.empty()) line(absl::StrCat(only.size(), " tensors are in ", letter, " only: ", SomeOf(only)));
  }
  const std::vector<std::pair<std::string, std::string>> names = NamesInOrder(a, b);
  // The tensors that differ after the first one: each name, with a description of the differences.
  std::vector<std::pair<std::string, std::string>> later;
  int64_t equal = 0;
  for (const auto& [name, words] : names) {
    const HostTensor &of_a = a.arrays.at(name), &of_b = b.arrays.at(name);
    if (of_a.BitEqual(of_b)) {
      ++equal;
      continue;
    }
    if (!result.equal) {
      later.emplace_back(name, DifferenceOf(of_a, of_b));
      continue;
    }
    result.equal = false;
    line(absl::StrCat(name, " is the first tensor that differs",
                      a.order.empty() ? ", by its name: nothing says in which order the model computes them"
                                      : ", in the order of the model",
                      ", behind ", equal, " equal ones:"));
    if (!words.empty()) line(absl::StrCat("  ", words));
    line(absl::StrCat("  ", DifferenceOf(of_a, of_b)));
  }
  if (!later.empty()) line("Behind it differ:");
  for (size_t i = 0; i < later.size() && i < kMostDifferent; ++i) {
    line(absl::StrCat("  ", later[i].first, ": ", later[i].second));
  }
  if (later.size() > kMostDifferent) line(absl::StrCat("  and ", later.size() - kMostDifferent, " more"));
  line(absl::StrCat(equal, " of ", names.size(), " tensors have equal bits."));
  return result;
}

}  // namespace tandem
