#include "cluster/member.h"

#include <unistd.h>

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "cluster/connection.h"
#include "cluster/coordinator.h"
#include "cluster/credentials.h"
#include "cluster/meeting_place.h"
#include "cluster/wire.h"

namespace tandem {
namespace {

using rendezvous::Request;

absl::Status Usage(absl::string_view message) { return WithExitCode(absl::InvalidArgumentError(message), kExitUsage); }

// Returns, for example, "worker 2 at 10.0.0.3:2222, pid 123"; the host's name if no address of this task is known.
std::string Who(const Cluster& cluster) {
  std::string place;
  if (auto found = cluster.addresses.find(cluster.task.type); found != cluster.addresses.end()) {
    const auto index = static_cast<size_t>(cluster.task.index);
    if (index < found->second.size()) place = found->second[index];
  }
  if (place.empty()) {
    char host[256] = "";
    place = gethostname(host, sizeof(host) - 1) == 0 ? host : "an unknown host";
  }
  return absl::StrCat(Name(cluster.task.type), " ", cluster.task.index, " at ", place, ", pid ", getpid());
}

absl::Status Check(const Cluster& cluster, const MemberOptions& options) {
  if (cluster.rank < 0 || cluster.rank >= cluster.world_size) {
    return Usage(absl::StrCat(Name(cluster.task.type), " ", cluster.task.index, " has rank ", cluster.rank, " of ",
                              cluster.world_size, ": only the chief and the workers meet"));
  }
  const auto is_duration = [](double seconds) { return std::isfinite(seconds) && seconds > 0; };
  if (!is_duration(options.deadline_seconds)) {
    return Usage(absl::StrCat("MemberOptions.deadline_seconds is ", options.deadline_seconds, "; it must be above 0"));
  }
  if (!is_duration(options.start_deadline_seconds)) {
    return Usage(absl::StrCat("MemberOptions.start_deadline_seconds is ", options.start_deadline_seconds,
                              "; it must be above 0"));
  }
  return absl::OkStatus();
}

class ConnectedMember : public Member {
 public:
  ConnectedMember(const Cluster& cluster, std::unique_ptr<Coordinator> coordinator,
                  std::unique_ptr<Connection> connection)
      : cluster_(cluster), coordinator_(std::move(coordinator)), connection_(std::move(connection)) {}

  absl::Status Set(absl::string_view key, absl::string_view value) override {
    // Rank 0 answers at once, without waiting for any other process.
    return Ask(Request::SET, key, value, absl::ZeroDuration()).status();
  }
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) override {
    return Ask(Request::GET, key, "", timeout);
  }
  absl::Status Barrier(absl::string_view name, absl::Duration timeout) override {
    return Ask(Request::BARRIER, name, "", timeout).status();
  }
  absl::Status Agree(absl::string_view name, absl::string_view value, absl::Duration timeout) override {
    return Ask(Request::AGREE, name, value, timeout).status();
  }

  const Cluster& cluster() const override { return cluster_; }
  absl::Status status() const override { return connection_->status(); }
  void SetOnFailure(std::function<void(const absl::Status&)> on_failure) override {
    connection_->SetOnFailure(std::move(on_failure));
  }
  void Fail(const absl::Status& why) override { connection_->Fail(why); }

 private:
  absl::StatusOr<std::string> Ask(Request::Kind kind, absl::string_view name, absl::string_view value,
                                  absl::Duration timeout) {
    if (name.size() > kMaxNameBytes || value.size() > kMaxValueBytes) {
      return Usage(absl::StrCat("a name of ", name.size(), " bytes with a value of ", value.size(),
                                " bytes for the other processes; they have at most ", kMaxNameBytes, " and ",
                                kMaxValueBytes));
    }
    Request request;
    request.set_kind(kind);
    request.set_name(name.data(), name.size());
    request.set_value(value.data(), value.size());
    return connection_->Ask(std::move(request), timeout);
  }

  const Cluster cluster_;
  // The server if this process is rank 0, else null. It must outlive the connection to it.
  const std::unique_ptr<Coordinator> coordinator_;
  const std::unique_ptr<Connection> connection_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Member>> Member::Join(const Cluster& cluster, const MemberOptions& options) {
  TD_RETURN_IF_ERROR(Check(cluster, options));
  rendezvous::Hello hello;
  hello.set_protocol(kProtocol);
  hello.set_rank(cluster.rank);
  hello.set_world_size(cluster.world_size);
  hello.set_who(Who(cluster));
  for (const auto& [name, value] : options.facts) {
    rendezvous::Fact* fact = hello.add_facts();
    fact->set_name(name);
    fact->set_value(value);
  }
  if (hello.ByteSizeLong() > kMaxHelloBytes) {
    return Usage(absl::StrCat("MemberOptions.facts have ", hello.ByteSizeLong(), " bytes; at most ", kMaxHelloBytes));
  }
  TD_ASSIGN_OR_RETURN(const MeetingPlace place, MeetingPlace::Of(cluster));
  TD_ASSIGN_OR_RETURN(const Credentials credentials, Credentials::Make(options.tls));
  LogMessagesOfGrpc();
  std::unique_ptr<Coordinator> coordinator;
  std::shared_ptr<grpc::Channel> channel;
  if (cluster.rank == 0) {
    TD_ASSIGN_OR_RETURN(coordinator,
                        Coordinator::Start(cluster, hello.who(), place, options.facts, options.deadline_seconds,
                                           options.start_deadline_seconds, credentials));
    channel = coordinator->Channel();
  } else {
    channel = credentials.Dial(place.target(), ClientArguments(options.deadline_seconds));
  }
  const bool by_network = cluster.rank != 0 && place.path().empty();
  DialWatch watch(credentials, "rank 0", by_network ? place.text() : "", options.deadline_seconds);
  TD_ASSIGN_OR_RETURN(
      std::unique_ptr<Connection> connection,
      Connection::Open(std::move(channel), hello, place.text(), options.start_deadline_seconds, std::move(watch)));
  return std::make_unique<ConnectedMember>(cluster, std::move(coordinator), std::move(connection));
}

}  // namespace tandem
