// Params: the hyperparameters that an Estimator hands to its model_fn.
#ifndef TANDEM_ESTIMATOR_PARAMS_H_
#define TANDEM_ESTIMATOR_PARAMS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/source_location.h"

namespace tandem {

// Named values, lists of them, and groups, whose values are called by both names:
//   Params params = {{"learning_rate", 1e-3}, {"optimizer", "adam"}, {"filters", std::vector<int64_t>{32, 64}},
//                    {"encoder", Params{{"units", 64}}}};
//   params.Int("encoder.units", 32);
class Params {
 public:
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                             std::vector<std::string>>;

  // Takes any of these types, what converts to them without surprise, and a group.
  struct Entry {
    Entry(absl::string_view name, bool value) : name(name), value(value) {}
    Entry(absl::string_view name, int value) : name(name), value(int64_t{value}) {}
    Entry(absl::string_view name, int64_t value) : name(name), value(value) {}
    Entry(absl::string_view name, double value) : name(name), value(value) {}
    Entry(absl::string_view name, const char* value) : name(name), value(std::string(value)) {}
    Entry(absl::string_view name, std::string value) : name(name), value(std::move(value)) {}
    Entry(absl::string_view name, std::vector<int64_t> values) : name(name), value(std::move(values)) {}
    Entry(absl::string_view name, std::vector<double> values) : name(name), value(std::move(values)) {}
    Entry(absl::string_view name, std::vector<std::string> values) : name(name), value(std::move(values)) {}
    Entry(absl::string_view name, const Params& group) : name(name), group(group.values_) {}
    std::string name;
    Value value;
    std::optional<std::map<std::string, Value>> group = std::nullopt;
  };

  // Where the model runs.
  struct Placement {
    int num_replicas = 1, num_workers = 1, worker_index = 0;
  };

  Params() = default;
  Params(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) Set(e);
  }

  bool Has(absl::string_view name, SourceLocation location = SourceLocation::Current()) const {
    return Ask(name, location) != nullptr;
  }
  // The value, or `otherwise` when there is none of that name. Number takes integers too. A value of another kind is an
  // error, which the call of the Estimator returns, and for the time being `otherwise`.
  bool Bool(absl::string_view name, bool otherwise, SourceLocation location = SourceLocation::Current()) const;
  int64_t Int(absl::string_view name, int64_t otherwise, SourceLocation location = SourceLocation::Current()) const;
  double Number(absl::string_view name, double otherwise, SourceLocation location = SourceLocation::Current()) const;
  std::string String(absl::string_view name, absl::string_view otherwise,
                     SourceLocation location = SourceLocation::Current()) const;
  // Lists. Numbers takes integers too.
  std::vector<int64_t> Ints(absl::string_view name, std::vector<int64_t> otherwise,
                            SourceLocation location = SourceLocation::Current()) const;
  std::vector<double> Numbers(absl::string_view name, std::vector<double> otherwise,
                              SourceLocation location = SourceLocation::Current()) const;
  std::vector<std::string> Strings(absl::string_view name, std::vector<std::string> otherwise,
                                   SourceLocation location = SourceLocation::Current()) const;

  // What the Estimator says to its model_fn. How many replicas a step of the mode runs on, those of all workers
  // together: a rate of 0.1 for a batch of 256 is params.Number("rate", 0.1) * params.num_replicas() * batch / 256.
  int num_replicas() const { return placement_.num_replicas; }
  // How many processes take part in such a step, and which of them this one is, from 0 on. All build the same program:
  // a graph or a number in it that depends on worker_index is an error of Train, which names what differs. It is for
  // hooks and other things outside of the graph. After workers were lost there may be fewer of them, with as many
  // replicas as before.
  int num_workers() const { return placement_.num_workers; }
  int worker_index() const { return placement_.worker_index; }
  void SetPlacement(const Placement& placement) { placement_ = placement; }

  // The first value that was asked for as another kind than it is, with the line that did; copies made since share it,
  // so that input_fn, hooks and the Estimator know of each other's. Thread-safe, as asking is.
  absl::Status status() const;
  // The same values, without the errors of before.
  Params WithoutErrors() const;

  void Set(Entry entry);
  // Whoever takes them all has read them all.
  const std::map<std::string, Value>& values() const;
  // The same for who only shows them.
  const std::map<std::string, Value>& shown_values() const { return values_; }

  // Names the values that nothing has asked for so far, of this or of a copy, and names that are spelt alike and were
  // asked for without being there. Empty: none.
  std::string UnreadText() const;

 private:
  // The value of that name, null when there is none, and a note that it was asked for.
  const Value* Ask(absl::string_view name, SourceLocation location) const;
  // Records that `name`, which is `value`, was asked for as `kind`.
  void Fail(absl::string_view name, const Value& value, absl::string_view kind, SourceLocation location) const;

  std::map<std::string, Value> values_;
  Placement placement_;
  struct FirstError {
    std::mutex mutex;
    absl::Status status;
  };
  std::shared_ptr<FirstError> error_ = std::make_shared<FirstError>();
  // What was asked for, of all copies.
  struct Asked {
    std::mutex mutex;
    std::set<std::string> read;
    std::map<std::string, SourceLocation> missing;  // by the first who asked
    bool all = false;
  };
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMS_H_
