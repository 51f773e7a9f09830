#include "base/process_start.h"

#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace tandem {

double SecondsSinceProcessStart() {
  std::ifstream file("/proc/self/stat");
  std::string stat;
  std::getline(file, stat);
  // Field 2 of /proc/self/stat, the program's name in parentheses, may contain any characters. Field 22 is the time of
  // the start in ticks since boot.
  const size_t name_end = stat.rfind(')');
  timespec now;
  if (name_end == std::string::npos || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return -1;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  double ticks;
  if (!(fields >> ticks)) return -1;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace tandem
