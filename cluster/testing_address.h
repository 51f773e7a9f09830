// Addresses at which the processes of a test can meet.
#ifndef TANDEM_CLUSTER_TESTING_ADDRESS_H_
#define TANDEM_CLUSTER_TESTING_ADDRESS_H_

#include <string>

namespace tandem {

// Returns a loopback address, "127.0.0.1:PORT", at which nobody listens; a different one at each call.
std::string FreeAddress();

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TESTING_ADDRESS_H_
