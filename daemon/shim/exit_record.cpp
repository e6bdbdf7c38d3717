#include "daemon/shim/exit_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/model/fields.hpp"
#include "common/posix/dir.hpp"
#include "common/posix/read.hpp"
#include "common/posix/write.hpp"

namespace orange {
namespace {

constexpr std::size_t k_longest_record = 64 * 1024;

/// <project>/<id>/run below tasks/, where an agent may have put a link in a folder's place: none is followed. The
/// folder of a run in an executor is one more.
constexpr int k_own_folders = 3;

/// Opens a folder without following links in its last `own_folders` names.
Result<UniqueFd> open_own(const std::filesystem::path& folder, int own_folders) {
    auto base = folder;
    for (int i = 0; i < own_folders; ++i) base = base.parent_path();
    const UniqueFd opened(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return io_error("opening the folder " + base.string(), errno);
    return posix::open_folder_below(opened.get(), folder.lexically_relative(base).string(), folder.string());
}

/// Opens the folder of a run's file.
Result<UniqueFd> folder_of(const std::filesystem::path& file) {
    const auto path = file.parent_path();
    return open_own(path, k_own_folders + (path.filename() == "run" ? 0 : 1));
}

Result<void> write_record(const std::filesystem::path& file, std::string_view text) {
    TRY(const auto folder, folder_of(file));
    const auto name = file.filename().string(), temporary = name + ".tmp";
    // A killed attempt may have left this file. No other process uses it, because a run has one shim.
    ::unlinkat(folder.get(), temporary.c_str(), 0);
    int error = posix::replace_at(folder.get(), name, temporary, text);
    if (error == 0 && ::fsync(folder.get()) != 0) error = errno;
    return error == 0 ? Result<void>{} : io_error("writing " + file.string(), error);
}

}  // namespace

std::string exit_record_text(const ExitRecord& record) {
    return dump(written(record)) + "\n";
}

Result<ExitRecord> exit_record_from_text(std::string_view text) {
    const auto json = parse_json(text);
    auto record = json ? read_as<ExitRecord>(*json, "", UnknownKeys::ignore) : Result<ExitRecord>(json.error());
    if (record && record->run.empty()) record = Error(ErrorCode::invalid_argument, "\"run\" is empty");
    if (!record) return in_context("exit record", record.error());
    return record;
}

/// An agent in an executor can write the file: a pipe, a link and an endless file are no records.
Result<ExitRecord> read_exit_record(const std::filesystem::path& file) {
    const UniqueFd opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened && errno == ENOENT) return Error(ErrorCode::not_found, "there is no " + file.string());
    std::string text;
    const int error = opened ? posix::read_at_most(opened.get(), k_longest_record, text) : errno;
    return error == 0 ? exit_record_from_text(text) : io_error("reading " + file.string(), error);
}

Result<void> write_exit_record(const std::filesystem::path& file, const ExitRecord& record) {
    return write_record(file, exit_record_text(record));
}

Result<void> write_begun(const std::filesystem::path& exit_file, std::int64_t program) {
    const auto file = begun_file(exit_file);
    TRY(const auto folder, folder_of(file));
    const auto text = std::to_string(program) + "\n";
    const int error = posix::write_new(folder.get(), file.filename().string(), text, 0600, posix::Sync::no);
    return error == 0 ? Result<void>{} : io_error("writing " + file.string(), error);
}

std::optional<std::int64_t> begun_from_text(std::string_view text) {
    const auto pid = text.ends_with('\n') ? whole_number(text.substr(0, text.size() - 1)) : std::nullopt;
    return pid && *pid > 0 ? pid : std::nullopt;
}

Result<StartRecord> start_record_from_text(std::string_view text) {
    const auto json = parse_json(text);
    auto record = json ? read_as<StartRecord>(*json, "", UnknownKeys::ignore) : Result<StartRecord>(json.error());
    if (!record) return in_context("start record", record.error());
    return record;
}

Result<void> write_start_record(const std::filesystem::path& file, const StartRecord& record) {
    return write_record(file, dump(written(record)) + "\n");
}

}  // namespace orange
