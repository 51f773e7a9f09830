// tandem-serve NAME=EXPORT_DIR ...: serves exported models over HTTP, in the form of TensorFlow Serving's REST
// interface, and over gRPC. See docs/guide/serving.md.
#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/flag_table.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/server.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct ServeFlags : FlagTable {
  Flag<std::string> address{this, "address", "127.0.0.1", "The IP address to listen at; 0.0.0.0: all of this machine."};
  Flag<int> port{this, "port", 8501, "Of HTTP. 0: any free one, which is printed."};
  Flag<int> grpc_port{this, "grpc_port", -1, "Of gRPC. 0: any free one, which is printed; -1: no gRPC."};
  Flag<int> threads{this, "threads", 0, "Of each version of a model. 0: one for each core."};
  Flag<int> http_threads{this, "http_threads", 2, "That read requests and write answers."};
  Flag<int64_t> max_batch_rows{this, "max_batch_rows", 0,
                               "The most rows of a batch. 0: as many as the model's program computes at once."};
  Flag<int64_t> batch_timeout_micros{
      this, "batch_timeout_micros", 0,
      "Microseconds that a request waits for others while a thread is free to compute it."};
  Flag<int> batch_threads{this, "batch_threads", 2, "Batches of a version that are computed at once."};
  Flag<int64_t> max_queued{this, "max_queued", 1000, "The most requests that wait for a version; others get 429."};
  Flag<int> versions{this, "versions", 1, "How many of the newest versions of each model are served."};
  Flag<double> poll_secs{this, "poll_secs", 1, "Seconds between looks for new exports."};
  Flag<int64_t> max_connections{this, "max_connections", 1024, "Of HTTP; others get 503."};
  Flag<int64_t> max_header_bytes{this, "max_header_bytes", 16384, "Of a request's header; larger ones get 431."};
  Flag<int64_t> max_body_bytes{this, "max_body_bytes", 33554432,
                               "Of a request's body, and of a message of gRPC; larger ones get 413."};
  Flag<double> read_timeout_secs{this, "read_timeout_secs", 30,
                                 "Seconds for a request to arrive; slower ones get 408."};
  Flag<double> write_timeout_secs{this, "write_timeout_secs", 30, "Seconds for an answer to be taken."};
  Flag<double> idle_timeout_secs{this, "idle_timeout_secs", 120,
                                 "Seconds from an answer to the next request of a connection."};
  Flag<double> stop_secs{this, "stop_secs", 30, "Seconds that requests have to end after SIGTERM or SIGINT."};
};

absl::StatusOr<serving::ServerOptions> OptionsOf(const ServeFlags& flags, const std::vector<std::string>& arguments) {
  serving::ServerOptions options;
  for (const std::string& argument : arguments) {
    TD_ASSIGN_OR_RETURN(serving::ModelOptions model, serving::ParseModelOptions(argument));
    options.models.push_back(std::move(model));
  }
  options.address = *flags.address;
  options.threads = *flags.threads;
  options.versions = *flags.versions;
  options.poll_interval = absl::Seconds(*flags.poll_secs);
  options.stop_timeout = absl::Seconds(*flags.stop_secs);
  options.http = {.port = *flags.port,
                  .threads = *flags.http_threads,
                  .max_connections = *flags.max_connections,
                  .max_header_bytes = *flags.max_header_bytes,
                  .max_body_bytes = *flags.max_body_bytes,
                  .read_timeout = absl::Seconds(*flags.read_timeout_secs),
                  .write_timeout = absl::Seconds(*flags.write_timeout_secs),
                  .idle_timeout = absl::Seconds(*flags.idle_timeout_secs)};
  options.grpc = {.port = *flags.grpc_port, .max_message_bytes = *flags.max_body_bytes};
  options.batch = {.max_rows = *flags.max_batch_rows,
                   .timeout = absl::Microseconds(*flags.batch_timeout_micros),
                   .threads = *flags.batch_threads,
                   .max_queued = *flags.max_queued};
  return options;
}

// The signals that end the server. They are blocked in all threads, and taken by WaitForStop.
sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Waits for a signal. Another one ends the process at once.
void WaitForStop() {
  const sigset_t signals = StopSignals();
  int signal = 0;
  sigwait(&signals, &signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  TD_LOG(INFO) << "stopping after " << (signal == SIGTERM ? "SIGTERM" : "SIGINT");
}

absl::Status Serve(const ServeFlags& flags, const std::vector<std::string>& arguments) {
  TD_ASSIGN_OR_RETURN(const serving::ServerOptions options, OptionsOf(flags, arguments));
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<serving::Server> server, serving::Server::Start(options));
  std::printf("HTTP at %s:%d\n", options.address.c_str(), server->http_port());
  if (server->grpc_port() >= 0) std::printf("gRPC at %s:%d\n", options.address.c_str(), server->grpc_port());
  std::fflush(stdout);
  WaitForStop();
  return server->Stop();
}

}  // namespace

int TandemServe(int argc, char** argv) {
  return RunToolProgram<ServeFlags>(argc, argv, "serves exported models: tandem-serve NAME=EXPORT_DIR ...", Serve);
}

}  // namespace tandem
