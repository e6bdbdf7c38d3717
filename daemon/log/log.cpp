#include "daemon/log/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

#include "common/base/clock.hpp"
#include "common/model/json.hpp"

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

std::shared_ptr<spdlog::logger> make(spdlog::sink_ptr sink, Level least) {
    auto logger = std::make_shared<spdlog::logger>("orange", std::move(sink));
    logger->set_pattern("%v");  // the line is a JSON object already
    logger->set_level(level_of(least));
    logger->flush_on(spdlog::level::info);
    return logger;
}

std::shared_ptr<spdlog::logger>& current() {
    static auto logger = make(std::make_shared<spdlog::sinks::stderr_sink_st>(), Level::warn);
    return logger;
}

}  // namespace

void open(const std::string& path, Level least) {
    try {
        current() = make(std::make_shared<spdlog::sinks::rotating_file_sink_st>(path, k_rotate_at, k_kept), least);
    } catch (const spdlog::spdlog_ex& e) {
        write(Level::error, "log", std::string("cannot open the log, writing to stderr: ") + e.what());
    }
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
    Json line = {
        {"ts", to_rfc3339(SystemClock{}.now())}, {"level", name_of(level)}, {"component", component}, {"msg", message}};
    for (const auto& [key, value] : fields) line[key] = value;
    current()->log(level_of(level), "{}", dump(line));
}

}  // namespace orange::log
