// Where the processes of a test meet.
#ifndef TANDEM_CLUSTER_TESTING_ADDRESS_H_
#define TANDEM_CLUSTER_TESTING_ADDRESS_H_

#include <string>

namespace tandem {

// A port of loopback that nobody listens at, "127.0.0.1:PORT"; another with each call.
std::string FreeAddress();

}  // namespace tandem

#endif  // TANDEM_CLUSTER_TESTING_ADDRESS_H_
