#include "estimator/replay/step_file.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/json_parse.h"
#include "base/json_string.h"
#include "base/status_macros.h"
#include "data/files/npy.h"
#include "data/files/write_npz.h"

namespace tandem {
namespace {

constexpr char kStepFormat[] = "tandem-step-1";

// Returns "dense/MatMul" for "dense/MatMul:1", one of several results.
std::string NameOfOp(const std::string& source) { return source.substr(0, source.rfind(':')); }

bool ReadStepEntry(const HostTensor& entry, StepFile* file) {
  if (entry.dtype() != DType::kUInt8 || entry.rank() != 1) return false;
  const nlohmann::json json =
      ParseJson({static_cast<const char*>(entry.raw()), static_cast<size_t>(entry.byte_size())});
  if (!json.is_object() || json.value("format", nlohmann::json()) != kStepFormat) return false;
  const nlohmann::json step = json.value("step", nlohmann::json()), run = json.value("run", nlohmann::json()),
                       order = json.value("order", nlohmann::json());
  if (!step.is_number_integer() || !run.is_string() || !order.is_array()) return false;
  file->step = step.get<int64_t>();
  file->run = run.get<std::string>();
  for (const nlohmann::json& place : order) {
    if (!place.is_array() || place.size() != 2 || !place[0].is_string() || !place[1].is_string()) return false;
    file->order.emplace_back(place[0].get<std::string>(), place[1].get<std::string>());
  }
  return file->step >= 0;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OrderOfModel(
    const std::vector<std::pair<std::string, std::string>>& parts, const std::map<std::string, std::string>& sources) {
  // By the name of a variable or op, the index of its first entry in `parts`.
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < parts.size(); ++i) {
    absl::string_view name = parts[i].first;
    if (!absl::ConsumePrefix(&name, "the variable ") && !absl::ConsumePrefix(&name, "the op ")) continue;
    places.try_emplace(std::string(name), i);
  }
  std::vector<std::pair<size_t, std::string>> found;
  for (const auto& [name, source] : sources) {
    auto place = places.find(source);
    if (place == places.end()) place = places.find(NameOfOp(source));
    if (place != places.end()) found.emplace_back(place->second, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::pair<std::string, std::string>> order;
  for (const auto& [place, name] : found) order.emplace_back(name, parts[place].second);
  return order;
}

absl::StatusOr<std::string> SerializeStepFile(const StepFile& file) {
  nlohmann::ordered_json order = nlohmann::ordered_json::array();
  for (const auto& [name, words] : file.order) order.push_back({name, words});
  const std::string text = JsonString(nlohmann::ordered_json{
      {"format", kStepFormat}, {"step", file.step}, {"run", file.run}, {"order", std::move(order)}});
  HostTensor entry(DType::kUInt8, {static_cast<int64_t>(text.size())});
  std::memcpy(entry.raw(), text.data(), text.size());
  std::map<std::string, HostTensor> arrays = file.arrays;
  arrays[kStepEntry] = std::move(entry);
  return SerializeNpz(arrays);
}

absl::StatusOr<StepFile> ReadStepFile(const std::string& path) {
  TD_ASSIGN_OR_RETURN(auto arrays, ReadNpz(path));
  StepFile file;
  for (auto& [name, array] : arrays) {
    if (name != kStepEntry) {
      file.arrays[name] = std::move(array);
    } else if (!ReadStepEntry(array, &file)) {
      return absl::DataLossError(absl::StrCat(path, ": the array \"", kStepEntry,
                                              "\" does not describe a step; make the file again with --replay_step"));
    }
  }
  return file;
}

}  // namespace tandem
