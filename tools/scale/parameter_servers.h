// Predicts how many updates per second workers and parameter servers make together in asynchronous training.
#ifndef TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_
#define TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "tools/scale/interconnect.h"

namespace tandem {

// What one worker's update costs one server.
struct ServerLoad {
  double sent = 0;      // bytes that the worker sends to the server
  double returned = 0;  // bytes of the values that the server returns
  double update = 0;    // seconds that the server computes, during which it does nothing else
};

struct ServedStep {
  double compute = 0;  // seconds that a worker computes, on each of its threads
  int threads = 1;     // threads of a worker
  std::vector<ServerLoad> servers;
};

enum class Bound { kWorkers, kServerUpdates, kServerLink, kCores };
absl::string_view Name(Bound bound);  // returns what limits: "the workers", "updates", "the link", "the cores"

struct ServedForecast {
  double rate = 0;  // updates (global steps) per second of all workers together
  Bound bound = Bound::kWorkers;
  int server = -1;  // number of the server that limits the rate; -1 if none does
  // How many updates of other workers happen between a worker's reading of the values and its own update of them.
  double staleness = 0;
};

// Returns the seconds of a step of a single worker without others. The worker computes, sends each server its part,
// waits for the last update, and receives the values. Its link carries what it sends to all servers, one after another.
double AloneSeconds(const ServedStep& step, const Link& link);

// Predicts the steady state with `workers` > 0 equal workers. The rate is limited by three things: what the workers
// would do if each were alone; the link of the busiest server in either direction, which all workers share (incast);
// and the computation of the busiest server, one update after another. With `cores` > 0, workers and servers run on one
// machine and share this number of cores, which compute and also copy the bytes from one process to another.
ServedForecast ForecastServed(const ServedStep& step, int workers, const Link& link, int cores);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_
