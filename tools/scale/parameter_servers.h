// Predicts how many updates per second workers and parameter servers make together if nobody waits for the others.
#ifndef TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_
#define TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "tools/scale/interconnect.h"

namespace tandem {

// The cost of one update for a server.
struct ServerLoad {
  double sent = 0;      // bytes that a worker sends to it
  double returned = 0;  // bytes of the values that it returns
  double update = 0;    // seconds of computation, during which it does nothing else
};

struct ServedStep {
  double compute = 0;  // seconds that a worker computes, on each of its threads
  int threads = 1;     // threads of a worker
  std::vector<ServerLoad> servers;
};

enum class Bound { kWorkers, kServerUpdates, kServerLink, kCores };
absl::string_view Name(Bound bound);  // "the workers", "updates", "the link", "the cores"

struct ServedForecast {
  double rate = 0;  // updates per second of all workers together: global steps
  Bound bound = Bound::kWorkers;
  int server = -1;       // the server that is the limit, if one is
  double staleness = 0;  // updates by other workers between a worker's reading of the values and its own update of them
};

// Returns the seconds of a step of a single worker: it computes, sends all servers their part, waits for the last
// update, and gets the values. Its link carries what it sends to all servers, one after another.
double AloneSeconds(const ServedStep& step, const Link& link);

// Predicts the steady state with `workers` > 0 equal workers. The rate is limited by what the workers make if each were
// alone, by the busiest server's link in either direction, which all workers share (incast), and by the busiest
// server's computation, one update after another. With `cores` > 0 workers and servers share this number of cores on
// one machine: no more than these compute, and copy bytes from one process to another.
ServedForecast ForecastServed(const ServedStep& step, int workers, const Link& link, int cores);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_
