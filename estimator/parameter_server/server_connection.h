// ServerConnection: a worker's connection to one parameter server.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_CONNECTION_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_CONNECTION_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cluster/credentials.h"
#include "estimator/parameter_server/frame.h"
#include "estimator/parameter_server/messages.pb.h"

namespace tandem {

// Not thread-safe. After an Unavailable error it is of no use any more.
class ServerConnection {
 public:
  // `name`: for errors. `deadline_seconds`: of an answer, and of the connection's own signs of life.
  ServerConnection(std::string name, const std::string& address, double deadline_seconds,
                   const Credentials& credentials);
  ~ServerConnection();

  // Sends `request` and the bytes of `tensors`, which must stay until End has returned.
  absl::Status Begin(const parameters::Request& request, absl::Span<const ByteRange> tensors);
  // Waits for the answer, for `seconds` at most. Unavailable where none comes, or the server is gone; Cancelled as soon
  // as `interrupted`, where there is one, is true; the status that the server answers with. `tensors`, where it is not
  // null, reads what follows the answer. After Cancelled the connection is of no use any more either.
  absl::StatusOr<parameters::Reply> End(double seconds, FrameReader* tensors = nullptr,
                                        const std::function<bool()>& interrupted = nullptr);
  // Both, in time.
  absl::StatusOr<parameters::Reply> Ask(const parameters::Request& request, absl::Span<const ByteRange> tensors = {},
                                        FrameReader* answered = nullptr);

 private:
  enum Event : intptr_t { kStarted = 1, kWritten, kRead, kFinished };

  // Nothing is sent any more: the caller's tensors may go.
  void GiveUp();
  absl::Status Lost(absl::string_view why);
  void Finish();
  // With what gRPC says of the end of the connection.
  absl::Status Gone(absl::string_view what);
  // Waits until all events of `bits` have happened. False where one failed or time is up.
  bool WaitFor(int bits, gpr_timespec end);

  const std::string name_;
  const double deadline_seconds_;
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer sent_, received_;
  grpc::Status end_;
  bool started_ = false, lost_ = false, finishing_ = false;
  int pending_ = 0, failed_ = 0;  // events, as bits
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_CONNECTION_H_
