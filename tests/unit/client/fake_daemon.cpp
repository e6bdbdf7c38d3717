#include "tests/unit/client/fake_daemon.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace orange::test {
namespace {

void require(bool good, const char* what) {
    if (!good) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

std::string slurp(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    char chunk[4096];
    for (ssize_t n = 0; (n = ::read(fd, chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<std::size_t>(n));
    ::close(fd);
    return text;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string pattern = "/tmp/orange-test-XXXXXX";
    require(::mkdtemp(pattern.data()), "mkdtemp");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
}

FakeDaemon::FakeDaemon(const std::filesystem::path& socket, Answer answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(listener_ >= 0, "socket");
    const int folder = ::open(socket.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(folder >= 0, "open");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = "/proc/self/fd/" + std::to_string(folder) + "/" + socket.filename().string();
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int bound = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(folder);
    require(bound == 0, "bind");
    require(::listen(listener_, 16) == 0, "listen");
    require(::pipe2(stop_, O_CLOEXEC) == 0, "pipe2");
    thread_ = std::thread([this] { serve(); });
}

FakeDaemon::~FakeDaemon() {
    ::close(stop_[1]);
    thread_.join();
    ::close(stop_[0]);
    ::close(listener_);
}

std::vector<Json> FakeDaemon::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

std::string FakeDaemon::reply(const Json& request, const Json& result) {
    return dump({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}}) + "\n";
}

std::string FakeDaemon::error(const Json& request, int code, const std::string& message) {
    return dump({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"error", {{"code", code}, {"message", message}}}}) + "\n";
}

void FakeDaemon::say(std::size_t connection, const std::string& text) {
    require(::send(peers_.at(connection).fd, text.data(), text.size(), MSG_NOSIGNAL) >= 0, "send");
}

void FakeDaemon::serve() {
    for (;;) {
        std::vector<pollfd> ready = {{stop_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
        for (const auto& peer : peers_) ready.push_back({peer.fd, POLLIN, 0});
        if (::poll(ready.data(), ready.size(), -1) < 0) continue;
        if (ready[0].revents) break;
        for (std::size_t i = 2; i < ready.size(); ++i) {
            if (ready[i].revents) take(peers_[i - 2]);
        }
        if (!ready[1].revents) continue;
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) peers_.push_back({fd, {}});
    }
    for (auto& peer : peers_) close(peer);
}

void FakeDaemon::close(Peer& peer) {
    if (peer.fd >= 0) ::close(peer.fd);
    peer.fd = -1;
}

void FakeDaemon::take(Peer& peer) {
    char chunk[4096];
    const auto n = ::read(peer.fd, chunk, sizeof chunk);
    if (n <= 0) return close(peer);
    peer.buffer.append(chunk, static_cast<std::size_t>(n));
    for (auto end = peer.buffer.find('\n'); end != std::string::npos; end = peer.buffer.find('\n')) {
        const Json request = Json::parse(peer.buffer.substr(0, end));
        peer.buffer.erase(0, end + 1);
        std::vector<std::string> parts;
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
            parts = answer_(request);
        }
        for (const auto& part : parts) {
            if (part.empty()) return close(peer);
            if (::send(peer.fd, part.data(), part.size(), MSG_NOSIGNAL) < 0) return close(peer);
        }
    }
}

Ran run(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
        const std::filesystem::path& directory, const std::string& input) {
    TemporaryFolder folder;
    const auto in = folder.path() / "in", out = folder.path() / "out", err = folder.path() / "err";
    const int in_fd = ::open(in.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    require(in_fd >= 0 && ::write(in_fd, input.data(), input.size()) == static_cast<ssize_t>(input.size()), "write");
    ::lseek(in_fd, 0, SEEK_SET);
    std::vector<std::string> variables = environment;
    if (const char* path = std::getenv("PATH")) variables.push_back(std::string("PATH=") + path);
    std::vector<char*> words, env;
    for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    for (const auto& variable : variables) env.push_back(const_cast<char*>(variable.c_str()));
    words.push_back(nullptr);
    env.push_back(nullptr);
    const pid_t pid = ::fork();
    require(pid >= 0, "fork");
    if (pid == 0) {
        ::dup2(in_fd, 0);
        ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
        ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
        if (::chdir(directory.c_str()) == 0) ::execve(words[0], words.data(), env.data());
        ::_exit(126);
    }
    ::close(in_fd);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out), slurp(err)};
}

}  // namespace orange::test
