// tandem-devices: shows the devices and libraries with which this machine can compute.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/count_text.h"
#include "base/flag_table.h"
#include "base/json_string.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "estimator/devices.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct DevicesFlags : FlagTable {
  Flag<std::string> format{this, "format", "text", "text or json"};
};

using Json = nlohmann::ordered_json;

Json ToJson(const MachineDevices& machine) {
  Json caches = Json::array(), gpus = Json::array(), libraries = Json::array();
  for (const CpuCache& c : machine.cpu.caches) {
    caches.push_back({{"level", c.level}, {"type", c.type}, {"bytes", c.bytes}, {"shared_by", c.shared_by}});
  }
  for (const GpuDevice& g : machine.gpus) {
    gpus.push_back({{"name", g.name},
                    {"model", g.model},
                    {"memory_bytes", g.memory_bytes},
                    {"compute_capability", absl::StrCat(g.compute_capability / 10, ".", g.compute_capability % 10)},
                    {"driver_cuda", g.driver}});
  }
  for (const LoadedLibrary& l : machine.libraries) {
    Json library = {{"name", l.name}};
    if (l.problem.empty()) {
      library["version"] = l.version;
      library["file"] = l.file;
    } else {
      library["problem"] = l.problem;
    }
    libraries.push_back(std::move(library));
  }
  Json cpu = {{"model", machine.cpu.model},
              {"sockets", machine.cpu.sockets},
              {"cores", machine.cpu.cores},
              {"logical_processors", machine.cpu.logical},
              {"usable", machine.cpu.usable},
              {"caches", std::move(caches)},
              {"features", machine.cpu.features},
              {"target", machine.cpu_target},
              {"target_features", machine.cpu_target_features}};
  if (!machine.cpu_problem.empty()) cpu["problem"] = machine.cpu_problem;
  Json json = {{"cpu", std::move(cpu)}, {"gpus", std::move(gpus)}, {"libraries", std::move(libraries)}};
  if (!machine.no_gpu.empty()) json["no_gpu"] = machine.no_gpu;
  return json;
}

std::string Bytes(uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return absl::StrFormat("%.4g %s", value, units[unit]);
}

// Prints words after a title, on as many lines as needed.
void PrintWords(absl::string_view title, const std::vector<std::string>& words) {
  constexpr size_t kWidth = 120;
  std::string line = absl::StrFormat("  %-11s", title);
  for (const std::string& word : words) {
    if (line.size() + 1 + word.size() > kWidth) {
      std::cout << line << "\n";
      line = std::string(13, ' ');
    }
    absl::StrAppend(&line, " ", PrintableLine(word));
  }
  std::cout << line << "\n";
}

void Print(absl::string_view title, absl::string_view text) {
  std::cout << absl::StrFormat("  %-11s ", title) << PrintableLine(text) << "\n";
}

std::string CacheText(const CpuCache& cache) {
  return absl::StrCat("L", cache.level, cache.type == "unified" ? "" : absl::StrCat(" ", cache.type), " ",
                      Bytes(static_cast<uint64_t>(cache.bytes)),
                      cache.shared_by > 1 ? absl::StrCat(" shared by ", cache.shared_by) : "");
}

void PrintText(const MachineDevices& machine) {
  const CpuInfo& cpu = machine.cpu;
  std::cout << "CPU\n";
  Print("model", cpu.model.empty() ? "not told" : cpu.model);
  Print("cores",
        absl::StrCat(CountText(cpu.cores, "core"), " in ", CountText(cpu.sockets, "socket"), ", ",
                     CountText(cpu.logical, "logical processor"), ", ", cpu.usable, " usable by this process"));
  std::vector<std::string> caches;
  for (const CpuCache& cache : cpu.caches) caches.push_back(CacheText(cache));
  Print("caches", caches.empty() ? "not told" : absl::StrJoin(caches, ", "));
  Print("target",
        machine.cpu_problem.empty() ? absl::StrCat("cpu:native is ", machine.cpu_target) : machine.cpu_problem);
  PrintWords("code uses", machine.cpu_target_features);
  PrintWords("features", cpu.features);
  std::cout << "\nGPUs\n";
  for (const GpuDevice& gpu : machine.gpus) {
    Print(gpu.name,
          absl::StrCat(gpu.model, ", ", Bytes(gpu.memory_bytes), ", compute capability ", gpu.compute_capability / 10,
                       ".", gpu.compute_capability % 10, ", driver for CUDA ", gpu.driver));
  }
  if (machine.gpus.empty()) Print("none", machine.no_gpu);
  std::cout << "\nLibraries\n";
  for (const LoadedLibrary& library : machine.libraries) {
    Print(library.name, library.problem.empty() ? absl::StrCat(library.version, "  ", library.file)
                                                : absl::StrCat("not loaded: ", library.problem));
  }
}

absl::Status Devices(const DevicesFlags& flags) {
  const std::string format = *flags.format;
  if (format != "text" && format != "json") {
    return absl::InvalidArgumentError(absl::StrCat("--format=", format, " is unknown; use text or json"));
  }
  const MachineDevices machine = ListDevices();
  if (format == "json") {
    std::cout << JsonString(ToJson(machine), 1) << "\n";
  } else {
    PrintText(machine);
  }
  return absl::OkStatus();
}

}  // namespace

int TandemDevices(int argc, char** argv) {
  return RunToolProgram<DevicesFlags>(argc, argv, "what this machine can compute with, and with which libraries",
                                      Devices);
}

}  // namespace tandem
