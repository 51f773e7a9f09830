#include "passes/codegen/gpu/ptxas.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <regex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/status_macros.h"

namespace tandem {

std::string FindPtxas() {
  std::vector<std::string> places;
  if (const char* home = std::getenv("CUDA_HOME")) places.push_back(absl::StrCat(home, "/bin/ptxas"));
  if (const char* path = std::getenv("PATH")) {
    for (absl::string_view dir : absl::StrSplit(path, ':', absl::SkipEmpty()))
      places.push_back(absl::StrCat(dir, "/ptxas"));
  }
  places.push_back("/usr/local/cuda/bin/ptxas");
  for (const std::string& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return "";
}

absl::StatusOr<std::vector<PtxasKernel>> RunPtxas(const std::string& ptxas, const std::string& ptx,
                                                  const std::string& arch, const std::string& dir) {
  const std::string source = absl::StrCat(dir, "/kernels.ptx"), object = absl::StrCat(dir, "/kernels.cubin");
  TD_RETURN_IF_ERROR(Env::Default()->WriteFile(source, {ptx}));
  const std::string command = absl::StrCat(ptxas, " -v --gpu-name ", arch, " -o ", object, " ", source, " 2>&1");
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return absl::InternalError(absl::StrCat("cannot run ", ptxas));
  std::string output;
  char buffer[4096];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  if (const int code = pclose(pipe); code != 0) {
    return absl::InternalError(absl::StrCat(ptxas, " for ", arch, " ends with ", WEXITSTATUS(code), ":\n", output));
  }
  std::vector<PtxasKernel> kernels;
  std::smatch match;
  const std::regex entry("Compiling entry function '([^']+)'"), uses("Used ([0-9]+) registers");
  const std::regex local("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  for (absl::string_view text : absl::StrSplit(output, '\n')) {
    const std::string line(text);
    if (std::regex_search(line, match, entry)) {
      kernels.push_back({match[1]});
    } else if (!kernels.empty() && std::regex_search(line, match, local)) {
      kernels.back().stack_bytes = std::stoll(match[1]);
      kernels.back().spill_bytes = std::stoll(match[2]) + std::stoll(match[3]);
    } else if (!kernels.empty() && std::regex_search(line, match, uses)) {
      kernels.back().registers = std::stoi(match[1]);
    }
  }
  return kernels;
}

std::vector<std::string> GpusOfImage(int image_arch) {
  if (image_arch == 75) return {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};
  if (image_arch == 80) return {"sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};
  return {"sm_90"};
}

}  // namespace tandem
