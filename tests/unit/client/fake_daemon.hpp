#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/model/json.hpp"

namespace orange::test {

/// A folder of its own below /tmp, gone at the end.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// Listens where a daemon would and answers each line with what `answer` returns (sent as it is; an empty text: the
/// connection is closed; no text: silence). Any number of connections at once; a thread of its own, which ends with the
/// object.
class FakeDaemon {
  public:
    using Answer = std::function<std::vector<std::string>(const Json& request)>;

    FakeDaemon(const std::filesystem::path& socket, Answer answer);
    ~FakeDaemon();

    std::vector<Json> requests() const;
    /// Before and after another process talks to it: what `answer` uses may be changed by whoever called this.
    /// (`answer` runs in the other thread, and what two threads see of each other through a third process is no order
    /// to C++.)
    void meet() const { const std::lock_guard lock(mutex_); }

    /// Sends to the connection that was taken as the n-th, from 0 on. For `answer` to call.
    void say(std::size_t connection, const std::string& text);

    /// A reply line to `request`.
    static std::string reply(const Json& request, const Json& result);
    static std::string error(const Json& request, int code, const std::string& message);

  private:
    struct Peer {
        int fd = -1;  ///< -1: gone
        std::string buffer;
    };

    void serve();
    void take(Peer& peer);
    void close(Peer& peer);

    Answer answer_;
    int listener_ = -1;
    int stop_[2] = {-1, -1};
    mutable std::mutex mutex_;
    std::vector<Json> requests_;
    std::vector<Peer> peers_;  ///< of the thread
    std::thread thread_;
};

/// What a program that ran to its end did.
struct Ran {
    int status = -1;
    std::string out;
    std::string err;
};

/// Runs `argv` with only these variables set besides PATH, in `directory`, with `input` on standard input.
Ran run(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
        const std::filesystem::path& directory, const std::string& input = "");

}  // namespace orange::test
