#include "estimator/parameter_server/server_connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/exit_code.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "cluster/wire.h"
#include "estimator/parameter_server/protocol.h"

namespace tandem {
namespace {

gpr_timespec In(double seconds) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_micros(static_cast<int64_t>(seconds * 1e6), GPR_TIMESPAN));
}

int Bit(intptr_t event) { return 1 << event; }

}  // namespace

ServerConnection::ServerConnection(std::string name, const std::string& address, double deadline_seconds,
                                   const Credentials& credentials)
    : name_(std::move(name)), deadline_seconds_(deadline_seconds) {
  grpc::ChannelArguments arguments = ClientArguments(deadline_seconds);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  stub_ = std::make_unique<grpc::GenericStub>(credentials.Dial(address, std::move(arguments)));
  stream_ = stub_->PrepareCall(&context_, kParameterCall, &queue_);
}

ServerConnection::~ServerConnection() {
  if (started_) {
    context_.TryCancel();
    Finish();
    while (pending_ != 0) WaitFor(pending_, gpr_inf_future(GPR_CLOCK_MONOTONIC));
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

bool ServerConnection::WaitFor(int bits, gpr_timespec end) {
  while ((pending_ & bits) != 0) {
    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, end) != grpc::CompletionQueue::GOT_EVENT) return false;
    const int bit = Bit(reinterpret_cast<intptr_t>(tag));
    pending_ &= ~bit;
    if (!ok) failed_ |= bit;
  }
  return (failed_ & bits) == 0;
}

void ServerConnection::GiveUp() {
  lost_ = true;
  if ((pending_ & Bit(kWritten)) == 0) return;
  context_.TryCancel();
  WaitFor(Bit(kWritten), gpr_inf_future(GPR_CLOCK_MONOTONIC));
}

absl::Status ServerConnection::Lost(absl::string_view why) {
  GiveUp();
  return WithExitCode(absl::UnavailableError(absl::StrCat(name_, " ", why)), kExitTemporary);
}

void ServerConnection::Finish() {
  if (std::exchange(finishing_, true)) return;
  stream_->Finish(&end_, reinterpret_cast<void*>(kFinished));
  pending_ |= Bit(kFinished);
}

absl::Status ServerConnection::Gone(absl::string_view what) {
  constexpr double kPatience = 1;
  Finish();
  const bool known = WaitFor(Bit(kFinished), In(kPatience)) && !end_.error_message().empty();
  return Lost(known ? absl::StrCat(what, " (", PrintableLine(end_.error_message()), ")") : what);
}

absl::Status ServerConnection::Begin(const parameters::Request& request, absl::Span<const ByteRange> tensors) {
  if (lost_) return Lost("is lost");
  if (!started_) {
    started_ = true;
    stream_->StartCall(reinterpret_cast<void*>(kStarted));
    pending_ |= Bit(kStarted);
    if (!WaitFor(Bit(kStarted), In(deadline_seconds_))) {
      constexpr absl::string_view kWhat = "does not answer";
      return failed_ != 0 ? Gone(kWhat) : Lost(kWhat);
    }
  }
  sent_ = FrameOf(request, tensors);
  // With write-through, the event kWritten means that the socket has all bytes. Until then gRPC reads the caller's
  // tensors.
  stream_->Write(sent_, grpc::WriteOptions().set_write_through(), reinterpret_cast<void*>(kWritten));
  stream_->Read(&received_, reinterpret_cast<void*>(kRead));
  pending_ |= Bit(kWritten) | Bit(kRead);
  return absl::OkStatus();
}

absl::StatusOr<parameters::Reply> ServerConnection::End(double seconds, FrameReader* tensors,
                                                        const std::function<bool()>& interrupted) {
  if (lost_) return Lost("is lost");
  constexpr double kSlice = 0.1;  // seconds between calls of `interrupted`
  double left = seconds;
  for (; !WaitFor(Bit(kWritten) | Bit(kRead), In(std::min(left, kSlice))); left -= kSlice) {
    if (failed_ != 0) return Gone("is gone");
    if (interrupted && interrupted()) {
      GiveUp();
      return absl::CancelledError("interrupted");
    }
    if (left <= kSlice) return Lost(absl::StrFormat("has not answered for %g s", seconds));
  }
  parameters::Reply reply;
  FrameReader own;
  if (absl::Status status = (tensors != nullptr ? *tensors : own).Open(received_, &reply); !status.ok()) {
    return Lost(absl::StrCat("answers with ", status.message()));
  }
  if (!reply.has_failure()) return reply;
  const absl::Status failure = ToStatus(reply.failure());
  return failure.ok() ? absl::UnknownError(absl::StrCat(name_, " has failed, and does not say why")) : failure;
}

absl::StatusOr<parameters::Reply> ServerConnection::Ask(const parameters::Request& request,
                                                        absl::Span<const ByteRange> tensors, FrameReader* answered) {
  TD_RETURN_IF_ERROR(Begin(request, tensors));
  return End(deadline_seconds_, answered);
}

}  // namespace tandem
