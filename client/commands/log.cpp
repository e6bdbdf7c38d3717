#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "client/commands/watch.hpp"
#include "client/output/watch.hpp"
#include "common/base/try.hpp"
#include "common/log/query.hpp"
#include "common/posix/fd.hpp"

namespace orange::commands {
namespace {

constexpr std::chrono::milliseconds k_between_looks{200};

void put_line(const Context& context, const log::Line& line) {
    if (!context.json) {
        output::put_now(output::log_line(line, context.style));
    } else {
        output::put_now(dump(line.json.is_object() ? line.json : Json{{"raw", line.text}}) + "\n");
    }
}

/// Reads orange.log from its present end on, through rotations: it reads an open file to its end before it opens the
/// new one.
class LogFile {
  public:
    explicit LogFile(std::filesystem::path file) : file_(std::move(file)) { open(true); }

    /// Returns the next complete line; nothing if there is none yet.
    std::optional<std::string> next() {
        for (;;) {
            if (const auto end = buffer_.find('\n'); end != std::string::npos) {
                auto line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                return line;
            }
            if (read()) continue;
            if (!replaced()) return std::nullopt;
            if (read()) continue;  // text that was written between the last read and the rotation
            open(false);
        }
    }

  private:
    void open(bool at_end) {
        fd_.reset(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        if (at_end) ::lseek(fd_.get(), 0, SEEK_END);
    }
    bool read() {
        char chunk[16384];
        const auto n = ::read(fd_.get(), chunk, sizeof chunk);
        if (n > 0) buffer_.append(chunk, static_cast<std::size_t>(n));
        return n > 0;
    }
    bool replaced() const {
        struct stat now {};
        struct stat mine {};
        if (::stat(file_.c_str(), &now) != 0) return false;
        if (::fstat(fd_.get(), &mine) != 0) return true;
        return now.st_ino != mine.st_ino || now.st_dev != mine.st_dev;
    }

    std::filesystem::path file_;
    UniqueFd fd_;
    std::string buffer_;
};

Result<log::Query> query_of(const rpc::LogTail& params) {
    log::Query query;
    query.lines = static_cast<std::size_t>(params.lines);
    query.level = params.level.value_or("");
    query.component = params.component.value_or("");
    query.grep = params.grep.value_or("");
    if (params.since) {
        query.since = log::time_from(*params.since, SystemClock().now());
        if (!query.since) {
            return {ErrorCode::invalid_argument,
                    "--since must be an age (90s, 10m, 3h, 2d) or a time (2026-01-02T03:04:05Z), not \"" +
                        *params.since + "\""};
        }
    }
    return query;
}

}  // namespace

Status log(Context& context, const rpc::LogTail& params, bool follow_on) {
    TRY(const auto query, query_of(params));
    LogFile file(
        context.paths.log());  // opened before the search, so that a line in between appears twice rather than never
    TRY(auto found, log::search(context.paths.log(), query));
    if (found.lines.empty() && !follow_on && !context.json)
        output::print_error("orange: no matching lines in the log\n");
    for (const auto& line : found.lines) put_line(context, line);
    std::string last = found.lines.empty() ? std::string() : found.lines.back().text;
    while (follow_on && !output::reader_is_gone()) {
        auto text = file.next();
        if (!text) {
            last.clear();
            std::this_thread::sleep_for(k_between_looks);
            continue;
        }
        const auto line = log::parse_line(std::move(*text));
        if (line.text != last && log::matches(query, line)) put_line(context, line);
    }
    return 0;
}

}  // namespace orange::commands
