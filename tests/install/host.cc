// A program that is not Tandem's: it never calls RunProgram.
//   host handlers        trains, and compares what belongs to the process before and after
//   host plugin LIBRARY  opens the library by dlopen, closes it, and opens it again
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"

namespace {

using namespace tandem;

EstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode, const Params&) {
  Tensor y = layers::Dense(features["x"], {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  Tensor loss = losses::MeanSquaredError(labels, y);
  return EstimatorSpec::Train(loss, optimizers::GradientDescent({.learning_rate = 0.1}).Minimize(loss));
}

absl::StatusOr<Dataset> Points(const InputContext&) {
  return Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({4, 1}, {1, 2, 3, 4})},
                                    {"label", HostTensor::FromVector<float>({4, 1}, {2, 4, 6, 8})}})
      .Repeat()
      .Batch(4);
}

absl::Status Train() {
  Estimator estimator(ModelFn, RunConfig{});
  TD_RETURN_IF_ERROR(estimator.Train(Points, {.max_steps = 20}));
  TD_ASSIGN_OR_RETURN(const HostTensor kernel, estimator.GetVariableValue("dense/kernel"));
  const float value = kernel.data<float>()[0];
  if (value < 1.5 || value > 2.5) return absl::InternalError("the kernel is " + std::to_string(value));
  return absl::OkStatus();
}

void Handler(int) {}
void HostTerminate() { _exit(3); }
void HostNew() { throw std::bad_alloc(); }

constexpr int kSignals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT, SIGPIPE, SIGHUP, SIGCHLD};

// What a library must leave alone, as text.
std::string OfTheProcess() {
  std::string text;
  for (int signal : kSignals) {
    struct sigaction action;
    sigaction(signal, nullptr, &action);
    text += std::to_string(signal) + (action.sa_handler == Handler ? " host's\n" : " another\n");
  }
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int signal : kSignals) text += sigismember(&mask, signal) ? "1" : "0";
  text += std::get_terminate() == HostTerminate ? "\nterminate host's" : "\nterminate another";
  text += std::get_new_handler() == HostNew ? "\nnew host's" : "\nnew another";
  text += std::string("\nlocale ") + setlocale(LC_ALL, nullptr);
  const mode_t mode = umask(0);
  umask(mode);
  text += "\numask " + std::to_string(mode) + "\ndescriptors";
  for (int fd = 0; fd < 256; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) text += " " + std::to_string(fd);
  }
  for (char** variable = environ; *variable != nullptr; ++variable) text += std::string("\n") + *variable;
  return text + "\n";
}

int CheckHandlers() {
  for (int signal : kSignals) {
    struct sigaction action = {};
    action.sa_handler = Handler;
    sigaction(signal, &action, nullptr);
  }
  std::set_terminate(HostTerminate);
  std::set_new_handler(HostNew);
  setlocale(LC_ALL, "C.UTF-8");
  umask(027);
  close(0);
  const std::string before = OfTheProcess();
  absl::Status status = Train();
  if (status.ok()) std::thread([&status] { status = Train(); }).join();
  const std::string after = OfTheProcess();
  if (!status.ok()) {
    std::printf("%s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("%s", before == after ? "as before\n" : (before + "became\n" + after).c_str());
  return before == after ? 0 : 1;
}

int OpenTwice(const char* library) {
  for (int time = 0; time < 2; ++time) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    dlclose(handle);
  }
  std::printf("opened twice\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "handlers") == 0) return CheckHandlers();
  if (argc == 3 && std::strcmp(argv[1], "plugin") == 0) return OpenTwice(argv[2]);
  return 2;
}
