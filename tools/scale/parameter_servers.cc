#include "tools/scale/parameter_servers.h"

#include <algorithm>

namespace tandem {

absl::string_view Name(Bound bound) {
  constexpr absl::string_view kNames[] = {"the workers", "updates", "the link", "the cores"};
  return kNames[static_cast<int>(bound)];
}

double AloneSeconds(const ServedStep& step, const Link& link) {
  double sent = 0, returned = 0, update = 0;
  for (const ServerLoad& s : step.servers) {
    sent += s.sent;
    returned += s.returned;
    update = std::max(update, s.update);
  }
  const double messages = static_cast<double>(step.servers.size()) - 1;
  return step.compute + Cost{sent + returned, 2, messages}.On(link) + update;
}

ServedForecast ForecastServed(const ServedStep& step, int workers, const Link& link, int cores) {
  ServedForecast forecast;
  forecast.staleness = workers - 1;
  forecast.rate = workers / AloneSeconds(step, link);
  const auto limit = [&](double seconds, Bound bound, int server) {
    if (seconds <= 0 || 1 / seconds >= forecast.rate) return;
    forecast.rate = 1 / seconds;
    forecast.bound = bound;
    forecast.server = server;
  };
  double busy = step.compute * step.threads;  // core seconds that one update takes on all processes together
  for (size_t i = 0; i < step.servers.size(); ++i) {
    const ServerLoad& s = step.servers[i];
    limit(s.update, Bound::kServerUpdates, static_cast<int>(i));
    limit(std::max(s.sent, s.returned) / link.bandwidth, Bound::kServerLink, static_cast<int>(i));
    busy += s.update + (s.sent + s.returned) / link.bandwidth;
  }
  if (cores > 0) limit(busy / cores, Bound::kCores, -1);
  return forecast;
}

}  // namespace tandem
