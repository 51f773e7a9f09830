// AgreeOnParts: checks that workers have the same parts of something, and says which part differs.
#ifndef TANDEM_ESTIMATOR_WORKERS_AGREE_ON_PARTS_H_
#define TANDEM_ESTIMATOR_WORKERS_AGREE_ON_PARTS_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/workers/worker_group.h"

namespace tandem {

// Parts of something, such as of a program: the name of each, such as "the op dense/MatMul", and a text about it.
using NamedParts = std::vector<std::pair<std::string, std::string>>;

// Like WorkerGroup::Agree on `key`, which stands for all parts. If it is not the same on all workers, `parts` is called
// on the workers that differ from the chief, and on the chief, whose parts are sent to all. The error names the first
// part that differs, and what both workers have in its place. Long texts are cut.
absl::Status AgreeOnParts(WorkerGroup& workers, absl::string_view what, absl::string_view key,
                          const std::function<NamedParts()>& parts, absl::string_view remedy);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_AGREE_ON_PARTS_H_
