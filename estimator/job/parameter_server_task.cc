#include "estimator/job/parameter_server_task.h"

#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/exit_code.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "estimator/loop/signals.h"
#include "estimator/parameter_server/parameter_server.h"
#include "estimator/parameter_server/placement.h"
#include "estimator/parameter_server/server_state.h"

namespace tandem {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr std::chrono::milliseconds kPoll(100);

bool NobodyIsConnected(ServerState& state) { return state.alone() != ServerState::Clock::duration::zero(); }

}  // namespace

Cooperation::Share ParameterServerTask::ShareOf(Mode mode) const {
  return {.workers = static_cast<int>(cluster().world_size), .input = context().config.auto_shard};
}

ServerOptions ParameterServerTask::OptionsFor(const ModeProgram& program, const BatchDealer& dealer) const {
  ServerOptions server;
  server.index = static_cast<int>(cluster().task.index);
  server.who = WhoIs();
  server.workers = cluster().world_size;
  server.max_staleness = context().config.max_staleness;
  for (const auto& [name, value] : program.scalar_defaults()) server.scalar_defaults[name] = value;
  server.facts = FactsOf(program, dealer);
  std::map<std::string, const VariableSpec*> variables;
  for (const VariableSpec& v : program.variables()) variables[v.name] = &v;
  for (const PlacedPart& part : PlacementOf(program.executable())) {
    const auto found = variables.find(part.variable);
    if (part.server != server.index || found == variables.end()) continue;
    const VariableSpec& v = *found->second;
    PlacedPart owner = part;
    owner.variable = v.slot_of;
    server.variables.push_back({.name = part.name(),
                                .dtype = v.dtype,
                                .shape = part.ShapeOf(v.shape),
                                .trainable = v.trainable,
                                .slot_of = v.slot_of.empty() ? "" : owner.name()});
  }
  return server;
}

absl::Status ParameterServerTask::WaitForEnd(ServerState& state) const {
  const RunConfig& config = context().config;
  const Seconds patience(10 * config.peer_deadline_secs);
  std::optional<ServerState::Clock::time_point> signalled;
  while (!state.WaitForEnd(kPoll)) {
    const auto alone = state.alone();
    if (config.handle_signals && SignalGuard::pending() != 0) {
      // A signal usually reaches all tasks. The server goes on for a while, because the chief still has to read the
      // values for its last checkpoint.
      const ServerState::Clock::time_point now = ServerState::Clock::now();
      if (!signalled.has_value()) signalled = now;
      if (alone == ServerState::Clock::duration::zero() && now - *signalled < Seconds(config.peer_deadline_secs)) {
        continue;
      }
      return SignalError(SignalGuard::pending(), ", a parameter server; checkpoints are the chief's");
    }
    if (alone < patience) continue;
    return WithExitCode(
        absl::UnavailableError(absl::StrFormat("no worker has been connected to the parameter server at %s for %g s",
                                               address(), patience.count())),
        kExitTemporary);
  }
  return absl::OkStatus();
}

absl::Status ParameterServerTask::Serve(const ModeProgram& program, const BatchDealer& dealer,
                                        std::shared_ptr<ThreadPool> pool) {
  const RunConfig& config = context().config;
  TD_ASSIGN_OR_RETURN(std::unique_ptr<ServerState> made,
                      ServerState::Create(OptionsFor(program, dealer), program.shared_executable(), std::move(pool)));
  const uint64_t bytes = made->MemoryBytes();
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<ParameterServer> listening,
                      ParameterServer::Start(std::move(made), address(), config.peer_deadline_secs, config.tls));
  TD_LOG(INFO) << "Serving " << bytes << " bytes of variables at " << address() << ".";
  ServerState& state = listening->state();
  TD_RETURN_IF_ERROR(WaitForEnd(state));
  has_served_ = true;
  const std::string failure = state.failure();
  if (failure.empty()) return absl::OkStatus();
  // Waits for a while, so that workers that send a request meanwhile get the failure as their answer.
  for (int i = 0; i < 20 && !NobodyIsConnected(state); ++i) std::this_thread::sleep_for(kPoll);
  return absl::AbortedError(absl::StrCat("the chief has ended the training: ", failure));
}

}  // namespace tandem
