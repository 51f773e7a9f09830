// ServerOptions: what a server serves, where it listens, and its limits.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_OPTIONS_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tandem::serving {

// How requests of one version of a model are put together.
struct BatchOptions {
  int64_t max_rows = 0;       // the most rows of a batch; 0: as many as the program computes at once
  absl::Duration timeout;     // how long a request waits for others, at most
  int threads = 2;            // the batches of a version that are computed at once
  int64_t max_queued = 1000;  // the most requests that wait
};

// A model under its name. Versions are the exports in `directory`, which may be one export itself.
struct ModelOptions {
  std::string name;
  std::string directory;
};

struct HttpOptions {
  int port = 8501;  // 0: any free one
  int threads = 2;
  int64_t max_connections = 1024;
  int64_t max_header_bytes = 16 << 10;
  int64_t max_body_bytes = 32 << 20;
  absl::Duration read_timeout = absl::Seconds(30);   // for all of a request, from its first byte on
  absl::Duration write_timeout = absl::Seconds(30);  // for all of an answer
  absl::Duration idle_timeout = absl::Seconds(120);  // from an answer to the next request
};

struct GrpcOptions {
  int port = -1;  // 0: any free one; -1: no gRPC
  int64_t max_message_bytes = 32 << 20;
};

struct ServerOptions {
  std::vector<ModelOptions> models;
  std::string address = "127.0.0.1";
  HttpOptions http;
  GrpcOptions grpc;
  BatchOptions batch;
  int threads = 0;                                  // of each version of a model; 0: one for each core
  int versions = 1;                                 // how many of the newest versions of a model are served at once
  absl::Duration poll_interval = absl::Seconds(1);  // between looks for new exports
  absl::Duration stop_timeout = absl::Seconds(30);  // how long Stop waits for requests that are being answered
};

// Reads NAME=DIRECTORY. InvalidArgument if it has another form.
absl::StatusOr<ModelOptions> ParseModelOptions(const std::string& text);

// InvalidArgument, naming the option, its value and what is allowed, for options that make no server.
absl::Status CheckServerOptions(const ServerOptions& options);

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_OPTIONS_H_
