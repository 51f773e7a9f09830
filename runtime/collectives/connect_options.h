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
  KeyValueStore* store = nullptr;  // through which ranks find each other; used only while connecting
  // The prefix of all keys in the store. Each connection needs a prefix of its own, because keys cannot be used twice.
  std::string prefix;
  // kRing uses Gloo's ring. With many processes it sends a little less per process, but it adds in another order: all
  // ranks get equal bits, but not the bits of the reduction tree.
  Communication communication = Communication::kAuto;
  // For TCP: the address where this rank listens, which the others can reach: a host name or address, or, where that is
  // empty, the name of a network interface.
  std::string address;
  std::string interface;
  absl::Duration deadline = absl::Seconds(60);    // limit for connecting, and for each collective
  absl::Duration note_after = absl::Seconds(10);  // a rank that has waited this long for a connection writes a log line
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_COLLECTIVES_CONNECT_OPTIONS_H_
