#include "daemon/log/log.hpp"

#include <poll.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "common/base/clock.hpp"
#include "common/model/json.hpp"
#include "daemon/log/log_file.hpp"

namespace orange::log {
namespace {

constexpr std::size_t k_rotate_at = 10 * 1024 * 1024;
constexpr std::size_t k_kept = 5;

spdlog::level::level_enum level_of(Level level) {
    switch (level) {
        case Level::debug:
            return spdlog::level::debug;
        case Level::info:
            return spdlog::level::info;
        case Level::warn:
            return spdlog::level::warn;
        case Level::error:
            return spdlog::level::err;
    }
    return spdlog::level::info;
}

constexpr std::string_view name_of(Level level) {
    switch (level) {
        case Level::debug:
            return "debug";
        case Level::info:
            return "info";
        case Level::warn:
            return "warn";
        case Level::error:
            return "error";
    }
    return "info";
}

std::string line_of(Level level, std::string_view component, std::string_view message, const Fields& fields) {
    Json line = {
        {"ts", to_rfc3339(SystemClock{}.now())}, {"level", name_of(level)}, {"component", component}, {"msg", message}};
    for (const auto& [key, value] : fields) line[key] = value;
    return dump(line);
}

/// Writes to standard error, which may be a full pipe: the rest of a line that does not fit is dropped.
void to_stderr(std::string_view line) {
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return;
    // A pipe with room takes PIPE_BUF bytes without blocking. Longer lines are only in the file.
    constexpr std::size_t k_at_once = 4096;
    if (::write(STDERR_FILENO, line.data(), std::min(line.size(), k_at_once)) < 0) return;
}

using Sink = spdlog::sinks::base_sink<std::mutex>;
/// The message that a sink takes. spdlog names its type only among its details.
template <class Taken>
Taken taken_by(void (spdlog::sinks::sink::*)(const Taken&));
using Message = decltype(taken_by(&spdlog::sinks::sink::log));

class StderrSink final : public Sink {
    void sink_it_(const Message& msg) override {
        to_stderr(std::string(msg.payload.data(), msg.payload.size()) + "\n");
    }
    void flush_() override {}
};

/// Reports once on standard error when lines begin to be dropped, and once in the file when it can be written again.
class FileSink final : public Sink {
  public:
    explicit FileSink(const std::string& path) : file_(path, k_rotate_at, k_kept) {}
    const LogFile& file() const { return file_; }

  private:
    void sink_it_(const Message& msg) override {
        const auto line = std::string(msg.payload.data(), msg.payload.size()) + "\n";
        const auto missing = file_.missing();
        if (missing > 0) {
            const auto text = std::to_string(missing) + (missing == 1 ? " line is" : " lines are") +
                              " missing here: " + file_.problem();
            file_.write(line_of(Level::warn, "log", text, {}) + "\n" +
                        line);  // one write, so that both lines are in the file or neither
        } else if (!file_.write(line)) {
            const auto text = "lines of the log are missing from now on: " + file_.problem();
            to_stderr(line_of(Level::warn, "log", text, {}) + "\n");
        }
    }
    void flush_() override {}

    LogFile file_;
};

std::shared_ptr<spdlog::logger> make(spdlog::sink_ptr sink, Level least) {
    auto logger = std::make_shared<spdlog::logger>("orange", std::move(sink));
    logger->set_level(level_of(least));
    return logger;
}

std::shared_ptr<spdlog::logger>& current() {
    static auto logger = make(std::make_shared<StderrSink>(), Level::warn);
    return logger;
}

std::shared_ptr<FileSink>& current_file() {
    static std::shared_ptr<FileSink> file;
    return file;
}

}  // namespace

void open(const std::string& path, Level least) {
    current_file() = std::make_shared<FileSink>(path);
    current() = make(current_file(), least);
}

std::optional<std::string> problem() {
    const auto& file = current_file();
    if (!file || file->file().missing() == 0) return std::nullopt;
    return file->file().problem() + "; lines missing so far: " + std::to_string(file->file().missing());
}

std::optional<Level> level_from(std::string_view name) {
    for (const auto level : {Level::debug, Level::info, Level::warn, Level::error}) {
        if (name == name_of(level)) return level;
    }
    return std::nullopt;
}

void set_level(Level least) {
    current()->set_level(level_of(least));
}

void write(Level level, std::string_view component, std::string_view message, const Fields& fields) {
    if (!current()->should_log(level_of(level))) return;
    current()->log(level_of(level), spdlog::string_view_t(line_of(level, component, message, fields)));
}

}  // namespace orange::log
