#include "estimator/record/run_description.h"

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/status_macros.h"
#include "base/text_file.h"
#include "base/unsynced_files.h"

namespace tandem {
namespace {

constexpr char kFormat[] = "tandem-run-1";
// The largest numbers that are accepted from a file, which may come from anybody.
constexpr int64_t kMostReplicas = 1 << 16, kMostLanes = 1 << 20;

using Json = nlohmann::ordered_json;

Json FactsJson(const Facts& facts) {
  Json json = Json::array();
  for (const auto& [name, value] : facts) json.push_back({name, value});
  return json;
}

bool ReadFacts(const nlohmann::json& json, Facts* facts) {
  if (!json.is_array()) return false;
  for (const auto& fact : json) {
    if (!fact.is_array() || fact.size() != 2 || !fact[0].is_string() || !fact[1].is_string()) return false;
    facts->emplace_back(fact[0].get<std::string>(), fact[1].get<std::string>());
  }
  return true;
}

template <typename T>
bool ReadNumber(const nlohmann::json& json, const char* key, T* number) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer()) return false;
  *number = it->get<T>();
  return true;
}

bool ReadText(const nlohmann::json& json, const char* key, std::string* text) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_string()) return false;
  *text = it->get<std::string>();
  return true;
}

bool ReadTexts(const nlohmann::json& json, const char* key, std::vector<std::string>* texts) {
  if (!json.contains(key) || !json[key].is_array()) return false;
  for (const auto& text : json[key]) {
    if (!text.is_string()) return false;
    texts->push_back(text.get<std::string>());
  }
  return true;
}

Json StartJson(const RunStart& s) {
  return {{"step", s.step},
          {"seed", s.seed},
          {"replicas", s.replicas},
          {"workers", s.workers},
          {"batch", s.batch},
          {"lanes", s.lanes},
          {"microbatch_rows", s.microbatch_rows},
          {"fetches", s.fetches},
          {"program", s.program},
          {"data", s.data},
          {"input", s.input},
          {"configuration", FactsJson(s.configuration)},
          {"numbers", FactsJson(s.numbers)},
          {"compiler", FactsJson(s.compiler)},
          {"machine", FactsJson(s.machine)}};
}

bool ReadStart(const nlohmann::json& json, RunStart* s) {
  if (!json.is_object()) return false;
  const auto facts = [&](const char* key, Facts* list) { return json.contains(key) && ReadFacts(json[key], list); };
  return ReadTexts(json, "fetches", &s->fetches) && ReadNumber(json, "step", &s->step) &&
         ReadNumber(json, "seed", &s->seed) && ReadNumber(json, "replicas", &s->replicas) &&
         ReadNumber(json, "workers", &s->workers) && ReadNumber(json, "batch", &s->batch) &&
         ReadNumber(json, "lanes", &s->lanes) && ReadNumber(json, "microbatch_rows", &s->microbatch_rows) &&
         ReadText(json, "program", &s->program) && ReadText(json, "data", &s->data) &&
         ReadText(json, "input", &s->input) && facts("configuration", &s->configuration) &&
         facts("numbers", &s->numbers) && facts("compiler", &s->compiler) && facts("machine", &s->machine) &&
         s->step >= 0 && s->replicas >= 1 && s->replicas <= kMostReplicas && s->workers >= 1 &&
         s->workers <= s->replicas && s->batch >= 1 && s->lanes >= 0 && s->lanes <= kMostLanes &&
         s->microbatch_rows >= 0 && s->microbatch_rows <= s->batch;
}

bool ReadDescription(const nlohmann::json& json, RunDescription* description) {
  if (!json.is_object() || !json.contains("starts") || !json["starts"].is_array()) return false;
  std::string format;
  if (!ReadText(json, "format", &format) || format != kFormat) return false;
  for (const auto& start : json["starts"]) {
    if (!ReadStart(start, &description->starts.emplace_back())) return false;
  }
  if (!json.contains("programs") || !json["programs"].is_object()) return false;
  for (const auto& [key, program] : json["programs"].items()) {
    if (!ReadFacts(program, &description->programs[key])) return false;
  }
  return true;
}

}  // namespace

const RunStart* RunDescription::At(int64_t step) const {
  const RunStart* found = nullptr;
  for (const RunStart& start : starts) {
    if (start.step <= step) found = &start;
  }
  return found;
}

void RunDescription::Add(RunStart start, Facts program) {
  std::erase_if(starts, [&](const RunStart& s) { return s.step >= start.step; });
  RunStart last = starts.empty() ? RunStart() : starts.back();
  last.step = start.step;
  last.input = start.input;  // not compared, because the input's position differs at each start
  if (starts.empty() || !(last == start)) {
    programs[start.program] = std::move(program);
    starts.push_back(std::move(start));
  }
  std::set<std::string> used;
  for (const RunStart& s : starts) used.insert(s.program);
  std::erase_if(programs, [&](const auto& entry) { return !used.contains(entry.first); });
}

absl::StatusOr<std::optional<RunDescription>> ReadRunDescription(Env* env, const std::string& model_dir) {
  const std::string path = JoinPath(model_dir, kRunName);
  const absl::StatusOr<std::string> text = ReadTextFile(env, path);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  TD_RETURN_IF_ERROR(text.status());
  RunDescription description;
  if (!ReadDescription(ParseJson(*text), &description)) {
    return absl::DataLossError(
        absl::StrCat(path, ": is no description of a run, or is cut; move it away to go on without one"));
  }
  return description;
}

absl::Status WriteRunDescription(Env* env, const std::string& model_dir, const RunDescription& description) {
  Json starts = Json::array(), programs = Json::object();
  for (const RunStart& start : description.starts) starts.push_back(StartJson(start));
  for (const auto& [key, program] : description.programs) programs[key] = FactsJson(program);
  const Json json = {{"format", kFormat}, {"starts", std::move(starts)}, {"programs", std::move(programs)}};
  return WriteFileUnsynced(env, JoinPath(model_dir, kRunName), absl::StrCat(JsonString(json, 1), "\n"));
}

absl::string_view WithoutPlace(absl::string_view words) {
  // The text ends with ", at file:line".
  const size_t at = words.rfind(", at ");
  return at == absl::string_view::npos ? words : words.substr(0, at);
}

std::string ProgramFingerprint(const Facts& program) {
  uint64_t fingerprint = 0;
  for (const auto& [name, words] : program) {
    fingerprint = Fingerprint64(absl::StrCat(name, "\n", WithoutPlace(words)), fingerprint);
  }
  return absl::StrCat(absl::Hex(fingerprint, absl::kZeroPad16));
}

std::vector<std::string> FactDifferences(const Facts& a, const Facts& b, absl::string_view of_a, absl::string_view of_b,
                                         bool without_places, size_t most) {
  // If a name occurs several times, its n-th occurrences are compared with each other.
  const auto by_name = [](const Facts& facts) {
    std::map<std::pair<std::string, int>, const std::string*> found;
    std::map<std::string, int> turns;
    for (const auto& [name, words] : facts) found[{name, turns[name]++}] = &words;
    return found;
  };
  const auto in_a = by_name(a), in_b = by_name(b);
  const auto same = [&](const std::string& x, const std::string& y) {
    return without_places ? WithoutPlace(x) == WithoutPlace(y) : x == y;
  };
  std::vector<std::string> lines, only_b;
  std::map<std::string, int> turns;
  for (const auto& [name, words] : a) {
    const auto other = in_b.find({name, turns[name]++});
    if (other == in_b.end()) {
      lines.push_back(absl::StrCat(name, " is in ", of_a, " only: ", words));
    } else if (!same(words, *other->second)) {
      lines.push_back(absl::StrCat(name, " is ", words, " in ", of_a, " and ", *other->second, " in ", of_b));
    }
  }
  turns.clear();
  for (const auto& [name, words] : b) {
    if (!in_a.contains({name, turns[name]++})) {
      only_b.push_back(absl::StrCat(name, " is in ", of_b, " only: ", words));
    }
  }
  // If there are too many differences, keeps some of both kinds.
  const size_t all = lines.size() + only_b.size();
  lines.resize(std::min(lines.size(), most - std::min(only_b.size(), most / 2)));
  only_b.resize(std::min(only_b.size(), most - lines.size()));
  lines.insert(lines.end(), only_b.begin(), only_b.end());
  if (all > lines.size()) lines.push_back(absl::StrCat("and ", all - lines.size(), " more"));
  return lines;
}

}  // namespace tandem
