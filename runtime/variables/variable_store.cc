#include "runtime/variables/variable_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/initializer.h"
#include "base/status_macros.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

std::string Describe(DType dtype, const Shape& shape) { return absl::StrCat(Name(dtype), ShapeString(shape)); }

}  // namespace

VariableStore::~VariableStore() {
  for (auto& [name, entry] : entries_) {
    for (size_t d = 0; d < entry.addresses.size(); ++d) {
      if (entry.addresses[d] != 0) places_[d]->Free(entry.addresses[d]);
    }
  }
}

absl::Status VariableStore::Create(const VariableInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = entries_.find(info.name);
  if (found != entries_.end()) {
    const VariableInfo& old = found->second.info;
    if (old.dtype == info.dtype && old.shape == info.shape) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("variable ", info.name, " exists as ",
                                                      Describe(old.dtype, old.shape), "; the executable wants ",
                                                      Describe(info.dtype, info.shape)));
  }
  Entry entry;
  entry.info = info;
  entry.info.initialized = false;
  entry.bytes = NumElements(info.shape) * SizeOf(info.dtype);
  for (int d = 0; d < num_copies(); ++d) {
    TD_ASSIGN_OR_RETURN(Arena arena, Arena::Create(entry.bytes, info.name.c_str()));
    entry.copies.push_back(std::move(arena));
  }
  entry.addresses.resize(num_devices_);
  entries_.emplace(info.name, std::move(entry));
  return absl::OkStatus();
}

absl::StatusOr<VariableStore::Entry*> VariableStore::Find(const std::string& name) const {
  auto found = entries_.find(name);
  if (found == entries_.end()) return absl::NotFoundError(absl::StrCat("there is no variable ", name));
  return &found->second;
}

absl::Status VariableStore::Initialize(const std::string& name, const format::Initializer& init, uint64_t seed) {
  std::lock_guard<std::mutex> lock(mutex_);
  TD_ASSIGN_OR_RETURN(Entry * entry, Find(name));
  const Initializer initializer{static_cast<Initializer::Kind>(init.kind), init.a, init.b};
  TD_RETURN_IF_ERROR(Annotate(FillInitialValue(initializer, name, seed, entry->info.dtype,
                                               NumElements(entry->info.shape), entry->copies[0].data()),
                              absl::StrCat("variable ", name, ": ")));
  TD_RETURN_IF_ERROR(ToDevices(*entry));
  entry->info.initialized = true;
  return absl::OkStatus();
}

absl::Status VariableStore::ToDevices(Entry& entry) {
  NoteWrites();
  const void* value = entry.copies[0].data();
  if (places_.empty()) {
    for (int d = 1; d < num_copies(); ++d) std::memcpy(entry.copies[d].data(), value, entry.bytes);
    return absl::OkStatus();
  }
  for (int d = 0; d < num_devices_; ++d) {
    if (entry.addresses[d] == 0) continue;
    TD_RETURN_IF_ERROR(places_[d]->Upload(entry.addresses[d], value, entry.bytes));
  }
  return absl::OkStatus();
}

absl::Status VariableStore::FromDevices(absl::Span<Entry* const> entries) const {
  if (places_.empty() || places_[0] == nullptr) return absl::OkStatus();
  std::vector<DeviceMemory::Region> regions;
  for (Entry* entry : entries) {
    if (entry->addresses[0] != 0) regions.push_back({entry->addresses[0], entry->copies[0].data(), entry->bytes});
  }
  return regions.empty() ? absl::OkStatus() : places_[0]->Download(regions);
}

absl::StatusOr<HostTensor> VariableStore::Read(const std::string& name) const {
  TD_ASSIGN_OR_RETURN(std::vector<HostTensor> values, ReadAll({name}));
  return std::move(values[0]);
}

absl::StatusOr<std::vector<HostTensor>> VariableStore::ReadAll(const std::vector<std::string>& names) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Entry*> entries;
  for (const std::string& name : names) {
    TD_ASSIGN_OR_RETURN(Entry * entry, Find(name));
    entries.push_back(entry);
  }
  TD_RETURN_IF_ERROR(FromDevices(entries));
  std::vector<HostTensor> values;
  for (Entry* entry : entries) {
    values.emplace_back(entry->info.dtype, entry->info.shape);
    std::memcpy(values.back().raw(), entry->copies[0].data(), entry->bytes);
  }
  return values;
}

absl::StatusOr<VariableSnapshot> VariableStore::Snapshot(const std::vector<std::string>& names) const {
  VariableSnapshot snapshot;
  std::vector<DeviceMemory::Region> regions;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& name : names) {
      TD_ASSIGN_OR_RETURN(Entry * entry, Find(name));
      HostTensor& value = snapshot.values_.emplace_back(entry->info.dtype, entry->info.shape);
      if (entry->addresses[0] != 0) {
        regions.push_back({entry->addresses[0], value.raw(), entry->bytes});
      } else {
        std::memcpy(value.raw(), entry->copies[0].data(), entry->bytes);
      }
    }
    if (regions.empty()) return snapshot;
    TD_ASSIGN_OR_RETURN(snapshot.device_, places_[0]->TakeSnapshot(regions));
    if (snapshot.device_ == nullptr) TD_RETURN_IF_ERROR(places_[0]->Download(regions));
  }
  return snapshot;
}

absl::StatusOr<std::vector<HostTensor>> VariableSnapshot::Take() {
  if (device_ != nullptr) {
    // frees the device's copy at the end of this block
    const std::unique_ptr<DeviceMemory::Snapshot> device = std::move(device_);
    TD_RETURN_IF_ERROR(device->Read());
  }
  return std::move(values_);
}

absl::Status VariableStore::Assign(const std::string& name, const HostTensor& value) {
  std::lock_guard<std::mutex> lock(mutex_);
  TD_ASSIGN_OR_RETURN(Entry * entry, Find(name));
  if (value.dtype() != entry->info.dtype || value.shape() != entry->info.shape) {
    return absl::InvalidArgumentError(absl::StrCat("variable ", name, " is ",
                                                   Describe(entry->info.dtype, entry->info.shape), "; it cannot take ",
                                                   Describe(value.dtype(), value.shape())));
  }
  std::memcpy(entry->copies[0].data(), value.raw(), entry->bytes);
  TD_RETURN_IF_ERROR(ToDevices(*entry));
  entry->info.initialized = true;
  return absl::OkStatus();
}

bool VariableStore::Contains(const std::string& name) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entries_.count(name) > 0;
}

absl::StatusOr<VariableInfo> VariableStore::Info(const std::string& name) const {
  std::lock_guard<std::mutex> lock(mutex_);
  TD_ASSIGN_OR_RETURN(Entry * entry, Find(name));
  return entry->info;
}

std::vector<VariableInfo> VariableStore::List() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<VariableInfo> list;
  for (const auto& [name, entry] : entries_) list.push_back(entry.info);
  return list;
}

uint64_t VariableStore::MemoryBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [name, entry] : entries_) bytes += entry.bytes * num_copies();
  return bytes;
}

void* VariableStore::Buffer(const std::string& name, int device) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = entries_.find(name);
  if (found == entries_.end() || !places_.empty()) return nullptr;
  host_used_ = true;
  return found->second.copies[one_copy_ ? 0 : device].data();
}

absl::Status VariableStore::Place(int device, std::shared_ptr<DeviceMemory> memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (one_copy_) {
    return absl::FailedPreconditionError(
        absl::StrCat("all devices share one copy of the variables, in the host's "
                     "memory; a program for ",
                     memory->name(), " cannot"));
  }
  if (host_used_) {
    return absl::FailedPreconditionError(absl::StrCat("the variables are in use by a program for cpu devices; one for ",
                                                      memory->name(), " cannot share them"));
  }
  places_.resize(num_devices_);
  if (places_[device] != nullptr && places_[device] != memory) {
    return absl::FailedPreconditionError(absl::StrCat("copy ", device, " of the variables lives on ",
                                                      places_[device]->name(), "; a program for ", memory->name(),
                                                      " cannot share it"));
  }
  places_[device] = std::move(memory);
  return absl::OkStatus();
}

std::string VariableStore::place() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return places_.empty() || places_[0] == nullptr ? "" : places_[0]->name();
}

absl::StatusOr<uint64_t> VariableStore::DeviceAddress(const std::string& name, int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  TD_ASSIGN_OR_RETURN(Entry * entry, Find(name));
  if (places_.empty() || places_[device] == nullptr) {
    return absl::InternalError(absl::StrCat("copy ", device, " of variable ", name, " was not placed"));
  }
  uint64_t& address = entry->addresses[device];
  if (address != 0) return address;
  TD_RETURN_IF_ERROR(FromDevices({entry}));
  TD_ASSIGN_OR_RETURN(const uint64_t made,
                      places_[device]->Allocate(std::max<uint64_t>(entry->bytes, 1), absl::StrCat("variable ", name)));
  absl::Status status = places_[device]->Upload(made, entry->copies[0].data(), entry->bytes);
  if (!status.ok()) {
    places_[device]->Free(made);
    return status;
  }
  return address = made;
}

}  // namespace tandem
