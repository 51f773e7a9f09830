// The processor of this machine, as Linux describes it.
#ifndef TANDEM_BASE_CPU_INFO_H_
#define TANDEM_BASE_CPU_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/base/api.h"

namespace TANDEM_API tandem {

// A cache of a processor.
struct CpuCache {
  int level = 0;     // level of the cache, 1 to 4
  std::string type;  // "data", "instruction" or "unified"
  int64_t bytes = 0;
  int shared_by = 1;  // number of logical processors that share it
  bool operator==(const CpuCache&) const = default;
};

// What ReadCpuInfo found out.
struct CpuInfo {
  std::string model;  // "AMD EPYC 9654 96-Core Processor"; empty if unknown
  int sockets = 0;
  int cores = 0;                      // physical cores of all sockets
  int logical = 0;                    // logical processors: the hardware threads of all cores
  int usable = 0;                     // logical processors that this process may run on
  std::vector<std::string> features;  // sorted, in /proc/cpuinfo's spelling: "avx2", "avx512f"
  std::vector<CpuCache> caches;       // caches of the first processor
};

// `root` is a folder with the files of /proc and /sys, for tests. Fields that cannot be read keep their initial values.
CpuInfo ReadCpuInfo(const std::string& root = "/");

}  // namespace tandem

#endif  // TANDEM_BASE_CPU_INFO_H_
