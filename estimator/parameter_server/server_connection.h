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

// Not thread-safe. After an Unavailable error it cannot be used any more.
class ServerConnection {
 public:
  // `name` is the server's name in errors. `deadline_seconds` is how long to wait for an answer, and for a sign of
  // life.
  ServerConnection(std::string name, const std::string& address, double deadline_seconds,
                   const Credentials& credentials);
  ~ServerConnection();

  // Sends `request` and the bytes of `tensors`, which must stay valid until End has returned.
  absl::Status Begin(const parameters::Request& request, absl::Span<const ByteRange> tensors);
  // Waits for the answer, at most `seconds`. Unavailable if none comes or the server is gone; Cancelled as soon as
  // `interrupted`, if it is given, returns true; otherwise the status that the server answers with. `tensors`, if it is
  // not null, can then read the tensors of the answer. After Cancelled the connection cannot be used any more either.
  absl::StatusOr<parameters::Reply> End(double seconds, FrameReader* tensors = nullptr,
                                        const std::function<bool()>& interrupted = nullptr);
  // Calls Begin, and End with deadline_seconds.
  absl::StatusOr<parameters::Reply> Ask(const parameters::Request& request, absl::Span<const ByteRange> tensors = {},
                                        FrameReader* answered = nullptr);

 private:
  enum Event : intptr_t { kStarted = 1, kWritten, kRead, kFinished };

  // Ends the connection, so that nothing more is sent and the caller may delete its tensors.
  void GiveUp();
  absl::Status Lost(absl::string_view why);
  void Finish();
  // Returns the error for a lost server (Lost), with gRPC's reason for the end of the connection.
  absl::Status Gone(absl::string_view what);
  // Waits until all events of `bits` have happened. Returns false if one failed or `end` is reached before.
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
  int pending_ = 0, failed_ = 0;  // sets of events, a bit for each: awaited and failed ones
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_SERVER_CONNECTION_H_
