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
constexpr int k_most_numbers = 1000;

/// Returns the first character of the text, which is not empty; one byte if it is no UTF-8.
std::string_view first_character(std::string_view text) {
    for (std::size_t length = 1; length <= 4 && length <= text.size(); ++length) {
        if (is_valid_utf8(text.substr(0, length))) return text.substr(0, length);
    }
    return text.substr(0, 1);
}

/// Returns as many whole characters of a valid text as fit.
std::string_view fitted(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
    return text.substr(0, bytes);
}

/// Returns the name with `more` before its ending, cut if necessary.
std::string with_before_ending(std::string_view name, const std::string& more) {
    const auto dot = name.rfind('.');
    const bool has_ending = dot != name.npos && dot > 0 && name.size() - dot <= k_longest_ending;
    const auto ending = has_ending ? name.substr(dot) : std::string_view();
    const auto stem = name.substr(0, name.size() - ending.size());
    return std::string(fitted(stem, k_longest_name - ending.size() - more.size())) + more + std::string(ending);
}

Error is_too_large(const std::string& name, std::int64_t limit) {
    return {ErrorCode::invalid_argument, name + " is larger than " + size_for_people(limit) +
                                             ", the limit for a file. To allow larger ones, set file_limit in "
                                             "config.yml, and run: orange daemon reload"};
}

Error has_too_many(const std::string& limit) {
    return {ErrorCode::conflict, limit +
                                     " of files were sent and are not used yet, which is the limit. Use them, or wait "
                                     "for an hour: then they are removed"};
}

Error no_such_upload(const std::string& id) {
    return {ErrorCode::not_found, "there is no file \"" + printable(id) +
                                      "\" that this caller has sent. One that nothing uses is removed after an hour, "
                                      "and when the daemon starts. Send it again"};
}

}  // namespace

std::string harmless_name(std::string_view name) {
    if (const auto slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
    name = trim(name);
    std::string harmless;
    bool begins = true;
    while (!name.empty()) {
        const auto character = first_character(name);
        name.remove_prefix(character.size());
        begins = begins && (character == "." || character == "-");
        const bool is_good = !begins && character != "`" && printable(character) == character;
        harmless += is_good ? character : "_";
    }
    return harmless.empty() ? "file" : with_before_ending(harmless, {});
}

std::string numbered_name(std::string_view name, int number) {
    return with_before_ending(name, "-" + std::to_string(number));
}

std::string shown_origin(std::string_view origin) {
    return ellipsized(printable(trim(origin)), k_longest_origin);
}

std::string size_for_people(std::int64_t bytes) {
    constexpr std::int64_t k_kibibyte = 1024;
    if (bytes < k_kibibyte) return counted(static_cast<std::size_t>(bytes), "byte");
    if (bytes < k_mebibyte) return std::to_string(bytes / k_kibibyte) + " KiB";
    const auto tenths = bytes * 10 / k_mebibyte;
    return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) + " MiB";
}

Uploads::Claim::~Claim() {
    for (const auto& id : ids_) {
        const auto found = all_->find(id);
        if (found == all_->end()) continue;
        found->second.claimed = false;
        if (!found->second.given.empty()) all_->erase(found);
    }
}

Uploads::Upload* Uploads::find(const std::string& id, const std::string& owner) {
    const auto found = all_->find(id);
    return found == all_->end() || found->second.owner != owner ? nullptr : &found->second;
}

void Uploads::drop(const std::string& id) {
    (void)files_.remove(folder_ / id);  // otherwise the next daemon removes it
    all_->erase(id);
}

Result<std::string> Uploads::begin(const std::string& owner, const Piece& piece) {
    if (trim(piece.name).empty()) {
        return Error(ErrorCode::invalid_argument, "the first piece of a file needs its \"name\"");
    }
    const auto has = std::ranges::count_if(*all_, [&](const auto& each) { return each.second.owner == owner; });
    if (static_cast<std::size_t>(has) >= k_most_uploads) return has_too_many(std::to_string(k_most_uploads));
    auto id = random_id(k_upload_id_length);
    (*all_)[id] = {owner, harmless_name(piece.name), shown_origin(piece.origin)};
    return id;
}

Result<Uploads::Progress> Uploads::put(const std::string& owner, Piece piece, std::int64_t file_limit) {
    remove_old();
    const auto more = static_cast<std::int64_t>(piece.bytes.size());
    if (!piece.upload && piece.offset != 0) {
        return Error(ErrorCode::invalid_argument, "the first piece of a file has the offset 0");
    }
    if (!piece.upload) {
        TRY(piece.upload, begin(owner, piece));
    }
    const auto id = *piece.upload;
    auto* upload = find(id, owner);
    if (!upload) return no_such_upload(id);
    if (upload->complete) return Error(ErrorCode::conflict, upload->name + " is complete: nothing can be added to it");
    if (piece.offset != upload->size) {
        return Error(ErrorCode::invalid_argument, "the next piece of " + upload->name + " begins at the offset " +
                                                      std::to_string(upload->size) + ", not at " +
                                                      std::to_string(piece.offset));
    }
    std::int64_t all = more;
    for (const auto& [other, each] : *all_) all += each.owner == owner ? each.size : 0;
    Result<void> added;
    if (upload->size + more > file_limit) added = is_too_large(upload->name, file_limit);
    if (added && all > k_most_upload_bytes) added = has_too_many(size_for_people(k_most_upload_bytes));
    if (added) added = files_.append(folder_ / id, piece.bytes);
    if (!added) {
        drop(id);
        return added.error();
    }
    upload->size += more;
    upload->complete = piece.last;
    upload->written = async::now();
    return Progress{id, upload->size};
}

Result<Uploads::Claim> Uploads::claim(const std::vector<std::string>& ids, const std::string& owner) {
    remove_old();
    if (ids.size() > k_most_files) {
        return Error(ErrorCode::invalid_argument, "one call takes at most " + std::to_string(k_most_files) +
                                                      " files. Pack them into an archive, or give some of them later");
    }
    Claim claim(all_);
    for (const auto& id : ids) {
        auto* upload = find(id, owner);
        if (!upload) return no_such_upload(id);
        if (!upload->complete) {
            return Error(ErrorCode::conflict, upload->name + " was not sent to its end: it has " +
                                                  size_for_people(upload->size) + " so far");
        }
        if (upload->claimed) {
            return Error(ErrorCode::conflict,
                         upload->name + " is named twice, or another call uses it. Send it once more for this one");
        }
        const auto facts = files_.facts_of(folder_ / id);
        const bool is_whole =
            facts && facts->kind == FileFacts::Kind::file && facts->size == static_cast<std::uintmax_t>(upload->size);
        if (!is_whole) {
            drop(id);
            return no_such_upload(id);
        }
        upload->claimed = true;
        claim.ids_.push_back(id);
    }
    return claim;
}

Result<void> Uploads::move(const std::string& id, Upload& upload, const Path& into) {
    auto name = upload.name;
    for (int number = 2;; ++number) {
        auto moved = files_.move_new(folder_ / id, into / name);
        if (moved) upload.given = name;
        const bool is_taken = !moved && moved.error().code == ErrorCode::conflict;
        if (!is_taken || number > k_most_numbers) return moved;
        name = numbered_name(upload.name, number);
    }
}

Result<std::vector<Uploads::Given>> Uploads::give(const std::vector<std::string>& ids, const Path& task_folder) {
    std::vector<Given> given;
    for (const auto& id : ids) {
        const auto found = all_->find(id);
        auto moved = Result<void>(no_such_upload(id));
        if (found != all_->end()) moved = move(id, found->second, task_folder / k_files);
        if (!moved) {
            take_back(ids, task_folder);
            return moved.error();
        }
        given.push_back({found->second.given, found->second.origin, found->second.size});
    }
    return given;
}

void Uploads::take_back(const std::vector<std::string>& ids, const Path& task_folder) {
    for (const auto& id : ids) {
        const auto found = all_->find(id);
        if (found == all_->end() || found->second.given.empty()) continue;
        const auto moved = files_.move_new(task_folder / k_files / found->second.given, folder_ / id);
        if (!moved) all_->erase(found);
        if (moved) found->second.given.clear();
    }
}

void Uploads::remove_old() {
    std::vector<std::string> old;
    for (const auto& [id, upload] : *all_) {
        if (!upload.claimed && async::now() - upload.written >= k_upload_lifetime) old.push_back(id);
    }
    for (const auto& id : old) drop(id);
}

void Uploads::remove_left() {
    const auto names = files_.list(folder_);
    for (const auto& name : names.value_or({})) {
        if (!all_->contains(name)) (void)files_.remove(folder_ / name);
    }
}

}  // namespace orange::store
