// What the processes of a group have to be told to find each other.
#ifndef TANDEM_RUNTIME_COLLECTIVES_CONNECT_OPTIONS_H_
#define TANDEM_RUNTIME_COLLECTIVES_CONNECT_OPTIONS_H_

#include <string>

#include "absl/time/time.h"
#include "base/communication.h"

namespace tandem {

class KeyValueStore;

struct ConnectOptions {
  int rank = 0;
  int size = 1;
  KeyValueStore* store = nullptr;  // used while connecting only
  std::string prefix;              // of all keys; another one for each start, as connections are not found again
  // kRing goes round Gloo's ring. It moves a little less per process when there are many, but adds in another order:
  // the bits are equal on all ranks, not those of the tree.
  Communication communication = Communication::kAuto;
  // For TCP: where this rank listens, reachable by the others: a host name or address, or, where that is empty, the
  // name of a network interface.
  std::string address;
  std::string interface;
  absl::Duration deadline = absl::Seconds(60);    // of connecting, and of each collective
  absl::Duration note_after = absl::Seconds(10);  // who has waited so long to be connected says so in the log
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_OPTIONS_H_
