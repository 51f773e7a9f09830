// tandem-serve NAME=EXPORT_DIR ...: serves exported models over HTTP, in the form of TensorFlow Serving's REST
// interface, and over gRPC. See docs/guide/serving.md.
#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/time/time.h"
#include "base/logging.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/serving/server/options.h"
#include "estimator/serving/server/server.h"

ABSL_FLAG(std::string, address, "127.0.0.1", "The IP address to listen at; 0.0.0.0: all of this machine.");
ABSL_FLAG(int, port, 8501, "Of HTTP. 0: any free one, which is printed.");
ABSL_FLAG(int, grpc_port, -1, "Of gRPC. 0: any free one, which is printed; -1: no gRPC.");
ABSL_FLAG(int, threads, 0, "Of each version of a model. 0: one for each core.");
ABSL_FLAG(int, http_threads, 2, "That read requests and write answers.");
ABSL_FLAG(int64_t, max_batch_rows, 0, "The most rows of a batch. 0: as many as the model's program computes at once.");
ABSL_FLAG(int64_t, batch_timeout_micros, 0,
          "Microseconds that a request waits for others while a thread is free to compute it.");
ABSL_FLAG(int, batch_threads, 2, "Batches of a version that are computed at once.");
ABSL_FLAG(int64_t, max_queued, 1000, "The most requests that wait for a version; others get 429.");
ABSL_FLAG(int, versions, 1, "How many of the newest versions of each model are served.");
ABSL_FLAG(double, poll_secs, 1, "Seconds between looks for new exports.");
ABSL_FLAG(int64_t, max_connections, 1024, "Of HTTP; others get 503.");
ABSL_FLAG(int64_t, max_header_bytes, 16384, "Of a request's header; larger ones get 431.");
ABSL_FLAG(int64_t, max_body_bytes, 33554432, "Of a request's body, and of a message of gRPC; larger ones get 413.");
ABSL_FLAG(double, read_timeout_secs, 30, "Seconds for a request to arrive; slower ones get 408.");
ABSL_FLAG(double, write_timeout_secs, 30, "Seconds for an answer to be taken.");
ABSL_FLAG(double, idle_timeout_secs, 120, "Seconds from an answer to the next request of a connection.");
ABSL_FLAG(double, stop_secs, 30, "Seconds that requests have to end after SIGTERM or SIGINT.");

namespace tandem {
namespace {

absl::StatusOr<serving::ServerOptions> OptionsOf(const std::vector<std::string>& arguments) {
  serving::ServerOptions options;
  for (const std::string& argument : arguments) {
    TD_ASSIGN_OR_RETURN(serving::ModelOptions model, serving::ParseModelOptions(argument));
    options.models.push_back(std::move(model));
  }
  options.address = absl::GetFlag(FLAGS_address);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.versions = absl::GetFlag(FLAGS_versions);
  options.poll_interval = absl::Seconds(absl::GetFlag(FLAGS_poll_secs));
  options.stop_timeout = absl::Seconds(absl::GetFlag(FLAGS_stop_secs));
  options.http = {.port = absl::GetFlag(FLAGS_port),
                  .threads = absl::GetFlag(FLAGS_http_threads),
                  .max_connections = absl::GetFlag(FLAGS_max_connections),
                  .max_header_bytes = absl::GetFlag(FLAGS_max_header_bytes),
                  .max_body_bytes = absl::GetFlag(FLAGS_max_body_bytes),
                  .read_timeout = absl::Seconds(absl::GetFlag(FLAGS_read_timeout_secs)),
                  .write_timeout = absl::Seconds(absl::GetFlag(FLAGS_write_timeout_secs)),
                  .idle_timeout = absl::Seconds(absl::GetFlag(FLAGS_idle_timeout_secs))};
  options.grpc = {.port = absl::GetFlag(FLAGS_grpc_port), .max_message_bytes = absl::GetFlag(FLAGS_max_body_bytes)};
  options.batch = {.max_rows = absl::GetFlag(FLAGS_max_batch_rows),
                   .timeout = absl::Microseconds(absl::GetFlag(FLAGS_batch_timeout_micros)),
                   .threads = absl::GetFlag(FLAGS_batch_threads),
                   .max_queued = absl::GetFlag(FLAGS_max_queued)};
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

absl::Status Serve(const std::vector<std::string>& arguments) {
  TD_ASSIGN_OR_RETURN(const serving::ServerOptions options, OptionsOf(arguments));
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
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "serves exported models: tandem-serve NAME=EXPORT_DIR ...", tandem::Serve);
}
