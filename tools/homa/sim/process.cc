#include "sim/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "failure.h"

namespace homa::tools::sim {
namespace {

/// Of a child's output: enough for the message by which it ends.
constexpr std::size_t kKeptBytes = 4096;

/// Blocks all signals for as long as a new process still has our handlers: one that came then would be lost on it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { unblock(); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  void unblock() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

[[noreturn]] void become(const std::vector<std::string>& arguments, int output, pid_t parent,
                         const SignalsBlocked& blocked) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(Ended::kNotFound);  // it went before we could ask to be told
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  blocked.unblock();
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
  ::_exit(Ended::kNotFound);
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t parent = ::getpid();
  {
    const SignalsBlocked blocked;
    process_ = ::fork();
    if (process_ == 0) become(arguments, ends[1], parent, blocked);
  }
  ::close(ends[1]);
  output_ = ends[0];
  if (process_ < 0) {
    ::close(output_);
    throw Failure(fmt::format("cannot start a process: {}; run fewer --jobs", std::strerror(errno)));
  }
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

Child::Child(Child&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      output_(std::exchange(other.output_, -1)),
      partial_(std::move(other.partial_)),
      last_lines_(std::move(other.last_lines_)) {}

Child::~Child() {
  if (process_ > 0) {
    terminate();
    wait();
  }
  if (output_ >= 0) ::close(output_);
}

bool Child::read(const std::function<void(const std::string&)>& line) {
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(output_, buffer, sizeof buffer)) > 0) {
    partial_.append(buffer, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      line(partial_.substr(begin, end - begin));
      last_lines_ += partial_.substr(begin, end + 1 - begin);
    }
    partial_.erase(0, begin);
    if (last_lines_.size() > kKeptBytes) last_lines_.erase(0, last_lines_.size() - kKeptBytes);
  }
  return got < 0 && (errno == EAGAIN || errno == EINTR);
}

void Child::terminate() {
  if (process_ > 0) ::kill(process_, SIGTERM);
}

Ended Child::wait() {
  Ended ended;
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : Ended::kKilled + WTERMSIG(status);
  ended.output = last_lines_ + partial_;
  return ended;
}

std::vector<std::size_t> wait_for_output(const std::vector<Child*>& children, Duration at_most) {
  std::vector<pollfd> watched;
  for (const Child* child : children) watched.push_back({child->output(), POLLIN, 0});
  ::poll(watched.data(), watched.size(), static_cast<int>(at_most / 1ms));
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents != 0) ready.push_back(i);
  }
  return ready;
}

Ended run_program(const std::vector<std::string>& arguments) {
  Child child(arguments);
  while (child.read([](const std::string&) {})) wait_for_output({&child}, 1s);
  return child.wait();
}

}  // namespace homa::tools::sim
