// Connects the processes of a group by the fastest way that they all have.
#ifndef TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_
#define TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/communication.h"
#include "runtime/collectives/process_group.h"

namespace tandem {

class KeyValueStore;

struct ConnectOptions {
  int rank = 0;
  int size = 1;
  KeyValueStore* store = nullptr;  // used while connecting only
  std::string prefix;              // of all keys; another one for each start
  Communication communication = Communication::kAuto;
  // For TCP: where this rank listens, a name or address, or, where that is empty, a network interface.
  std::string address;
  std::string interface;
  absl::Duration deadline = absl::Seconds(60);  // of connecting, and of each collective
};

// All ranks call it with the same communication, size and prefix, before or after each other. Errors as ConnectGloo's
// and ConnectSharedMemory's.
absl::StatusOr<std::unique_ptr<ProcessGroup>> ConnectProcessGroup(const ConnectOptions& options);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_H_
