#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "client/connection/child.hpp"
#include "common/base/system.hpp"
#include "common/model/json.hpp"
#include "tests/integration/sandbox.hpp"

namespace orange::tests {

/// A program whose standard input and output are lines of JSON, such as `orange rpc --stdio`.
class Talk {
  public:
    Talk(Sandbox& box, const std::vector<std::string>& argv) : box_(box) {
        int in[2], out[2];
        if (system::make_pipe(in) != 0 || system::make_pipe(out) != 0) box_.fail("no pipes");
        connection::ChildOptions options;
        options.in = in[0];
        options.out = out[1];
        const auto pid = connection::start_child(argv, options);
        ::close(in[0]);
        ::close(out[1]);
        in_ = in[1];
        out_ = out[0];
        if (!pid) box_.fail(pid.error().message);
        pid_ = *pid;
    }
    ~Talk() {
        end_input();
        if (out_ >= 0) ::close(out_);
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Talk(const Talk&) = delete;
    Talk& operator=(const Talk&) = delete;

    void say(const std::string& line) const {
        const auto text = line + "\n";
        if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) box_.fail("cannot write");
    }
    void ask(int id, const std::string& method, Json params = Json::object()) const {
        say(dump({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
    }
    /// The next line; null at the end of the output.
    Json hear() {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        for (auto end = text_.find('\n'); end == std::string::npos; end = text_.find('\n')) {
            pollfd ready{out_, POLLIN, 0};
            if (std::chrono::steady_clock::now() >= until) box_.fail("no line came; so far: " + text_);
            if (::poll(&ready, 1, 1000) <= 0) continue;
            char chunk[65536];
            const auto size = ::read(out_, chunk, sizeof chunk);
            if (size <= 0) return {};
            text_.append(chunk, static_cast<std::size_t>(size));
        }
        const auto end = text_.find('\n');
        auto line = Json::parse(text_.substr(0, end));
        text_.erase(0, end + 1);
        return line;
    }
    /// The next line with that id; others are left out.
    Json hear_reply(int id) {
        for (;;) {
            auto line = hear();
            if (line.is_null() || line.value("id", Json()) == id) return line;
        }
    }
    void end_input() {
        if (in_ >= 0) ::close(std::exchange(in_, -1));
    }
    int status() {
        int status = 0;
        ::waitpid(std::exchange(pid_, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

  private:
    Sandbox& box_;
    int in_ = -1, out_ = -1;
    pid_t pid_ = -1;
    std::string text_;
};

}  // namespace orange::tests
