#include "client/dashboard/clipboard.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>
#include <vector>

#include "client/connection/child.hpp"
#include "common/base/system.hpp"
#include "common/posix/retried.hpp"

namespace orange::dashboard {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds k_patience{5};
constexpr std::size_t k_largest_picture = std::size_t{32} << 20;
constexpr std::string_view k_png = "\x89PNG\r\n\x1a\n";

struct Source {
    const char* variable;  ///< is set on a desktop that has this clipboard
    const char* package;
    std::vector<std::string> argv;
};

const std::vector<Source>& sources() {
    static const std::vector<Source> k_sources = {
        {"WAYLAND_DISPLAY", "wl-clipboard", {"wl-paste", "--no-newline", "--type", "image/png"}},
        {"DISPLAY", "xclip", {"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}}};
    return k_sources;
}

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

}  // namespace

Result<void> Clipboard::start() {
    if (out_) return {};
    std::string missing;
    for (const auto& source : sources()) {
        if (!is_set(source.variable)) continue;
        int ends[2];
        if (system::make_pipe(ends) != 0) return io_error("making a pipe", errno);
        UniqueFd out(ends[0]);
        const UniqueFd in(ends[1]);
        ::fcntl(out.get(), F_SETFL, ::fcntl(out.get(), F_GETFL) | O_NONBLOCK);
        connection::ChildOptions options;
        options.out = in.get();
        options.new_session = true;  // keys of the terminal must not reach it
        const auto program = connection::start_child(source.argv, options);
        if (!program) {
            if (missing.empty()) missing = source.package;
            continue;
        }
        program_ = *program;
        out_ = std::move(out);
        name_ = source.argv.front();
        bytes_.clear();
        until_ = steady_clock::now() + k_patience;
        return {};
    }
    if (missing.empty()) {
        return {
            ErrorCode::unavailable,
            "There is no clipboard to read here (WAYLAND_DISPLAY and DISPLAY are not set); give the path of a file"};
    }
    return {ErrorCode::unavailable, "To take pictures from the clipboard, install " + missing};
}

std::optional<Result<std::string>> Clipboard::receive() {
    using Picture = Result<std::string>;
    if (!out_) return std::nullopt;
    const auto refuse = [&](const std::string& why) {
        end();
        return Picture(Error(ErrorCode::unavailable, why));
    };
    for (;;) {
        char chunk[65536];
        const auto got = posix::retried([&] { return ::read(out_.get(), chunk, sizeof chunk); });
        if (got < 0 && errno == EAGAIN) {
            if (steady_clock::now() < until_) return std::nullopt;
            return refuse(name_ + " did not read the clipboard within 5 s");
        }
        if (got <= 0) break;
        bytes_.append(chunk, static_cast<std::size_t>(got));
        if (bytes_.size() > k_largest_picture) return refuse("The picture in the clipboard is larger than 32 MiB");
    }
    if (!bytes_.starts_with(k_png)) return refuse("The clipboard has no picture");
    end();
    return Picture(std::exchange(bytes_, {}));
}

std::optional<Clipboard::Time> Clipboard::deadline() const {
    return out_ ? std::optional(until_) : std::nullopt;
}

/// Ends the program, which has nothing more to say.
void Clipboard::end() {
    out_.reset();
    if (program_ <= 0) return;
    ::kill(program_, SIGKILL);
    (void)posix::retried([&] { return ::waitpid(program_, nullptr, 0); });
    program_ = -1;
}

}  // namespace orange::dashboard
