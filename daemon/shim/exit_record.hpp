#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"
#include "common/base/result.hpp"
#include "common/model/group_use.hpp"

namespace orange {

/// The end of a run. orange-agent writes it durably before anything else happens. The daemon waits for the end of
/// orange-agent's process, and then reads this file. Keys are on disk and are never renamed.
struct ExitRecord {
    RunId run;
    int exit_status = 0;
    int signal = 0;
    std::string error;
    Timestamp ended_at{};
    std::optional<GroupUse> use = {};
    bool not_started = false;
    int passed_on = 0;

    void describe(auto& v) {
        v.required("run", run, "the run's id");
        v.required("exit_status", exit_status, "as a shell shows it: 128 + signal; 127, 126: could not be started");
        v.optional("signal", signal, "that ended it; 0: none");
        v.optional("error", error, "why it could not be started; empty mostly");
        v.optional("ended_at", ended_at, "when it ended");
        v.optional("use", use, "what the kernel had counted for its control group; absent: it had none of its own");
        v.sparse("not_started", not_started, "its executor ended before the agent's own shim had begun");
        v.sparse("passed_on", passed_on, "a signal from outside that its shim passed on to the agent; absent: none");
    }
    bool operator==(const ExitRecord&) const = default;
};

std::string exit_record_text(const ExitRecord& record);
Result<ExitRecord> exit_record_from_text(std::string_view text);

/// The folder of a run in an executor: its shim on the far side reads spec.json in it, and writes started and exit, and
/// another text into alive every half minute. The daemon writes into `daemon` where it answers runs on other machines.
inline constexpr const char *k_inner_spec = "spec.json", *k_inner_started = "started", *k_inner_exit = "exit",
                            *k_inner_daemon = "daemon", *k_inner_alive = "alive";

/// Records that the shim on the far side has begun; written before its agent is started. Keys are on disk and are never
/// renamed.
struct StartRecord {
    RunId run;
    Timestamp started_at{};
    std::string host;

    void describe(auto& v) {
        v.required("run", run, "the run's id");
        v.required("started_at", started_at, "when, by the clock of the far side");
        v.sparse("host", host, "name of the machine");
    }
    bool operator==(const StartRecord&) const = default;
};

Result<StartRecord> start_record_from_text(std::string_view text);
/// Writes like write_exit_record().
Result<void> write_start_record(const std::filesystem::path& file, const StartRecord& record);

/// Returns the file in which the shim in a window names the pid of the agent's program once that runs, by the file of
/// the run's exit record. A daemon that waits for the start reads it.
inline std::filesystem::path begun_file(std::filesystem::path exit_file) {
    return exit_file.replace_extension(".begun");
}
/// Writes that file, which need not survive a power failure.
Result<void> write_begun(const std::filesystem::path& exit_file, std::int64_t program);
/// Returns the pid in the text of such a file; nothing if there is none.
std::optional<std::int64_t> begun_from_text(std::string_view text);

/// Reads a record; not_found if there is none (yet).
Result<ExitRecord> read_exit_record(const std::filesystem::path& file);

/// Writes a record whole or not at all. It is on disk when this returns: temporary file, fsync, rename, fsync of the
/// folder.
Result<void> write_exit_record(const std::filesystem::path& file, const ExitRecord& record);

}  // namespace orange
