// serve_load: sends requests to a tandem-serve that runs on this machine, and counts what becomes of them.
//
//   bazel-bin/benchmarks/serve_exports /tmp/serve
//   bazel-bin/tools/tandem-serve m=/tmp/serve/exports &
//   bazel-bin/benchmarks/serve_load --model=m --rate=500
//
// Each connection sends a request when its time has come, and then waits for the answer. Times are those from the time
// at which a request was to be sent, so that one that waits for a connection counts as waiting. With a rate requests
// come as in a Poisson process, and the line "sent late" has what this program itself adds to the times, where it gets
// no core when it should; without one each connection sends as soon as it has its answer.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json_parse.h"
#include "base/philox.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "estimator/serving/server/http_client.h"
#include "nlohmann/json.hpp"

ABSL_FLAG(int, port, 8501, "of the server");
ABSL_FLAG(std::string, model, "m", "name of the model");
ABSL_FLAG(int64_t, requests, 10000, "to send");
ABSL_FLAG(int, connections, 32, "that send them");
ABSL_FLAG(double, rate, 0, "requests in a second; 0: as many as the server answers");

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;
using serving::HttpAnswer;
using serving::HttpClient;

constexpr char kId[] = "id";  // input and output that tell requests apart, if the model has both

// Appends a value of sizes `dims` from `dimension` on.
void AppendValue(const std::vector<int64_t>& dims, size_t dimension, bool integer, std::string* text) {
  if (dimension == dims.size()) {
    static uint32_t count = 0;
    const uint32_t random = Philox4x32({++count, 0, 0, 0}, {1, 2})[0];
    absl::StrAppend(text, integer ? 0.0 : static_cast<double>(random % 1000) / 1000);
    return;
  }
  text->push_back('[');
  for (int64_t i = 0; i < dims[dimension]; ++i) {
    if (i > 0) text->push_back(',');
    AppendValue(dims, dimension + 1, integer, text);
  }
  text->push_back(']');
}

// The text of a request for one row of the model, in front of the id and behind it.
struct Body {
  std::string head, tail;
  bool has_id = false;
};

absl::StatusOr<Body> MakeBody(int port, const std::string& model) {
  HttpClient client(port);
  const HttpAnswer answer = client.Get(absl::StrCat("/v1/models/", model, "/metadata"));
  if (answer.status != 200) {
    return absl::UnavailableError(absl::StrCat("port ", port, ": no metadata of model ", model, ": ", answer.body));
  }
  const Json signature = ParseJson(answer.body)["metadata"]["signature_def"]["signature_def"]["serving_default"];
  Body body{.head = "{\"instances\":[{"};
  body.has_id = signature["inputs"].contains(kId) && signature["outputs"].contains(kId);
  for (const auto& [name, tensor] : signature["inputs"].items()) {
    if (name == kId && body.has_id) continue;
    std::vector<int64_t> dims;
    for (const auto& dim : tensor["tensor_shape"]["dim"]) {
      dims.push_back(0);
      if (!absl::SimpleAtoi(dim["size"].get<std::string>(), &dims.back())) return absl::DataLossError(answer.body);
    }
    absl::StrAppend(&body.head, "\"", name, "\":");
    AppendValue(dims, 1, tensor["dtype"] != "DT_FLOAT" && tensor["dtype"] != "DT_DOUBLE", &body.head);
    body.head += ",";
  }
  if (body.has_id) {
    absl::StrAppend(&body.head, "\"", kId, "\":");
  } else {
    body.head.pop_back();
  }
  body.tail = "}]}";
  return body;
}

// Returns the id in an answer; -1 if there is none.
double IdOf(absl::string_view body) {
  const std::string name = absl::StrCat("\"", kId, "\":");
  const size_t at = body.find(name);
  double id = -1;
  if (at == absl::string_view::npos) return -1;
  body.remove_prefix(at + name.size());
  return absl::SimpleAtod(body.substr(0, body.find_first_of(",}")), &id) ? id : -1;
}

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

struct Counts {
  std::vector<double> milliseconds;  // of those that were answered with 200
  std::vector<double> late;          // milliseconds from when a request was due to when it was sent
  int64_t lost = 0, doubled = 0, wrong = 0, refused = 0;
};

class Load {
 public:
  Load(int port, const std::string& model, Body body, int64_t requests, double rate)
      : port_(port),
        target_(absl::StrCat("/v1/models/", model, ":predict")),
        body_(std::move(body)),
        requests_(requests) {
    double time = 0;
    for (uint32_t i = 0; rate > 0 && i < requests; ++i) {
      const double uniform = (Philox4x32({i, 1, 0, 0}, {3, 4})[0] + 1.0) / 4294967297.0;
      time -= std::log(uniform) / rate;
      due_.push_back(time);
    }
  }

  void Run(Counts* counts) {
    auto connection = std::make_unique<HttpClient>(port_);
    for (int64_t i; (i = next_++) < requests_;) {
      Clock::time_point begin = Clock::now();
      if (!due_.empty()) {
        begin = start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due_[i]));
        std::this_thread::sleep_until(begin);
        counts->late.push_back(MillisecondsSince(begin));
      }
      if (!Ask(i, begin, connection.get(), counts)) connection = std::make_unique<HttpClient>(port_);
    }
    // An answer too many would come soon.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (connection->HasMore()) ++counts->doubled;
  }

 private:
  // Sends request `i` and counts its answer. False if the connection has ended.
  bool Ask(int64_t i, Clock::time_point begin, HttpClient* client, Counts* counts) {
    const HttpAnswer answer =
        client->Post(target_, absl::StrCat(body_.head, body_.has_id ? absl::StrCat(i) : "", body_.tail));
    if (answer.status == 0) {
      ++counts->lost;
      return false;
    }
    if (client->HasMore()) ++counts->doubled;
    if (answer.status != 200) {
      ++counts->refused;
      if (counts->refused == 1) std::fprintf(stderr, "%d: %s", answer.status, answer.body.c_str());
      return !absl::StrContains(answer.head, "Connection: close");
    }
    counts->milliseconds.push_back(MillisecondsSince(begin));
    if (body_.has_id && IdOf(answer.body) != static_cast<double>(i)) ++counts->wrong;
    return true;
  }

  const int port_;
  const std::string target_;
  const Body body_;
  const int64_t requests_;
  const Clock::time_point start_ = Clock::now();
  std::vector<double> due_;  // seconds after start_
  std::atomic<int64_t> next_{0};
};

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted.empty() ? NAN : sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
}

absl::Status Run() {
  const int port = absl::GetFlag(FLAGS_port), connections = absl::GetFlag(FLAGS_connections);
  TD_ASSIGN_OR_RETURN(Body body, MakeBody(port, absl::GetFlag(FLAGS_model)));
  const bool has_id = body.has_id;
  Load load(port, absl::GetFlag(FLAGS_model), std::move(body), absl::GetFlag(FLAGS_requests),
            absl::GetFlag(FLAGS_rate));
  std::vector<Counts> counts(static_cast<size_t>(connections));
  const Clock::time_point start = Clock::now();
  TD_ASSIGN_OR_RETURN(std::vector<std::thread> threads, StartThreads("connections", connections, [&](int i) {
                        load.Run(&counts[static_cast<size_t>(i)]);
                      }));
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  Counts all;
  for (const Counts& c : counts) {
    all.milliseconds.insert(all.milliseconds.end(), c.milliseconds.begin(), c.milliseconds.end());
    all.late.insert(all.late.end(), c.late.begin(), c.late.end());
    all.lost += c.lost;
    all.doubled += c.doubled;
    all.wrong += c.wrong;
    all.refused += c.refused;
  }
  std::sort(all.milliseconds.begin(), all.milliseconds.end());
  std::sort(all.late.begin(), all.late.end());
  std::printf("%zu answered, %lld refused, %lld lost, %lld doubled, %lld with another's answer%s\n",
              all.milliseconds.size(), static_cast<long long>(all.refused), static_cast<long long>(all.lost),
              static_cast<long long>(all.doubled), static_cast<long long>(all.wrong),
              has_id ? "" : " (not checked: the model has no input and output \"id\")");
  std::printf("%.0f in a second; p50 %.3f ms, p99 %.3f ms, p99.9 %.3f ms, longest %.3f ms\n",
              static_cast<double>(all.milliseconds.size()) / seconds, Quantile(all.milliseconds, 0.5),
              Quantile(all.milliseconds, 0.99), Quantile(all.milliseconds, 0.999), Quantile(all.milliseconds, 1));
  if (!all.late.empty()) {
    std::printf("sent late: p50 %.3f ms, p99 %.3f ms\n", Quantile(all.late, 0.5), Quantile(all.late, 0.99));
  }
  if (all.lost + all.doubled + all.wrong == 0) return absl::OkStatus();
  return absl::DataLossError("not every request had one answer of its own");
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "serve_load: measures a tandem-serve that runs", tandem::Run);
}
