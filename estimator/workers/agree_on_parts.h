// What workers must have alike, where a message can say in which part they differ.
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

// A name, "the op dense/MatMul", and what is to be said of it.
using NamedParts = std::vector<std::pair<std::string, std::string>>;

// WorkerGroup::Agree on `key`, which stands for all parts. Where it is not the same on all workers, `parts` is called
// on those that have another than the chief, and on the chief, whose parts go to all: the message names the first that
// differs, and what both workers have in its place. Long texts are cut.
absl::Status AgreeOnParts(WorkerGroup& workers, absl::string_view what, absl::string_view key,
                          const std::function<NamedParts()>& parts, absl::string_view remedy);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_WORKERS_AGREE_ON_PARTS_H_
