// What workers and parameter servers must agree on to understand each other.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_PROTOCOL_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_PROTOCOL_H_

#include <cstdint>

namespace tandem {

inline constexpr uint32_t kParameterProtocol = 4;
// The one call of gRPC: a stream of frames in both directions, each request answered before the next.
inline constexpr char kParameterCall[] = "/tandem.parameters.ParameterServer/Talk";

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_PROTOCOL_H_
