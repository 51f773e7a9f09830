#include "tools/compare/compare_runs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/checkpoint_manager.h"
#include "estimator/checkpoint/checkpoint_reader.h"
#include "estimator/checkpoint/pointer_file.h"
#include "estimator/record/run_description.h"
#include "estimator/record/steps_file.h"
#include "tools/checkpoint/compare.h"

namespace tandem {
namespace {

constexpr size_t kMostLines = 8;

// Names of the settings of RunConfig that can change the bits of results, at least on some devices.
const std::set<std::string>& DecidingSettings() {
  static const auto& names = *new std::set<std::string>{
      "seed", "accumulate_batches", "communication_dtype", "lanes",    "microbatch_rows", "precision", "target",
      "tf32", "deterministic",      "warm_start_from",     "gpu_plans"};
  return names;
}

struct Run {
  std::string dir;
  RunDescription description;
  RecordedSteps steps;
  std::map<int64_t, std::string> checkpoints;  // maps the step to the checkpoint's path
};

absl::StatusOr<Run> ReadRun(Env* env, const std::string& dir) {
  Run run{.dir = dir};
  TD_ASSIGN_OR_RETURN(std::optional<RunDescription> description, ReadRunDescription(env, dir));
  const absl::StatusOr<std::optional<RecordedSteps>> steps = ReadRecordedSteps(env, dir);
  TD_RETURN_IF_ERROR(steps.status());
  if (!description.has_value() || !(*steps).has_value()) {
    return absl::NotFoundError(absl::StrCat(dir, ": has no record of a run (", kStepsName, ", ", kRunName,
                                            "); name the model_dir of a training with RunConfig.record_bits"));
  }
  run.description = *std::move(description);
  run.steps = **steps;
  TD_ASSIGN_OR_RETURN(const std::vector<std::string> paths, CheckpointManager(env, dir).ListCheckpoints());
  for (const std::string& path : paths) {
    if (const std::optional<int64_t> step = CheckpointStep(BaseName(path))) run.checkpoints[*step] = path;
  }
  return run;
}

Facts OnlyThose(const Facts& facts, bool deciding) {
  Facts some;
  for (const auto& fact : facts) {
    if (fact.first != "model_dir" && DecidingSettings().contains(fact.first) == deciding) some.push_back(fact);
  }
  return some;
}

class Comparison {
 public:
  Comparison(Env* env, Run a, Run b) : env_(env), a_(std::move(a)), b_(std::move(b)) {}

  absl::StatusOr<RunDifferences> Make() {
    const std::optional<int64_t> first = CompareSteps();
    const int64_t at = first.value_or(std::max<int64_t>(0, std::min(a_.steps.end(), b_.steps.end()) - 1));
    const RunStart* a = a_.description.At(at);
    const RunStart* b = b_.description.At(at);
    if (a == nullptr || b == nullptr) {
      Line(absl::StrCat("Nothing says how ", (a == nullptr ? a_ : b_).dir, " made this step."));
    } else {
      CompareStarts(*a, *b);
    }
    TD_RETURN_IF_ERROR(CompareCheckpointsAt(at, first.has_value()));
    if (first.has_value() && !found_) {
      Line(
          "Nothing that is recorded differs. A hook that changes rates or variables, an input that is not the same "
          "each time, and broken hardware are left: make the step again on both machines (--replay_step).");
    }
    return std::move(result_);
  }

 private:
  void Line(absl::string_view text) { absl::StrAppend(&result_.text, PrintableLine(text), "\n"); }

  // Returns the first step that both runs have recorded and whose bits differ. Prints how far they agree.
  std::optional<int64_t> CompareSteps() {
    const int64_t begin = std::max(a_.steps.first, b_.steps.first), end = std::min(a_.steps.end(), b_.steps.end());
    Line(absl::StrCat("A: ", a_.dir, ", steps ", a_.steps.first, " to ", a_.steps.end() - 1));
    Line(absl::StrCat("B: ", b_.dir, ", steps ", b_.steps.first, " to ", b_.steps.end() - 1));
    int64_t same = 0;
    for (int64_t step = begin; step < end; ++step) {
      const std::optional<StepBits> a = a_.steps.At(step);
      std::optional<StepBits> b = b_.steps.At(step);
      if (!a.has_value() || !b.has_value()) continue;
      if (!SameBatches(step)) b->input = a->input;
      if (*a == *b) {
        ++same;
        continue;
      }
      result_.equal = false;
      Line(absl::StrCat("Step ", step, " is the first that differs, behind ", same,
                        " equal ones: between A and B differ ", a->Differences(*b), "."));
      return step;
    }
    Line(same == 0 ? "They have no step in common." : absl::StrCat("All ", same, " steps that both have are equal."));
    return std::nullopt;
  }

  // True if the first replica has batches of the same size in both runs at this step. The record of a step has a sample
  // of that replica's examples, which can only be compared then.
  bool SameBatches(int64_t step) const {
    const RunStart* a = a_.description.At(step);
    const RunStart* b = b_.description.At(step);
    return a == nullptr || b == nullptr || a->batch == b->batch;
  }

  void Differ(absl::string_view what, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    found_ = true;
    Line(absl::StrCat(what, ":"));
    for (const std::string& line : lines) Line(absl::StrCat("  ", line));
  }

  void DifferIn(absl::string_view what, const std::string& a, const std::string& b) {
    if (a != b) Differ(what, {absl::StrCat(a, " in A and ", b, " in B")});
  }

  void CompareStarts(const RunStart& a, const RunStart& b) {
    if (a.program != b.program) {
      const Facts &of_a = a_.description.programs[a.program], &of_b = b_.description.programs[b.program];
      Differ("The programs differ", FactDifferences(of_a, of_b, "A", "B", /*without_places=*/true, kMostLines));
    }
    Differ("The numbers of model_fn differ", FactDifferences(a.numbers, b.numbers, "A", "B", false, kMostLines));
    DifferIn("The seeds differ", absl::StrCat(a.seed), absl::StrCat(b.seed));
    DifferIn("The data differ", a.data, b.data);
    const auto step_text = [](const RunStart& s) {
      return absl::StrCat(s.batch, " examples x ", s.replicas, " replicas");
    };
    DifferIn("The batches differ", step_text(a), step_text(b));
    const auto cut = [](const RunStart& s) {
      return absl::StrCat(s.lanes, " lanes in microbatches of ", s.microbatch_rows, " rows");
    };
    DifferIn("The batch is cut in another way", cut(a), cut(b));
    if (a.step == b.step && a.data == b.data) {
      DifferIn("The order of the input, or an option of its stages, differs (fingerprints of its state at the start)",
               a.input, b.input);
    }
    Differ("Settings that may decide about bits differ",
           FactDifferences(OnlyThose(a.configuration, true), OnlyThose(b.configuration, true), "A", "B", false,
                           kMostLines));
    Differ("Processors, libraries or builds differ",
           FactDifferences(a.machine, b.machine, "A", "B", false, kMostLines));
    Differ("What the compiler was told differs", FactDifferences(a.compiler, b.compiler, "A", "B", false, kMostLines));
    const std::vector<std::string> others =
        FactDifferences(OnlyThose(a.configuration, false), OnlyThose(b.configuration, false), "A", "B", false, 100);
    if (others.empty()) return;
    Line("Settings that decide about no bits differ:");
    for (const std::string& line : others) Line(absl::StrCat("  ", line));
  }

  // Compares the last checkpoints that both runs have: if the runs differ, only those up to `step` count.
  absl::Status CompareCheckpointsAt(int64_t step, bool differs) {
    std::optional<int64_t> common;
    for (const auto& entry : a_.checkpoints) {
      if (b_.checkpoints.contains(entry.first) && (entry.first <= step || !differs)) common = entry.first;
    }
    if (!common.has_value()) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const auto a, CheckpointReader::Open(env_, a_.checkpoints[*common]));
    TD_ASSIGN_OR_RETURN(const auto b, CheckpointReader::Open(env_, b_.checkpoints[*common]));
    TD_ASSIGN_OR_RETURN(const CheckpointDifferences differences, CompareCheckpoints(*a, *b));
    if (differences.equal) {
      Line(absl::StrCat("The checkpoints of step ", *common, " are equal."));
      return absl::OkStatus();
    }
    result_.equal = false;
    std::vector<std::string> lines = absl::StrSplit(differences.text, '\n', absl::SkipEmpty());
    if (lines.size() > kMostLines) {
      const size_t more = lines.size() - kMostLines;
      lines.resize(kMostLines);
      lines.push_back(absl::StrCat("and ", more, " more lines of tandem-checkpoint compare"));
    }
    Differ(absl::StrCat("The checkpoints of step ", *common, " differ"), lines);
    return absl::OkStatus();
  }

  Env* const env_;
  Run a_, b_;
  RunDifferences result_;
  bool found_ = false;  // true once a difference was printed that can explain different bits
};

}  // namespace

absl::StatusOr<RunDifferences> CompareRuns(Env* env, const std::string& dir_a, const std::string& dir_b) {
  TD_ASSIGN_OR_RETURN(Run a, ReadRun(env, dir_a));
  TD_ASSIGN_OR_RETURN(Run b, ReadRun(env, dir_b));
  return Comparison(env, std::move(a), std::move(b)).Make();
}

}  // namespace tandem
