// The variables of a job: shared by the sessions of all modes, read and written by checkpoints.
#ifndef TANDEM_RUNTIME_VARIABLES_VARIABLE_STORE_H_
#define TANDEM_RUNTIME_VARIABLES_VARIABLE_STORE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/host_tensor.h"
#include "runtime/format/index.h"
#include "runtime/variables/arena.h"
#include "runtime/variables/device_memory.h"

namespace tandem {

struct VariableInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;
  bool trainable = false;
  std::string slot_of;       // the variable that an optimizer slot belongs to; empty for variables
  bool initialized = false;  // true since Initialize or Assign
};

// Values of variables at one moment, some of which may still have to be copied from a device.
class VariableSnapshot {
 public:
  // Returns the values in the order in which they were requested. Waits for copies from the device, so it is best
  // called from a thread that nothing waits for. May be called once.
  absl::StatusOr<std::vector<HostTensor>> Take();
  // True if Take has to wait for a device.
  bool on_device() const { return device_ != nullptr; }

 private:
  friend class VariableStore;
  std::vector<HostTensor> values_;
  std::unique_ptr<DeviceMemory::Snapshot> device_;
};

// One copy of each variable per device, all equal between steps; or one copy that all devices read. Buffers never move
// while the store lives. Calls are serialised against each other, not against a running session: read and assign
// between steps.
//
// Copies are in host memory or, once a session has placed them, on GPUs. Values then stay there for the rest of the
// job, through training and evaluations, and reading or assigning a variable copies its value from or to the GPU.
class VariableStore {
 public:
  ~VariableStore();
  // `num_devices` is the number of copies of each variable; every session that uses the store may have at most as many
  // replicas. With `one_copy` all devices have the same memory, which must stay the host's: in sessions for CPUs only
  // the first device writes to it.
  explicit VariableStore(int num_devices, bool one_copy = false) : num_devices_(num_devices), one_copy_(one_copy) {}

  int num_devices() const { return num_devices_; }
  bool one_copy() const { return one_copy_; }

  // Creates a variable, all zero and not initialised. Does nothing if it already exists with the same dtype and shape.
  // If they differ, FailedPrecondition names both.
  absl::Status Create(const VariableInfo& info);

  // Sets the first value with FillInitialValue (base/initializer.h), and returns its errors. `initializer.kind` has the
  // numbers of Initializer::Kind.
  absl::Status Initialize(const std::string& name, const format::Initializer& initializer, uint64_t seed);

  // Returns a copy of the variable's value on the first device.
  absl::StatusOr<HostTensor> Read(const std::string& name) const;
  // Returns copies of the variables' values on the first device, in the order of `names`. From a GPU this is much
  // faster than reading them one by one.
  absl::StatusOr<std::vector<HostTensor>> ReadAll(const std::vector<std::string>& names) const;
  // Returns what ReadAll would, without waiting for values on a GPU if it has enough memory for a copy of them. Later
  // steps can then run while they are read.
  absl::StatusOr<VariableSnapshot> Snapshot(const std::vector<std::string>& names) const;
  // Writes the value to all devices. InvalidArgument when dtype or shape differ.
  absl::Status Assign(const std::string& name, const HostTensor& value);

  // A number that grows with every value that is written by Initialize and Assign. Sessions that write variables in
  // host memory call NoteWrites after a step, which returns the new number.
  uint64_t writes() const { return writes_.load(std::memory_order_acquire); }
  uint64_t NoteWrites() { return writes_.fetch_add(1, std::memory_order_acq_rel) + 1; }

  bool Contains(const std::string& name) const;
  absl::StatusOr<VariableInfo> Info(const std::string& name) const;
  // All variables and slots, sorted by name.
  std::vector<VariableInfo> List() const;
  // Returns the bytes of all copies of all variables.
  uint64_t MemoryBytes() const;

  // Returns the address of the value of copy `device`, row-major, 64-byte aligned, in host memory; null when there is
  // no such variable, or when the copies have been placed elsewhere.
  void* Buffer(const std::string& name, int device) const;

  // Makes copy `device` of every variable live in `memory` from now on. FailedPrecondition when the copy is already in
  // other memory, when Buffer was called (the host's memory is in use), or when all devices share one copy.
  absl::Status Place(int device, std::shared_ptr<DeviceMemory> memory);
  // Returns the name of the memory in which the first device's copies are; empty for host memory.
  std::string place() const;
  // Returns the address of the value in the memory in which copy `device` was placed, 256-byte aligned. The first call
  // copies the value there.
  absl::StatusOr<uint64_t> DeviceAddress(const std::string& name, int device);

 private:
  struct Entry {
    VariableInfo info;
    // in host memory, by device; out of date if the variable has been placed on devices
    std::vector<Arena> copies;
    std::vector<uint64_t> addresses;  // indexed by device; 0 if the value has not been copied there
    uint64_t bytes = 0;
  };
  absl::StatusOr<Entry*> Find(const std::string& name) const;
  // FromDevices copies the first device's values to the host's first copy; ToDevices copies the host's first copy to
  // all other copies.
  absl::Status FromDevices(absl::Span<Entry* const> entries) const;
  absl::Status ToDevices(Entry& entry);

  int num_copies() const { return one_copy_ ? 1 : num_devices_; }

  const int num_devices_;
  const bool one_copy_;
  std::atomic<uint64_t> writes_{0};
  mutable std::mutex mutex_;
  mutable bool host_used_ = false;                     // true if Buffer was called
  std::vector<std::shared_ptr<DeviceMemory>> places_;  // indexed by device; null for the host
  mutable std::map<std::string, Entry> entries_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_VARIABLES_VARIABLE_STORE_H_
