// Params: the hyperparameters that an Estimator hands to its model_fn.
#ifndef TANDEM_ESTIMATOR_CONFIG_PARAMS_H_
#define TANDEM_ESTIMATOR_CONFIG_PARAMS_H_

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
#include "tandem/base/api.h"
#include "tandem/base/source_location.h"

namespace TANDEM_API tandem {

// Values, lists of values, and groups, by name; "group.name" names a value in a group:
//   Params params = {{"learning_rate", 1e-3}, {"optimizer", "adam"}, {"filters", std::vector<int64_t>{32, 64}},
//                    {"encoder", Params{{"units", 64}}}};
//   params.Int("encoder.units", 32);
class Params {
 public:
  // The types of a value.
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                             std::vector<std::string>>;

  // A name with its value: one of these types, a type that converts to one of them safely, or a group (Params).
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

  // How many replicas and workers the model runs on.
  struct Placement {
    int num_replicas = 1, num_workers = 1, worker_index = 0;
  };

  Params() = default;
  Params(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) Set(e);
  }

  // True if there is a value of that name; it counts as read.
  bool Has(absl::string_view name, SourceLocation location = SourceLocation::Current()) const {
    return Ask(name, location) != nullptr;
  }
  // Returns the value, or `otherwise` if there is none with that name. Number takes integers too. If the value is of
  // another kind, returns `otherwise`, and the Estimator's call returns an error.
  bool Bool(absl::string_view name, bool otherwise, SourceLocation location = SourceLocation::Current()) const;
  int64_t Int(absl::string_view name, int64_t otherwise, SourceLocation location = SourceLocation::Current()) const;
  double Number(absl::string_view name, double otherwise, SourceLocation location = SourceLocation::Current()) const;
  std::string String(absl::string_view name, absl::string_view otherwise,
                     SourceLocation location = SourceLocation::Current()) const;
  // These return lists of values, like the methods above. Numbers accepts integers too.
  std::vector<int64_t> Ints(absl::string_view name, std::vector<int64_t> otherwise,
                            SourceLocation location = SourceLocation::Current()) const;
  std::vector<double> Numbers(absl::string_view name, std::vector<double> otherwise,
                              SourceLocation location = SourceLocation::Current()) const;
  std::vector<std::string> Strings(absl::string_view name, std::vector<std::string> otherwise,
                                   SourceLocation location = SourceLocation::Current()) const;

  // The number of replicas that a step of the mode runs on, over all workers: a rate of 0.1 for a batch of 256 is
  // params.Number("rate", 0.1) * params.num_replicas() * batch / 256. This and the following are set by the Estimator.
  int num_replicas() const { return placement_.num_replicas; }
  // The number of processes that take part in such a step, and which of them this one is, counted from 0. All processes
  // build the same program: if the graph or a number in it depends on worker_index, Train returns an error that names
  // the difference. Use worker_index for hooks and other things outside of the graph. After workers were lost there may
  // be fewer workers, with as many replicas as before.
  int num_workers() const { return placement_.num_workers; }
  int worker_index() const { return placement_.worker_index; }
  // For the Estimator.
  void SetPlacement(const Placement& placement) { placement_ = placement; }

  // Returns the error of the first value that was requested as another kind than it has, with the line of the request.
  // Copies share this error, so that the Estimator also sees errors of the copies in input_fn and hooks. Thread-safe,
  // like requesting values.
  absl::Status status() const;
  // Returns a copy with the same values that has no error yet.
  Params WithoutErrors() const;

  // Sets a value, or all values of a group; replaces what has the name.
  void Set(Entry entry);
  // Returns all values, and counts all of them as read.
  const std::map<std::string, Value>& values() const;
  // Returns all values, to show them; they do not count as read.
  const std::map<std::string, Value>& shown_values() const { return values_; }

  // Returns a text that lists the values that were never asked for, on this object or a copy, each with a similar name
  // that was asked for and does not exist. Empty if there are none.
  std::string UnreadText() const;

 private:
  // Returns the value of that name, null if there is none, and notes that it was asked for.
  const Value* Ask(absl::string_view name, SourceLocation location) const;
  // Records that `name`, whose value is `value`, was asked for as `kind`.
  void Fail(absl::string_view name, const Value& value, absl::string_view kind, SourceLocation location) const;

  std::map<std::string, Value> values_;
  Placement placement_;
  struct FirstError {
    std::mutex mutex;
    absl::Status status;
  };
  std::shared_ptr<FirstError> error_ = std::make_shared<FirstError>();
  // The names that were asked for, on this object or any copy of it.
  struct Asked {
    std::mutex mutex;
    std::set<std::string> read;
    std::map<std::string, SourceLocation> missing;  // names without a value, each with the first line that asked for it
    bool all = false;
  };
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CONFIG_PARAMS_H_
