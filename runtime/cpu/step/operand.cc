#include "runtime/cpu/step/operand.h"

#include <algorithm>

namespace tandem {

void PlannedWork::Add(int item, int64_t n, int64_t size) {
  for (int64_t begin = 0; begin < n; begin += size) pieces.push_back({item, begin, std::min(n, begin + size)});
}

void PlannedWork::MakeTasks(bool apart) {
  int64_t in_task = 0;
  tasks.clear();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int64_t n = pieces[i].end - pieces[i].begin;
    if (i == 0 || in_task + n > kTaskElements || apart) {
      tasks.push_back(static_cast<int>(i));
      in_task = 0;
    }
    in_task += n;
  }
  tasks.push_back(static_cast<int>(pieces.size()));
}

}  // namespace tandem
