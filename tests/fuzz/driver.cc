// Runs a fuzz target without libFuzzer: on every file of the corpus, on the target's own seeds, and on as many changes
// of those as --runs says, the same for the same --seed. Prints how many runs there were.
//
// A finding ends it: the input goes to --artifact, whose path is printed, those in front of it to --artifact.before-1
// and so on, since a damaged heap is found some inputs later, and the signal has its way. An input that
// takes longer than kDeadlineSeconds is a finding as well.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutator.h"

namespace tandem::fuzz {
namespace {

constexpr unsigned kDeadlineSeconds = 60;
constexpr size_t kMaxPool = 4096, kMaxBytes = size_t{1} << 20;
constexpr unsigned kBefore = 64;  // inputs that a finding keeps

// Of the run in progress; the handler of signals may only look at it.
const char* artifact = nullptr;
const char* current_data = nullptr;
size_t current_size = 0;
bool accepted = false;
std::string recent[kBefore];
unsigned long long number = 0;

void WriteInput(const char* path, const char* data, size_t size) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  for (size_t at = 0; at < size;) {
    const ssize_t n = write(fd, data + at, size - at);
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  close(fd);
}

void SaveFinding(int signal) {
  WriteInput(artifact, current_data, current_size);
  for (unsigned i = 1; i <= kBefore && i <= number; ++i) {
    char path[4096];
    std::snprintf(path, sizeof path, "%s.before-%u", artifact, i);
    const std::string& input = recent[(number - i) % kBefore];
    WriteInput(path, input.data(), input.size());
  }
  for (const char* text : {"finding: the input is in ", artifact, "\n"}) {
    [[maybe_unused]] const ssize_t n = write(2, text, std::strlen(text));
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

// Handlers have a stack of their own: an input may have used up the other.
void HandleSignals() {
  static char stack[1 << 16];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_handler = SaveFinding;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) sigaction(signal, &action, nullptr);
}

// True when the target took the input.
bool RunOne(const std::string& input) {
  accepted = false;
  current_data = input.data();
  current_size = input.size();
  alarm(kDeadlineSeconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  alarm(0);
  recent[number++ % kBefore] = input;
  return accepted;
}

void AddFile(const std::filesystem::path& path, std::vector<std::string>* inputs) {
  std::ifstream file(path, std::ios::binary);
  inputs->emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

int Main(int argc, char** argv) {
  unsigned long long runs = 0, seed = 1;
  std::string artifact_path = "finding";
  std::vector<std::string> corpus = Seeds();
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (std::sscanf(argv[i], "--runs=%llu", &runs) == 1 || std::sscanf(argv[i], "--seed=%llu", &seed) == 1) continue;
    if (argument.rfind("--artifact=", 0) == 0) {
      artifact_path = argument.substr(11);
    } else if (std::filesystem::is_directory(argument)) {
      for (const auto& entry : std::filesystem::directory_iterator(argument)) AddFile(entry.path(), &corpus);
    } else if (std::filesystem::is_regular_file(argument)) {
      AddFile(argument, &corpus);
    } else {
      std::fprintf(stderr, "usage: %s [--runs=N] [--seed=N] [--artifact=FILE] [FILE|DIRECTORY]...\n", argv[0]);
      return 2;
    }
  }
  artifact = artifact_path.c_str();
  HandleSignals();
  // Buffers of each run would go back to the system and be brought in anew, page by page.
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  unsigned long long taken = 0;
  for (const std::string& input : corpus) taken += RunOne(input);
  std::printf("%zu inputs of the corpus, of which %llu are well-formed\n", corpus.size(), taken);
  if (corpus.empty()) corpus.emplace_back();
  Mutator mutator(seed);
  const size_t given = corpus.size();
  for (unsigned long long run = 0; run < runs; ++run) {
    // Half of the time one of those given, which later ones would drown.
    const std::string& from = corpus[mutator.Below(2) ? mutator.Below(given) : mutator.Below(corpus.size())];
    std::string input = mutator.Mutate(from, corpus[mutator.Below(corpus.size())], kMaxBytes);
    if (!RunOne(input)) continue;
    ++taken;
    if (corpus.size() < given + kMaxPool) {
      corpus.push_back(std::move(input));
    } else {
      corpus[given + mutator.Below(kMaxPool)] = std::move(input);
    }
  }
  std::printf("%llu runs of changed inputs, %llu taken; 0 findings\n", runs, taken);
  return taken > 0 ? 0 : 1;  // a corpus of which nothing is well-formed tests nothing
}

}  // namespace

void NoteAccepted() { accepted = true; }

}  // namespace tandem::fuzz

int main(int argc, char** argv) { return tandem::fuzz::Main(argc, argv); }
