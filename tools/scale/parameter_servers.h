// How many updates a second workers and parameter servers make together, where nobody waits for the others.
#ifndef TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_
#define TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "tools/scale/interconnect.h"

namespace tandem {

// What one update costs a server.
struct ServerLoad {
  double sent = 0;      // bytes that a worker sends it
  double returned = 0;  // bytes of the values that come back
  double update = 0;    // seconds during which it can do nothing else
};

struct ServedStep {
  double compute = 0;  // seconds of a worker, of each of its threads
  int threads = 1;     // of a worker
  std::vector<ServerLoad> servers;
};

enum class Bound { kWorkers, kServerUpdates, kServerLink, kCores };
absl::string_view Name(Bound bound);  // "the workers", "updates", "the link", "the cores"

struct ServedForecast {
  double rate = 0;  // updates a second, of all workers together: global steps
  Bound bound = Bound::kWorkers;
  int server = -1;       // that is the bound, where one is
  double staleness = 0;  // updates by others between a worker's reading of the values and its own update of them
};

// Seconds of a worker's step when nobody else is there: it computes, sends all servers their part, waits for the last
// update, and gets the values. Its link carries what it sends to all servers, one after another.
double AloneSeconds(const ServedStep& step, const Link& link);

// In the steady state, `workers` > 0 equal workers. At most as many as the workers make alone, as the busiest server's
// link carries in either direction, which all workers share (incast), and as the busiest server computes, one after
// another. `cores` > 0: workers and servers share so many cores of one machine, and no more than these compute and copy
// bytes from one process to another.
ServedForecast ForecastServed(const ServedStep& step, int workers, const Link& link, int cores);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_PARAMETER_SERVERS_H_
