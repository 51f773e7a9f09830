#include "cluster/tf_config.h"

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/nearest_name.h"
#include "base/printable.h"
#include "base/text_file.h"
#include "cluster/address.h"
#include "nlohmann/json.hpp"

namespace tandem {
namespace {

using nlohmann::json;

constexpr char kMaster[] = "master";  // old name of a chief that evaluates as well
// Kubeflow's key for workers that may join and leave. Its value lists only the worker itself and the parameter servers.
constexpr char kSparseCluster[] = "sparseCluster";

const std::vector<std::string>& JobNames() {
  static const auto* names = new std::vector<std::string>{"chief", "evaluator", "master", "ps", "worker"};
  return *names;
}

std::optional<TaskType> TypeOf(absl::string_view name) {
  if (name == kMaster) return TaskType::kChief;
  for (TaskType type : {TaskType::kChief, TaskType::kWorker, TaskType::kParameterServer, TaskType::kEvaluator}) {
    if (name == Name(type)) return type;
  }
  return std::nullopt;
}

// Returns a value of the user's JSON as text for messages, shortened if it is long.
std::string Shown(const json& value) {
  constexpr size_t kLongest = 80;
  std::string text = PrintableLine(JsonString(value));
  if (text.size() > kLongest) text = absl::StrCat(text.substr(0, kLongest), "...");
  return text;
}

class Parser {
 public:
  explicit Parser(std::vector<std::string>* errors) : errors_(errors) {}

  std::optional<Cluster> Parse(absl::string_view text) {
    const size_t before = errors_->size();
    const std::optional<json> config = Read(text);
    if (!config) return std::nullopt;
    if (!config->is_object()) {
      Bad("", absl::StrCat("is ", Shown(*config), "; it must be an object with the keys cluster and task"));
      return std::nullopt;
    }
    CheckKeys(*config);
    if (config->contains("cluster")) ReadJobs((*config)["cluster"]);
    cluster_is_wrong_ = errors_->size() > before;
    ReadTask(*config);
    if (errors_->size() > before || !task_) return std::nullopt;
    return Resolve();
  }

 private:
  void Bad(absl::string_view path, absl::string_view what) {
    errors_->push_back(absl::StrCat("TF_CONFIG", path.empty() ? "" : ": ", path, " ", what));
  }

  // Parses the text as JSON. No object may have a key twice: readers do not agree which one counts.
  std::optional<json> Read(absl::string_view text) {
    std::vector<std::set<std::string>> keys;
    const auto look = [&](int, json::parse_event_t event, json& parsed) {
      if (event == json::parse_event_t::object_start) keys.emplace_back();
      if (event == json::parse_event_t::object_end) keys.pop_back();
      if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
        Bad("", absl::StrCat("has the key ", Shown(parsed), " twice in one object"));
      }
      return true;
    };
    // A shell that assigns a file's content to the variable drops its zero bytes, but keeps its byte order mark. So the
    // mark shows that the text was not UTF-8.
    if (const auto mark = ByteOrderMarkSize(text, "TF_CONFIG"); !mark.ok()) {
      errors_->emplace_back(mark.status().message());
      return std::nullopt;
    }
    if (JsonIsTooDeep(text)) {
      Bad("", absl::StrCat("nests deeper than ", kMaxJsonDepth, " lists and objects"));
      return std::nullopt;
    }
    try {
      json config = json::parse(text.begin(), text.end(), look);
      return config;
    } catch (const json::parse_error& error) {  // only this exception has the position of the error
      const size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
      Bad("", absl::StrCat("is no JSON from byte ", at, " on: \"", PrintableLine(text.substr(at, 20)), "\""));
      return std::nullopt;
    } catch (const json::out_of_range&) {  // the only other error of the parser
      Bad("", "has a number that is too large");
      return std::nullopt;
    }
  }

  void CheckKeys(const json& config) {
    if (config.contains(kSparseCluster)) {
      Bad(kSparseCluster,
          "names only some of the tasks, and each must know all of them; set enableDynamicWorker to "
          "false in the TFJob, which then has a cluster in its place");
    }
    for (const auto& [key, value] : config.items()) {
      const std::string meant = NearestName(key, {"cluster", "task"});
      if (!meant.empty() && key != meant && !config.contains(meant)) {
        Bad("", absl::StrCat("has the key ", Shown(key), "; did you mean \"", meant, "\"?"));
      }
    }
  }

  void ReadJobs(const json& jobs) {
    if (!jobs.is_object()) {
      return Bad("cluster", absl::StrCat("is ", Shown(jobs), "; it must be an object of jobs with lists of addresses"));
    }
    for (const auto& [name, addresses] : jobs.items()) ReadJob(name, addresses);
    const auto has = [&](const char* name) { return jobs.contains(name) && !jobs[name].empty(); };
    const bool master = has(kMaster);
    if (master && has("chief")) Bad("cluster", "has a chief and a master; leave one of them");
    if (master && has("evaluator")) Bad("cluster", "has a master and an evaluator; call the master chief");
    if (!jobs.empty() && std::all_of(jobs.begin(), jobs.end(), [](const json& job) { return job == json::array(); })) {
      Bad("cluster", "has jobs without any address; name the address of a worker at least, or leave the cluster out");
    }
    for (TaskType type : {TaskType::kChief, TaskType::kEvaluator}) {
      const size_t n = Count(type);
      if (n < 2 || (type == TaskType::kChief && master)) continue;
      Bad(absl::StrCat("cluster.", Name(type)), absl::StrCat("has ", n, " addresses; there is one at most"));
    }
    if (Count(TaskType::kParameterServer) > 0 && Count(TaskType::kChief) + Count(TaskType::kWorker) == 0) {
      Bad("cluster", "has parameter servers and neither chief nor worker");
    }
    if (Count(TaskType::kEvaluator) > 0 && Count(TaskType::kChief) + Count(TaskType::kWorker) == 0) {
      Bad("cluster", "has an evaluator and neither chief nor worker");
    }
  }

  void ReadJob(const std::string& name, const json& addresses) {
    const std::string path = absl::StrCat("cluster.", PrintableLine(name));
    const std::optional<TaskType> type = TypeOf(name);
    if (!type) {
      const std::string meant = NearestName(name, JobNames());
      return Bad(path, absl::StrCat("is no job", meant.empty() ? "" : absl::StrCat(" (did you mean ", meant, "?)"),
                                    "; jobs are chief, worker, ps and evaluator"));
    }
    if (!addresses.is_array()) {
      return Bad(path, absl::StrCat("is ", Shown(addresses), "; it must be a list of addresses HOST:PORT"));
    }
    if (addresses.empty()) return;  // the job has no tasks
    std::vector<std::string>& list = addresses_[*type];
    for (size_t i = 0; i < addresses.size(); ++i) {
      const std::string place = absl::StrCat(path, "[", i, "]");
      if (!addresses[i].is_string()) {
        Bad(place, absl::StrCat("is ", Shown(addresses[i]), "; it must be a string HOST:PORT"));
        list.emplace_back();
        continue;
      }
      list.push_back(addresses[i].get<std::string>());
      if (std::string why = WhyNoAddress(list.back()); !why.empty()) {
        Bad(place, absl::StrCat("is ", Shown(addresses[i]), ": ", why));
      }
      const auto [seen, first] = places_.emplace(list.back(), place);
      if (!first) Bad(place, absl::StrCat("is ", Shown(addresses[i]), ", as ", seen->second, " is"));
    }
  }

  void ReadTask(const json& config) {
    if (!config.contains("task")) {
      if (addresses_.empty()) return;
      return Bad("task", "is missing: it must say which task of the cluster this process is");
    }
    const json& task = config["task"];
    if (!task.is_object()) {
      return Bad("task", absl::StrCat("is ", Shown(task), "; it must be an object with the keys type and index"));
    }
    if (task.empty() && addresses_.empty()) return;
    const std::optional<TaskType> type = ReadType(task);
    const std::optional<int64_t> index = ReadIndex(task);
    if (type && index) CheckTask(task, *type, *index);
  }

  std::optional<TaskType> ReadType(const json& task) {
    if (!task.contains("type")) {
      Bad("task.type", "is missing: chief, worker, ps or evaluator");
      return std::nullopt;
    }
    const json& name = task["type"];
    if (name.is_string()) {
      if (std::optional<TaskType> type = TypeOf(name.get<std::string>())) return type;
    }
    Bad("task.type", absl::StrCat("is ", Shown(name), "; it must be chief, worker, ps or evaluator"));
    return std::nullopt;
  }

  // Some operators write the index as a string.
  std::optional<int64_t> ReadIndex(const json& task) {
    if (!task.contains("index")) {
      Bad("task.index", "is missing: the place of this process among the tasks of its type, from 0 on");
      return std::nullopt;
    }
    const json& value = task["index"];
    int64_t index = -1;
    if (value.is_number_unsigned() && value.get<uint64_t>() <= kMaxIndex) index = value.get<int64_t>();
    if (value.is_string() && !absl::SimpleAtoi(value.get<std::string>(), &index)) index = -1;
    if (index >= 0) return index;
    Bad("task.index", absl::StrCat("is ", Shown(value), "; it must be a whole number from 0 on"));
    return std::nullopt;
  }

  void CheckTask(const json& task, TaskType type, int64_t index) {
    task_ = Task{type, index};
    const std::string shown = absl::StrCat("is ", task["type"].get<std::string>(), " ", index);
    if (addresses_.empty()) {
      if (cluster_is_wrong_) return;
      if (index > 0 || type != TaskType::kWorker) {
        Bad("task", absl::StrCat(shown, ", and there is no cluster; without one it is worker 0, and trains alone"));
      }
      return;
    }
    const size_t count = Count(type);
    if (type == TaskType::kEvaluator && count == 0) {
      if (index > 0) Bad("task.index", absl::StrCat("is ", index, "; there is one evaluator at most"));
      return;
    }
    if (count == 0) {
      std::vector<std::string> jobs;
      for (const auto& [job, list] : addresses_) jobs.emplace_back(Name(job));
      return Bad("task.type", absl::StrCat("is ", task["type"].get<std::string>(),
                                           ", which the cluster does not have; it has ", absl::StrJoin(jobs, ", ")));
    }
    if (index >= static_cast<int64_t>(count)) {
      Bad("task.index", absl::StrCat("is ", index, ", and cluster.", task["type"].get<std::string>(), " has ", count,
                                     count == 1 ? " address" : " addresses", ", from 0 on"));
    }
  }

  size_t Count(TaskType type) const {
    auto found = addresses_.find(type);
    return found == addresses_.end() ? 0 : found->second.size();
  }

  std::optional<Cluster> Resolve() {
    const auto chiefs = static_cast<int64_t>(Count(TaskType::kChief));
    const auto workers = static_cast<int64_t>(Count(TaskType::kWorker));
    Cluster cluster;
    cluster.source = "TF_CONFIG";
    cluster.task = *task_;
    if (addresses_.empty()) return cluster;
    cluster.world_size = chiefs + workers;
    if (task_->type == TaskType::kChief) {
      cluster.rank = 0;
    } else {
      cluster.rank = task_->type == TaskType::kWorker ? chiefs + task_->index : -1;
    }
    cluster.coordinator = addresses_[chiefs > 0 ? TaskType::kChief : TaskType::kWorker].front();
    cluster.addresses = std::move(addresses_);
    return cluster;
  }

  static constexpr uint64_t kMaxIndex = 1 << 20;

  std::vector<std::string>* const errors_;
  std::map<TaskType, std::vector<std::string>> addresses_;
  std::map<std::string, std::string> places_;  // for each address, the JSON path where it was listed
  bool cluster_is_wrong_ = false;
  std::optional<Task> task_;
};

}  // namespace

std::optional<Cluster> ParseTfConfig(absl::string_view text, std::vector<std::string>* errors) {
  return Parser(errors).Parse(text);
}

}  // namespace tandem
