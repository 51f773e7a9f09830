#include "estimator/replay/replayed_run.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/output_file.h"
#include "base/status_macros.h"
#include "estimator/checkpoint/model_dir.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

// Makes links in `to` to all files in `from`, and does the same for subdirectories.
void LinkFiles(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (fs::directory_iterator entry(from, error), end; !error && entry != end; entry.increment(error)) {
    // Errors are ignored: a program without a link is compiled again.
    std::error_code ignored;
    const fs::path target = to / entry->path().filename();
    if (entry->is_directory(ignored)) {
      fs::create_directory(target, ignored);
      LinkFiles(entry->path(), target);
    } else {
      fs::create_symlink(fs::absolute(entry->path(), ignored), target, ignored);
    }
  }
}

bool LiesIn(const std::string& path, const std::string& dir) {
  const fs::path relative = fs::path(path).lexically_normal().lexically_relative(fs::path(dir).lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

// Returns the devices of all workers, in the order of their replicas.
std::vector<std::string> DevicesOfAll(const DistributionStrategy& strategy, int64_t replicas) {
  if (replicas <= strategy.num_replicas()) return strategy.devices;
  std::vector<std::string> devices;
  for (int64_t i = 0; i < replicas; ++i) devices.push_back(absl::StrCat(strategy.gpu() ? "gpu:" : "cpu:", i));
  return devices;
}

}  // namespace

absl::StatusOr<std::shared_ptr<ReplayedRun>> ReplayedRun::Open(const ReplayRequest& request, RunConfig* config) {
  auto run = std::make_shared<ReplayedRun>();
  run->request = request;
  Env* env = config->file_env();
  if (config->model_dir.empty()) {
    return absl::InvalidArgumentError(
        "--replay_step: RunConfig.model_dir is empty, and the run is looked for there; give the program the model_dir "
        "of the run");
  }
  if (!env->Stat(config->model_dir).ok()) {
    return absl::NotFoundError(absl::StrCat("--replay_step: model_dir \"", config->model_dir,
                                            "\" does not exist; give the program the model_dir of the run"));
  }
  if (!request.out.empty()) TD_RETURN_IF_ERROR(CheckOutputFile(env, "--replay_out", request.out));
  TD_ASSIGN_OR_RETURN(run->description, ReadRunDescription(env, config->model_dir));
  TD_ASSIGN_OR_RETURN(run->steps, ReadRecordedSteps(env, config->model_dir));
  DistributionStrategy strategy = config->train_strategy();
  if (strategy.updates == ClusterUpdates::kServers) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--replay_step: ", strategy.name, " has workers whose steps come in another order each time, so that none can ",
        "be made again; train with MultiWorkerMirroredStrategy where that is wanted"));
  }
  if (run->description.has_value()) {
    if (const RunStart* start = run->description->At(request.step); start != nullptr) {
      if (start->workers > 1 && config->auto_shard != AutoShard::kBatch) {
        return absl::FailedPreconditionError(
            "--replay_step: RunConfig.auto_shard gave each worker of the run an input of its own, and one process "
            "cannot read them all; use AutoShard::kBatch where steps are to be made again");
      }
      strategy.devices = DevicesOfAll(strategy, start->replicas);
    }
  }
  config->train_distribute = strategy;
  config->eval_distribute = std::nullopt;
  config->cluster = std::nullopt;
  // The replay writes no checkpoints, events or records, and logs nothing but the replay itself.
  config->save_checkpoints_steps = 0;
  config->save_checkpoints_secs = std::nullopt;
  config->keep_best = std::nullopt;
  config->save_summary_steps = 0;
  config->record_bits = false;
  config->check_steps_every = 0;
  config->log_step_count_steps = 0;
  config->progress = false;
  config->trace = "";
  config->compile_only = false;
  std::string cache = config->compile_cache_dir;
  if (cache.empty()) cache = JoinPath(config->model_dir, "compiled");
  if (config->compile_cache && LiesIn(cache, config->model_dir)) {
    TD_ASSIGN_OR_RETURN(run->cache_dir, MakeTemporaryModelDir());
    LinkFiles(cache, run->cache_dir);
    config->compile_cache_dir = run->cache_dir;
  }
  return run;
}

ReplayedRun::~ReplayedRun() {
  std::error_code ignored;  // an error only leaves a temporary directory behind
  if (!cache_dir.empty()) fs::remove_all(cache_dir, ignored);
}

}  // namespace tandem
