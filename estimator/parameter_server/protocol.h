// The constants that workers and parameter servers must agree on.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_PROTOCOL_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_PROTOCOL_H_

#include <cstdint>

namespace tandem {

inline constexpr uint32_t kParameterProtocol = 4;
// The only gRPC call: a stream of frames in both directions; each request is answered before the next is sent.
inline constexpr char kParameterCall[] = "/tandem.parameters.ParameterServer/Talk";

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_PROTOCOL_H_
