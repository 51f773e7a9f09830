// The small files of a model_dir, and the texts that a checkpoint's state has: what was read can be written, and is
// read as the same again.
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/checkpoint/done_marker.h"
#include "estimator/checkpoint/kept_by_hours.h"
#include "estimator/evaluation/eval_log.h"
#include "estimator/evaluation/reduce_on_plateau.h"
#include "estimator/loop/step_scalar_settings.h"
#include "estimator/workers/worker_positions.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/one_file_env.h"
#include "tests/fuzz/require.h"

namespace tandem::fuzz {
namespace {

template <typename T>
void RequireSame(const T& value, const absl::StatusOr<T>& again, std::string (T::*text)() const, const char* what) {
  Require(again.ok(), what);
  RequireEqual((value.*text)(), (*again.*text)(), what);
}

bool ReadTexts(const std::string& text) {
  const auto plateau = PlateauState::FromJson(text);
  if (plateau.ok()) {
    RequireSame(*plateau, PlateauState::FromJson(plateau->ToJson()), &PlateauState::ToJson, "a plateau is read again");
  }
  StepScalarSettings settings;
  const bool set = settings.Restore(text).ok();
  if (set) {
    StepScalarSettings again;
    Require(again.Restore(settings.ToJson()).ok() && again.values() == settings.values(), "settings are read again");
  }
  const auto positions = WorkerPositions::FromText(text);
  const bool positioned = positions.ok() && positions->has_value();
  if (positioned) {
    const auto again = WorkerPositions::FromText((*positions)->ToText());
    Require(again.ok() && again->has_value(), "positions are read again");
    RequireEqual((*positions)->ToText(), (*again)->ToText(), "positions are read again");
    if ((*positions)->shared) (*positions)->EarliestText();
  }
  return plateau.ok() || set || positioned;
}

bool ReadFiles(OneFileEnv& env) {
  CheckpointData data;
  const bool state = ReadCheckpointState(&env, "model.ckpt-1", &data).ok();
  const auto done = ReadDoneMarker(&env, "model");
  const auto unfinished = ReadUnfinishedMarker(&env, "model");
  const auto kept = KeptByHours(&env, "model", /*hours=*/1).Steps();
  const auto history = ReadEvalHistory(&env, "model/eval");
  if (history.ok()) {
    for (const auto& [step, result] : history->results) {
      Require(step >= 0 && step == result.global_step(), "a result is of its step");
      FindEvalResult(&env, "model/eval", step, {}).IgnoreError();
    }
  }
  return state || (done.ok() && done->has_value()) || (unfinished.ok() && unfinished->has_value()) ||
         (kept.ok() && !kept->empty()) || (history.ok() && !history->results.empty());
}

}  // namespace

std::vector<std::string> Seeds() {
  PlateauState plateau;
  plateau.Observe({}, 10, 0.5);
  WorkerPositions shared{.shared = true, .round = 16, .states = {"abc", ""}, .examples = {32, 16}};
  WorkerPositions own{.states = {std::string("\0\xff", 2), "x", ""}};
  return {R"({"final_step": 2000, "reason": "max_steps"})",
          R"({"since": 1700000000.5, "steps": [100, 250]})",
          R"({"global_step": 7, "seed": 18446744073709551615, "extra": {"best": "{}", "plateau": ""}})",
          R"({"global_step":10,"loss":3.0,"evaluation_of":{"checkpoint":"/other/model.ckpt-10","steps":3}})"
          "\n"
          R"({"global_step":20,"loss":"-Infinity","matrix":[[1,2],[null,"NaN"]]})"
          "\n",
          R"({"learning_rate": 0.01, "learning_rate_1": 1e-3})",
          plateau.ToJson(),
          shared.ToText(),
          own.ToText()};
}

}  // namespace tandem::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tandem::fuzz::OneFileEnv env;
  const std::string text(reinterpret_cast<const char*>(data), size);
  env.Set(text);
  const bool texts = tandem::fuzz::ReadTexts(text), files = tandem::fuzz::ReadFiles(env);
  if (texts || files) tandem::fuzz::NoteAccepted();
  return 0;
}
