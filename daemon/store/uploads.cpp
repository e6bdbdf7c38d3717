#include "daemon/store/uploads.hpp"

#include <algorithm>

#include "common/base/ids.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "daemon/store/task_folder.hpp"

namespace orange::store {
namespace {

constexpr std::size_t k_longest_name = 100, k_longest_ending = 20, k_longest_origin = 200;
constexpr std::size_t k_upload_id_length = 16;

/// Returns the name with `more` before its ending, cut if necessary.
std::string with_before_ending(std::string_view name, const std::string& more) {
    const auto dot = name.rfind('.');
    const bool has_ending = dot != name.npos && dot > 0 && name.size() - dot <= k_longest_ending;
    const auto ending = has_ending ? name.substr(dot) : std::string_view();
    const auto stem = name.substr(0, name.size() - ending.size());
    return std::string(first_bytes(stem, k_longest_name - ending.size() - more.size())) + more + std::string(ending);
}

Error is_too_large(const std::string& name, std::int64_t limit) {
    return {ErrorCode::invalid_argument, name + " is larger than " + size_text(limit) +
                                             ", the limit for a file. To allow larger ones, set file_limit in "
                                             "config.yml, and run: orange daemon reload"};
}

Error is_busy(const std::string& limit) {
    return {ErrorCode::conflict, limit +
                                     " are on their way and not complete, which is the limit. Send them to their end, "
                                     "or wait for an hour: then they are removed"};
}

Error no_such_upload(const std::string& id) {
    return {ErrorCode::not_found, "there is no file \"" + printable(id) +
                                      "\" that this caller has sent. One that nothing uses is removed after an hour, "
                                      "and when the daemon starts. Send it again"};
}

}  // namespace

std::string harmless_name(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
    auto harmless = printable(trim(name));
    std::ranges::replace_if(
        harmless, [](char c) { return c == '`' || c == '\\'; }, '_');
    const auto begin = std::min(harmless.find_first_not_of(".-"), harmless.size());
    std::fill_n(harmless.begin(), begin, '_');
    return harmless.empty() ? "file" : with_before_ending(harmless, {});
}

std::string numbered_name(std::string_view name, int number) {
    return with_before_ending(name, "-" + std::to_string(number));
}

std::string shown_origin(std::string_view origin) {
    return ellipsized(printable(trim(origin)), k_longest_origin);
}

Result<Uploads::Place> Uploads::find(const std::string& id) {
    const auto found = std::ranges::find(all_, id, &Upload::id);
    if (found == all_.end()) return no_such_upload(id);
    return found;
}

Result<Uploads::Place> Uploads::find(const std::string& id, const std::string& owner) {
    auto found = find(id);
    if (found && (*found)->owner != owner) return no_such_upload(id);
    return found;
}

void Uploads::drop(Place upload) {
    (void)files_.remove(folder_ / upload->id);  // otherwise the next daemon removes it
    all_.erase(upload);
}

Result<void> Uploads::make_room(const std::string& owner) {
    const auto shares = [&](const Upload& each) { return (each.owner == k_human) == (owner == k_human); };
    for (;;) {
        std::size_t count = 0;
        std::int64_t bytes = 0;
        for (const auto& each : all_) {
            if (!shares(each)) continue;
            ++count;
            bytes += each.whole;
        }
        const bool are_many = count > k_most_uploads;
        if (!are_many && bytes <= k_most_upload_bytes) return {};
        const auto oldest = std::ranges::find_if(all_, [&](const auto& each) { return shares(each) && each.complete; });
        if (oldest == all_.end()) {
            return is_busy(are_many ? counted(k_most_uploads, "file") : size_text(k_most_upload_bytes) + " of files");
        }
        drop(oldest);
    }
}

Result<std::string> Uploads::begin(const std::string& owner, const Piece& piece) {
    if (piece.offset != 0) return Error(ErrorCode::invalid_argument, "the first piece of a file has the offset 0");
    if (trim(piece.name).empty()) {
        return Error(ErrorCode::invalid_argument, "the first piece of a file needs its \"name\"");
    }
    auto id = random_id(k_upload_id_length);
    all_.push_back({id, owner, harmless_name(piece.name), shown_origin(piece.origin), 0,
                    std::max<std::int64_t>(piece.size, 0), async::now(), false});
    return id;
}

Result<Uploads::Progress> Uploads::put(const std::string& owner, Piece piece, std::int64_t file_limit) {
    remove_old();
    if (piece.bytes.empty() && !piece.last) {
        return Error(ErrorCode::invalid_argument, "a piece without bytes can only be the last one");
    }
    if (!piece.upload) {
        TRY(piece.upload, begin(owner, piece));
    }
    TRY(const auto upload, find(*piece.upload, owner));
    if (upload->complete) return Error(ErrorCode::conflict, upload->name + " is complete: nothing can be added to it");
    if (piece.offset != upload->size) {
        return Error(ErrorCode::invalid_argument, "the next piece of " + upload->name + " begins at the offset " +
                                                      std::to_string(upload->size) + ", not at " +
                                                      std::to_string(piece.offset));
    }
    const auto size = upload->size + static_cast<std::int64_t>(piece.bytes.size());
    upload->whole = std::max(upload->whole, size);
    auto added = make_room(owner);
    if (upload->whole > file_limit) added = is_too_large(upload->name, file_limit);
    if (added) added = files_.append(folder_ / upload->id, piece.bytes, Durability::unsynced);  // give() syncs it
    if (!added) {
        drop(upload);
        return added.error();
    }
    upload->size = size;
    upload->complete = piece.last;
    if (piece.last) upload->whole = size;
    return Progress{upload->id, size};
}

Result<void> Uploads::check(const std::vector<std::string>& ids, const std::string& owner) {
    remove_old();
    if (ids.size() > k_most_files) {
        return Error(ErrorCode::invalid_argument, "one call takes at most " + std::to_string(k_most_files) +
                                                      " files. Pack them into an archive, or give some of them later");
    }
    for (const auto& id : ids) {
        TRY(const auto upload, find(id, owner));
        if (upload->complete) continue;
        return Error(ErrorCode::conflict,
                     upload->name + " was not sent to its end: it has " + size_text(upload->size) + " so far");
    }
    return {};
}

Result<void> Uploads::check_room(const std::vector<std::string>& ids, const Path& into) {
    TRY(const auto names, files_.list(into));
    std::int64_t bytes = 0;
    for (const auto& name : names) {
        if (const auto facts = files_.facts_of(into / name)) bytes += static_cast<std::int64_t>(facts->size);
    }
    for (const auto& id : ids) {
        if (const auto upload = find(id)) bytes += (*upload)->size;
    }
    if (names.size() + ids.size() <= k_most_task_files && bytes <= k_most_task_bytes) return {};
    return Error(ErrorCode::conflict, "a task gets at most " + counted(k_most_task_files, "file") + ", of " +
                                          size_text(k_most_task_bytes) +
                                          " together. Remove those that its agent does not need any more:\n  ls -l " +
                                          shell_word(into.string()));
}

Result<std::string> Uploads::move(Place upload, const Path& into) {
    auto name = upload->name;
    for (int number = 2;; ++number) {
        const auto moved = files_.move_new(folder_ / upload->id, into / name);
        if (moved) return name;
        if (moved.error().code != ErrorCode::conflict) return moved.error();
        name = numbered_name(upload->name, number);
    }
}

Result<std::vector<Uploads::Given>> Uploads::give(const std::vector<std::string>& ids, const Path& task_folder) {
    TRY(check_room(ids, task_folder / k_files));
    std::vector<Given> given;
    for (const auto& id : ids) {
        const auto upload = find(id);
        auto name = upload ? move(*upload, task_folder / k_files) : Result<std::string>(upload.error());
        if (!name) {
            take_back(std::move(given), task_folder);
            return name.error();
        }
        given.push_back({std::move(**upload), std::move(*name)});
        all_.erase(*upload);
    }
    return given;
}

void Uploads::take_back(std::vector<Given> given, const Path& task_folder) {
    for (auto& [upload, name] : given) {
        if (files_.move_new(task_folder / k_files / name, folder_ / upload.id)) all_.push_back(std::move(upload));
    }
}

void Uploads::remove_old() {
    for (auto each = all_.begin(); each != all_.end();) {
        const auto upload = each++;
        if (async::now() - upload->begun >= k_upload_lifetime) drop(upload);
    }
}

void Uploads::remove_left() {
    const auto names = files_.list(folder_);
    for (const auto& name : names.value_or({})) {
        if (!find(name)) (void)files_.remove(folder_ / name);
    }
}

}  // namespace orange::store
