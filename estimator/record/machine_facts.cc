#include "estimator/record/machine_facts.h"

#include <gnu/libc-version.h>
#include <link.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cpu_info.h"
#include "base/fingerprint.h"

namespace tandem {
namespace {

// Adds the real file name of a loaded library, "libdnnl.so.3.6" if the process asked for libdnnl.so.3.
int AddLibrary(dl_phdr_info* info, size_t, void* names) {
  const std::string path = info->dlpi_name;
  // Skips the program itself and libraries that the kernel provides.
  if (path.find('/') == std::string::npos) return 0;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  static_cast<std::set<std::string>*>(names)->insert((error ? std::filesystem::path(path) : real).filename().string());
  return 0;
}

}  // namespace

Facts MachineFacts() {
  const CpuInfo cpu = ReadCpuInfo();
  std::set<std::string> libraries = {absl::StrCat("glibc ", gnu_get_libc_version())};
  dl_iterate_phdr(AddLibrary, &libraries);
  return {{"processor", cpu.model},
          {"instructions", absl::StrCat(absl::Hex(Fingerprint64(absl::StrJoin(cpu.features, " ")), absl::kZeroPad16))},
          {"libraries", absl::StrJoin(libraries, " ")}};
}

}  // namespace tandem
