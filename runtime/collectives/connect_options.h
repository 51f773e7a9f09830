// The options with which the processes of a group find each other.
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
  // Begins all keys in the store. Each connection needs another prefix: none can be made again with the same keys.
  std::string prefix;
  // kRing uses Gloo's ring. It moves a little less per process when there are many, but adds in another order: all
  // ranks get equal bits, but not those of the tree.
  Communication communication = Communication::kAuto;
  // For TCP: the address where this rank listens, which the others can reach: a host name or address, or, where that is
  // empty, the name of a network interface.
  std::string address;
  std::string interface;
  absl::Duration deadline = absl::Seconds(60);    // limit for connecting, and for each collective
  absl::Duration note_after = absl::Seconds(10);  // a rank that has waited this long to be connected says so in the log
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_OPTIONS_H_
