// What all-reduces cost, against messages that a simulation sends one by one: each process has a port out and a port
// in, which carry one message at a time. It also looks at what arrives, so that the pattern is that of a sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tools/scale/interconnect.h"

namespace tandem {
namespace {

// Blocks of the vector [first, last), and whether the receiver adds them to its own or takes them as they are.
struct Message {
  int from = 0, to = 0, first = 0, last = 0;
  bool adds = false;
};

class Simulation {
 public:
  Simulation(int processes, int blocks, double bytes, Link link)
      : n_(processes), block_bytes_(bytes / blocks), link_(link), time_(n_, 0), sent_(n_, 0), has_(n_) {
    for (int p = 0; p < n_; ++p) has_[p].assign(blocks, uint64_t{1} << p);
  }

  // Each process sends its messages in the order that they stand here, and goes on when it has got all that others send
  // it in this hop.
  void Hop(const std::vector<Message>& messages) {
    struct Event {
      double start;
      const Message* message;
    };
    std::vector<double> out = time_, in(n_, 0), next = time_;
    std::vector<bool> first(n_, true);
    std::vector<Event> events;
    for (const Message& m : messages) {
      if (!first[m.from]) out[m.from] += link_.message;
      first[m.from] = false;
      events.push_back({out[m.from], &m});
      out[m.from] += Seconds(m);
      sent_[m.from] += (m.last - m.first) * block_bytes_;
    }
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
    const auto before = has_;
    for (const Event& e : events) {
      const Message& m = *e.message;
      in[m.to] = std::max(e.start + link_.latency, in[m.to]) + Seconds(m);
      next[m.to] = std::max(next[m.to], in[m.to]);
      next[m.from] = std::max(next[m.from], out[m.from]);
      for (int b = m.first; b < m.last; ++b) {
        EXPECT_TRUE(!m.adds || (has_[m.to][b] & before[m.from][b]) == 0) << "counted twice";
        has_[m.to][b] = before[m.from][b] | (m.adds ? has_[m.to][b] : 0);
      }
    }
    time_ = next;
    ++hops_;
  }

  void ExpectSums() const {
    for (const auto& blocks : has_) {
      for (uint64_t of : blocks) EXPECT_EQ(of, (uint64_t{1} << n_) - 1);
    }
  }
  double seconds() const { return *std::max_element(time_.begin(), time_.end()); }
  double most_sent() const { return *std::max_element(sent_.begin(), sent_.end()); }
  int hops() const { return hops_; }

 private:
  double Seconds(const Message& m) const { return (m.last - m.first) * block_bytes_ / link_.bandwidth; }

  const int n_;
  const double block_bytes_;
  const Link link_;
  std::vector<double> time_, sent_;
  std::vector<std::vector<uint64_t>> has_;  // of which processes each block is the sum
  int hops_ = 0;
};

int Blocks(int n) { return 8 * n; }  // divisible by n and by the powers of two up to it

void OneHop(int n, Simulation& s) {
  std::vector<Message> messages;
  for (int p = 0; p < n; ++p) {
    for (int i = 1; i < n; ++i) messages.push_back({p, (p + i) % n, 0, Blocks(n), true});
  }
  s.Hop(messages);
}

void TwoHops(int n, Simulation& s) {
  const int each = Blocks(n) / n;
  std::vector<Message> parts, sums;
  for (int p = 0; p < n; ++p) {
    for (int i = 1; i < n; ++i) {
      const int peer = (p + i) % n;
      parts.push_back({p, peer, peer * each, (peer + 1) * each, true});
      sums.push_back({p, peer, p * each, (p + 1) * each, false});
    }
  }
  s.Hop(parts);
  s.Hop(sums);
}

void Ring(int n, Simulation& s) {
  const int each = Blocks(n) / n;
  for (int round = 0; round < 2 * (n - 1); ++round) {
    std::vector<Message> messages;
    for (int p = 0; p < n; ++p) {
      const int part = ((p - round) % n + n) % n;
      messages.push_back({p, (p + 1) % n, part * each, (part + 1) * each, round < n - 1});
    }
    s.Hop(messages);
  }
}

// `inner` among the first `power` processes; process power + i gives its values to process i before.
template <typename Inner>
void Folded(int n, Simulation& s, Inner inner) {
  int power = 1;
  while (2 * power <= n) power *= 2;
  std::vector<Message> in, out;
  for (int p = power; p < n; ++p) {
    in.push_back({p, p - power, 0, Blocks(n), true});
    out.push_back({p - power, p, 0, Blocks(n), false});
  }
  if (!in.empty()) s.Hop(in);
  inner(power);
  if (!out.empty()) s.Hop(out);
}

void Doubling(int n, Simulation& s) {
  Folded(n, s, [&](int power) {
    for (int distance = 1; distance < power; distance *= 2) {
      std::vector<Message> messages;
      for (int p = 0; p < power; ++p) messages.push_back({p, p ^ distance, 0, Blocks(n), true});
      s.Hop(messages);
    }
  });
}

void Halving(int n, Simulation& s) {
  Folded(n, s, [&](int power) {
    std::vector<int> first(power, 0), last(power, Blocks(n));
    std::vector<std::vector<Message>> back;
    for (int distance = 1; distance < power; distance *= 2) {
      std::vector<Message> messages, returned;
      for (int p = 0; p < power; ++p) {
        const int middle = (first[p] + last[p]) / 2;
        const bool low = (p & distance) == 0;  // keeps the lower half
        messages.push_back({p, p ^ distance, low ? middle : first[p], low ? last[p] : middle, true});
        (low ? last : first)[p] = middle;
        returned.push_back({p, p ^ distance, first[p], last[p], false});
      }
      s.Hop(messages);
      back.push_back(returned);
    }
    for (; !back.empty(); back.pop_back()) s.Hop(back.back());
  });
}

struct Pattern {
  Way way;
  void (*run)(int, Simulation&);
};
constexpr Pattern kPatterns[] = {{Way::kOneHop, OneHop},
                                 {Way::kTwoHops, TwoHops},
                                 {Way::kRing, Ring},
                                 {Way::kDoubling, Doubling},
                                 {Way::kHalving, Halving}};

class PatternTest : public ::testing::TestWithParam<Pattern> {};

TEST_P(PatternTest, MessagesTakeAsLongAsTheFormulaSays) {
  constexpr double kBytes = 1e6;
  for (int n : {2, 3, 4, 5, 6, 7, 8}) {
    SCOPED_TRACE(testing::Message() << Name(GetParam().way) << " of " << n);
    for (const Link& link : {Link{1e9, 0, 0}, Link{1e18, 1e-3, 0}, Link{1e9, 1e-3, 0}, Link{1e9, 1e-3, 1e-4}}) {
      Simulation s(n, Blocks(n), kBytes, link);
      GetParam().run(n, s);
      s.ExpectSums();
      const double formula = CostOf(GetParam().way, kBytes, n).On(link);
      EXPECT_LE(s.seconds(), formula * (1 + 1e-6));
      // Who waits for the values of a neighbour that is too many finds the first message of another in doubling there.
      const bool early = GetParam().way == Way::kDoubling && (n & (n - 1)) != 0;
      EXPECT_GE(s.seconds() + (early ? kBytes / link.bandwidth + link.latency : 0), formula * (1 - 1e-6));
      EXPECT_EQ(s.hops(), CostOf(GetParam().way, kBytes, n).latencies);
    }
  }
}

TEST_P(PatternTest, NoLinkCarriesMoreThanTheFormulaSays) {
  constexpr double kBytes = 1e6;
  for (int n : {2, 3, 4, 5, 6, 7, 8}) {
    SCOPED_TRACE(testing::Message() << Name(GetParam().way) << " of " << n);
    Simulation s(n, Blocks(n), kBytes, {1e9, 1e-3, 0});
    GetParam().run(n, s);
    // Of what a folded process gives away and gets back, its neighbour sends one half.
    const bool folded = (n & (n - 1)) != 0 && (GetParam().way == Way::kDoubling || GetParam().way == Way::kHalving);
    EXPECT_NEAR(s.most_sent(), CostOf(GetParam().way, kBytes, n).bytes - (folded ? kBytes : 0), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PatternTest, ::testing::ValuesIn(kPatterns));

}  // namespace
}  // namespace tandem
