#include "daemon/agents/usage.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "common/base/text.hpp"
#include "common/model/json.hpp"
#include "daemon/agents/binds.hpp"
#include "daemon/agents/events.hpp"
#include "daemon/agents/skills.hpp"

// Sums are right whatever happens to the files, because each id counts once. So a file that was replaced is read from
// its beginning, and a new daemon reads all files again.
namespace orange::agents {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view k_session = "{session}", k_session_8 = "{session_8}", k_transcript = "{transcript}";
constexpr std::int64_t k_most_in_record = 1'000'000'000;
constexpr double k_most_dollars = 1e6, k_millionths = 1e6;
constexpr std::size_t k_longest_record_id = 200, k_longest_model = 100, k_longest_told = 4096;
constexpr std::size_t k_most_models = 16;  // a program that invents names makes no more rows
constexpr std::size_t k_most_names = 10'000, k_most_folders = 1000;

/// Returns the member of a dotted path; nullptr if there is none, or if it is null. A name with "?" is left out if
/// there is no such member.
const Json* member_at(const Json& line, std::string_view path) {
    const Json* at = &line;
    for (auto name : split(path, '.')) {
        const bool may_be_missing = name.ends_with('?');
        if (may_be_missing) name.remove_suffix(1);
        if (!at->is_object()) return nullptr;
        const auto found = at->find(std::string(name));
        const bool is_missing = found == at->end() || found->is_null();
        if (is_missing && !may_be_missing) return nullptr;
        if (!is_missing) at = &*found;
    }
    return at;
}

bool has_texts(const Json& line, const std::map<std::string, std::string>& each) {
    return std::ranges::all_of(each, [&](const std::pair<const std::string, std::string>& wanted) {
        const auto* member = member_at(line, wanted.first);
        if (member == nullptr || member->is_structured()) return false;
        return (member->is_string() ? member->get<std::string>() : dump(*member)) == wanted.second;
    });
}

/// Returns the number of tokens; `absent` if there is no such member; nothing for an impossible number.
std::optional<std::int64_t> tokens_at(const Json& line, const std::string& path, std::optional<std::int64_t> absent) {
    const auto* member = path.empty() ? nullptr : member_at(line, path);
    if (member == nullptr) return absent;
    if (!member->is_number_integer()) return std::nullopt;
    const bool is_huge = member->is_number_unsigned() && member->get<std::uint64_t>() > k_most_in_record;
    if (is_huge || member->get<std::int64_t>() < 0) return std::nullopt;
    return member->get<std::int64_t>();
}

/// The time of a record.
struct RecordTime {
    std::optional<Timestamp> at;  ///< nothing: the line has no time
    bool is_whole_second = false;
    bool is_wrong = false;
};

RecordTime time_at(const Json& line, const std::string& path) {
    constexpr double k_first_milliseconds = 1e11, k_last = 1e14;  // seconds of the year 5138; milliseconds, too
    const auto* member = path.empty() ? nullptr : member_at(line, path);
    if (member == nullptr) return {};
    if (member->is_string()) {
        const auto text = member->get<std::string>();
        const auto time = from_rfc3339(text);
        return {time, text.find('.') == std::string::npos, !time};
    }
    const auto number = member->is_number() ? member->get<double>() : -1;
    if (!(number >= 0) || number > k_last) return {{}, false, true};
    const bool is_milliseconds = number >= k_first_milliseconds;
    const auto milliseconds = static_cast<std::int64_t>(is_milliseconds ? number : number * 1000);
    return {Timestamp(std::chrono::milliseconds(milliseconds)), !is_milliseconds && member->is_number_integer()};
}

bool is_of_run(const RecordTime& time, Timestamp began) {
    if (time.is_wrong) return false;
    if (!time.at) return true;
    return *time.at >= (time.is_whole_second ? Timestamp(std::chrono::floor<std::chrono::seconds>(began)) : began);
}

std::optional<std::int64_t> money_at(const Json& line, const std::string& path) {
    const auto* member = path.empty() ? nullptr : member_at(line, path);
    if (member == nullptr) return 0;
    const auto dollars = member->is_number() ? member->get<double>() : -1;
    if (!(dollars >= 0) || dollars > k_most_dollars) return std::nullopt;
    return std::llround(dollars * k_millionths);
}

/// Returns the normal form: uncached input, and output with reasoning. Nothing if a number is impossible.
std::optional<Tokens> tokens_in_line(const UsageSigns& signs, const Json& line) {
    const auto input = tokens_at(line, signs.input, std::nullopt), output = tokens_at(line, signs.output, std::nullopt);
    const auto cache_read = tokens_at(line, signs.cache_read, 0), cache_write = tokens_at(line, signs.cache_write, 0);
    const auto reasoning = tokens_at(line, signs.reasoning, 0);
    if (!input || !output || !cache_read || !cache_write || !reasoning) return std::nullopt;
    const auto uncached = signs.input_has_cached ? *input - *cache_read - *cache_write : *input;
    if (uncached < 0) return std::nullopt;
    return Tokens{1, uncached, *cache_read, *cache_write, *output + *reasoning};
}

std::int64_t total_of(const Tokens& tokens) {
    return tokens.input + tokens.cache_read + tokens.cache_write + tokens.output;
}

std::string text_at(const Json& line, const std::string& path) {
    const auto* member = path.empty() ? nullptr : member_at(line, path);
    if (member == nullptr) return {};
    if (member->is_string()) return member->get<std::string>();
    return member->is_number_integer() ? dump(*member) : std::string();
}

/// Returns the text that a line contains if it has such a member: most lines need no parsing.
std::string needle_of(const std::string& path) {
    return "\"" + path.substr(path.rfind('.') + 1) + "\"";
}

/// True if the name fits one component of a pattern. {session} is one of the ids, or any permitted one if there are
/// none. All positions that the pattern can have reached are kept, so no name takes long.
bool fits(std::string_view pattern, std::string_view name, const Texts& ids, const Session& session) {
    constexpr std::size_t k_short = 8, k_longest_name = 255, k_longest_id = 64;
    if (name.empty() || name == "." || name == ".." || name.size() > k_longest_name) return false;
    std::vector<bool> at(name.size() + 1);
    at[0] = true;
    const auto is_id = [&](std::string_view text, bool is_short) {
        if (ids.empty()) return is_short ? text.size() == k_short && is_conversation_id(text) : session.permits(text);
        return std::ranges::any_of(ids, [&](const std::string& id) {
            return (is_short ? std::string_view(id).substr(0, k_short) : std::string_view(id)) == text;
        });
    };
    while (!pattern.empty()) {
        std::vector<bool> next(at.size());
        const bool is_long = pattern.starts_with(k_session), is_short = pattern.starts_with(k_session_8);
        for (std::size_t from = 0; from < at.size(); ++from) {
            if (!at[from]) continue;
            if (pattern.front() == '*') {
                std::fill(next.begin() + static_cast<std::ptrdiff_t>(from), next.end(), true);
                break;
            }
            if (!is_long && !is_short) {
                if (from < name.size() && name[from] == pattern.front()) next[from + 1] = true;
                continue;
            }
            for (auto to = from + 1; to < at.size() && to - from <= k_longest_id; ++to) {
                if (is_id(name.substr(from, to - from), is_short)) next[to] = true;
            }
        }
        pattern.remove_prefix(is_long ? k_session.size() : is_short ? k_session_8.size() : 1);
        at = std::move(next);
    }
    return at.back();
}

std::string with_id(std::string pattern, const std::string& id) {
    for (const auto& [name, value] : {std::pair(k_session, id), std::pair(k_session_8, id.substr(0, 8))}) {
        for (auto at = pattern.find(name); at != std::string::npos; at = pattern.find(name, at + value.size())) {
            pattern.replace(at, name.size(), value);
        }
    }
    return pattern;
}

/// Returns the folder that a pattern begins with; empty if there is none. That of {transcript} is another for each
/// file.
std::string root_of(const UsageSigns::File& pattern, const UsageSource& source) {
    std::string folder;
    if (pattern.root == "{run_folder}") {
        folder = source.run_folder.string();
    } else if (pattern.root == "{talk_dir}") {
        folder = source.talk_folder.string();
    } else if (pattern.root != k_transcript) {
        folder = folder_in(pattern.root, source.env);
    }
    if (!folder.starts_with('/')) return {};
    folder = Path(folder).lexically_normal().string();
    if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
    return folder;
}

/// Finds the files of a pattern below `root`.
class Search {
  public:
    Search(FileSystem& files, const Path& root, const Texts& ids, const Session& session)
        : files_(files), root_(root), ids_(ids), session_(session) {}

    /// Returns the paths, from `root`, that exist and fit the components.
    std::vector<Path> find(const Path& folder, const std::vector<std::string_view>& components) {
        found_.clear();
        go(folder, components, 0);
        return std::move(found_);
    }

  private:
    void go(const Path& folder, const std::vector<std::string_view>& components, std::size_t index) {
        if (index == components.size()) {
            if (files_.read_beneath(root_, folder, 0, 0)) found_.push_back(folder);
            return;
        }
        const auto component = components[index];
        if (component.find_first_of("*{") == component.npos) return go(folder / component, components, index + 1);
        if (++folders_ > k_most_folders) return;
        const auto names = files_.list_beneath(root_, folder, k_most_names);
        if (!names) return;
        for (const auto& name : *names) {
            if (found_.size() > UsageReader::k_most_files) return;
            if (fits(component, name, ids_, session_)) go(folder / name, components, index + 1);
        }
    }

    FileSystem& files_;
    const Path& root_;
    const Texts& ids_;
    const Session& session_;
    std::size_t folders_ = 0;
    std::vector<Path> found_;
};

UsageRow row_of(const std::string& day, const std::string& model, const Tokens& tokens, std::int64_t money) {
    UsageRow row;
    row.day = day;
    row.model = model;
    row.tokens = tokens;
    row.money = money;
    return row;
}

void take_off(std::vector<UsageRow>& rows, const UsageRow& row) {
    const auto found = std::ranges::find_if(
        rows, [&](const UsageRow& each) { return each.day == row.day && each.model == row.model; });
    if (found == rows.end()) return;
    found->tokens -= row.tokens;
    found->money -= row.money;
    if (found->tokens.requests == 0) rows.erase(found);
}

}  // namespace

std::vector<Path> conversation_files(FileSystem& files, const Harness& harness, const Environment& env,
                                     const std::string& id) {
    std::vector<Path> all;
    const std::vector<std::string> ids = {id};
    const UsageSource source{harness, env, {}, {}, {}, {}, {}, ids, {}};
    for (const auto& pattern : harness.session.files) {
        const Path root = root_of(pattern, source);
        if (root.empty()) continue;
        Search search(files, root, ids, harness.session);
        const auto components = split(pattern.below, '/');
        for (const auto& below : search.find({}, components)) all.push_back(root / below);
    }
    return all;
}

bool UsageReader::read(FileSystem& files, const UsageSource& source) {
    constexpr std::size_t k_least = 4096;
    if (!source.harness.usage.are_told()) return false;
    if (bytes_ >= k_most_bytes) {
        is_incomplete_ = true;
        return false;
    }
    find_files(source);
    const auto known = places_.size();
    std::size_t budget = k_most_at_once;
    bool is_more = false;
    for (std::size_t i = 0; i < places_.size() || has_found_more(files, source); ++i) {
        const auto index = i < known ? (next_ + i) % known : i;  // new ones come last
        const auto left = read_place(files, source, index, budget);
        is_more = is_more || left != Left::nothing;
        find_beside(files, source, index);
        if (budget >= k_least && left != Left::long_line) continue;
        next_ = left == Left::long_line ? index : (index + 1) % places_.size();
        return is_more || i + 1 < places_.size();
    }
    return is_more;
}

std::vector<UsageFile> UsageReader::files() const {
    std::vector<UsageFile> all;
    for (const auto& place : places_) {
        const bool is_known = place.is_there || place.records > 0;
        if (is_known) all.push_back({(place.root / place.below).string(), place.at, place.size, place.records});
    }
    return all;
}

void UsageReader::find_files(const UsageSource& source) {
    if (source.harness.usage.in_events) {
        return add_place(source.run_folder, events_file(source.run_folder, source.run).filename());
    }
    if (source.harness.events.transcript.empty()) return;  // has_found_more()
    if (source.ids == known_ids_ && source.told == known_told_) return;
    known_ids_ = source.ids;
    known_told_ = source.told;
    find_told(source);
}

/// Looks for files of the run's conversations, also of their sub-agents, once what is known has been read: a
/// sub-agent's file is there before the conversation goes on.
bool UsageReader::has_found_more(FileSystem& files, const UsageSource& source) {
    const auto known = places_.size();
    if (!source.harness.usage.in_events) find_by_ids(files, source);
    return places_.size() > known;
}

void UsageReader::find_told(const UsageSource& source) {
    const Texts any;
    const auto& session = source.harness.session;
    const auto is_plain = [](const std::string& path) {
        const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
        return path.size() <= k_longest_told && std::none_of(path.begin(), path.end(), is_control);
    };
    for (const auto& pattern : source.harness.usage.files) {
        const auto root = root_of(pattern, source);
        if (root.empty()) continue;
        const auto components = split(pattern.below, '/');
        for (const auto& folder : {root, real_path(root)}) {  // programs name their files in either way
            for (const auto& path : source.told) {
                if (!path.starts_with(folder + "/") || !is_plain(path)) continue;
                const bool is_counted = std::ranges::find(source.counted, path) != source.counted.end();
                const auto below = path.substr(folder.size() + 1);
                const auto names = split(below, '/');
                const auto name_fits = [&](std::string_view component, std::string_view name) {
                    return fits(component, name, is_counted ? any : source.ids, session);
                };
                if (std::equal(components.begin(), components.end(), names.begin(), names.end(), name_fits)) {
                    add_place(folder, below);
                }
            }
        }
    }
}

void UsageReader::find_by_ids(FileSystem& files, const UsageSource& source) {
    const auto& session = source.harness.session;
    std::uintmax_t size = 0;
    for (const auto& place : places_) size += place.size;
    for (const auto& pattern : source.harness.usage.files) {
        const bool names_id = pattern.below.find(k_session.substr(0, k_session.size() - 1)) != std::string::npos;
        if (!names_id && !source.harness.events.transcript.empty()) continue;
        const Path root = root_of(pattern, source);
        if (root.empty()) continue;
        for (const auto& id : source.ids) {
            const std::pair key(pattern.root + "/" + pattern.below, id);
            const auto seen = found_.find(key);
            if (!session.permits(id) || (seen != found_.end() && seen->second == size)) continue;
            // A conversation that has a file may have none of this pattern: it is looked for when a file has grown.
            const auto short_id = id.substr(0, 8);
            const auto is_of_id = [&](const Place& place) {
                return place.below.native().find(short_id) != std::string::npos;
            };
            if (std::ranges::any_of(places_, is_of_id)) found_[key] = size;
            const auto below = with_id(pattern.below, id);
            for (const auto& path : Search(files, root, source.ids, session).find({}, split(below, '/'))) {
                found_[key] = size;
                add_place(root, path);
            }
        }
    }
}

/// Looks again only if the file that {transcript} stands for has changed: what is beside it is of the same
/// conversation.
void UsageReader::find_beside(FileSystem& files, const UsageSource& source, std::size_t index) {
    auto& place = places_[index];
    if (!place.is_there || place.is_beside || place.listed_at == place.size) return;
    place.listed_at = place.size;
    const auto root = place.root;
    const auto folder = place.below.parent_path() / place.below.stem();
    for (const auto& pattern : source.harness.usage.files) {
        if (pattern.root != k_transcript) continue;
        Search search(files, root, source.ids, source.harness.session);
        for (const auto& path : search.find(folder, split(pattern.below, '/'))) add_place(root, path, true);
    }
}

void UsageReader::add_place(const Path& root, const Path& below, bool is_beside) {
    const auto is_same = [&](const Place& place) { return place.root == root && place.below == below; };
    if (std::ranges::any_of(places_, is_same)) return;
    if (places_.size() >= k_most_files) {
        is_incomplete_ = true;
        return;
    }
    Place place;
    place.root = root;
    place.below = below;
    place.is_beside = is_beside;
    places_.push_back(std::move(place));
}

/// Reads what is new in one file, as far as the budget goes.
UsageReader::Left UsageReader::read_place(FileSystem& files, const UsageSource& source, std::size_t index,
                                          std::size_t& budget) {
    auto& place = places_[index];
    const auto facts = files.read_beneath(place.root, place.below, 0, 0);
    const bool is_known = std::exchange(place.is_there, false) || place.read_to > 0;
    if (!facts || is_known_by_another_name(*facts, index)) return Left::nothing;
    const bool is_changed = facts->size == place.size && facts->modified != place.modified;
    const bool is_other = facts->device != place.device || facts->inode != place.inode;
    if (is_known && (is_other || is_changed || facts->size < place.read_to)) begin_anew(place);
    place.is_there = true;
    place.device = facts->device;
    place.inode = facts->inode;
    place.size = facts->size;
    place.modified = facts->modified;
    if (facts->size == place.read_to) return Left::nothing;
    const auto piece = files.read_beneath(place.root, place.below, place.at, budget);
    if (!piece) return Left::nothing;
    if (piece->device != place.device || piece->inode != place.inode) return Left::more;  // replaced just now
    budget -= std::min(budget, piece->bytes.size());
    bytes_ += piece->bytes.size();
    place.read_to = place.at + piece->bytes.size();
    const bool is_end = place.read_to >= facts->size;
    const auto left = take_bytes(source, piece->bytes, place);
    return is_end ? Left::nothing : left;
}

/// Takes the whole lines. A line that is longer than what is read at once is skipped.
UsageReader::Left UsageReader::take_bytes(const UsageSource& source, std::string_view bytes, Place& place) {
    if (bytes.empty()) return Left::nothing;  // cut just now
    if (place.is_skipping) {
        const auto end = std::min(bytes.find('\n'), bytes.size() - 1);
        place.is_skipping = bytes[end] != '\n';
        place.at += end + 1;
        bytes.remove_prefix(end + 1);
        if (bytes.empty()) return Left::more;
    }
    const auto end = bytes.rfind('\n');
    if (end != bytes.npos) {
        take_lines(source, bytes.substr(0, end), place);
        place.at += end + 1;
        return Left::more;
    }
    place.is_skipping = bytes.size() >= k_most_at_once;
    if (place.is_skipping) place.at += bytes.size();
    return place.is_skipping ? Left::more : Left::long_line;
}

/// True if another place has the same file: a record without an id would count twice.
bool UsageReader::is_known_by_another_name(const FileSystem::Beneath& facts, std::size_t index) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const auto& other = places_[i];
        const bool is_same = other.is_there && other.device == facts.device && other.inode == facts.inode;
        if (i != index && is_same && facts.inode != 0) return true;
    }
    return false;
}

void UsageReader::begin_anew(Place& place) {
    place.at = place.read_to = 0;
    place.is_skipping = false;
    place.records = 0;
    place.model.clear();
    for (const auto& row : place.unnamed) take_off(rows_, row);
    place.unnamed.clear();
}

void UsageReader::take_lines(const UsageSource& source, std::string_view lines, Place& place) {
    const auto& signs = source.harness.usage;
    const auto needle = needle_of(signs.output), window_needle = needle_of(signs.window.percent);
    const auto model_needle = needle_of(signs.model);
    const bool has_window = !signs.window.percent.empty(), has_model = !signs.model.empty();
    for (const auto text : split_lines(lines)) {
        const bool may_count = text.find(needle) != text.npos;
        const bool may_be_window = has_window && text.find(window_needle) != text.npos;
        const bool may_name_model = has_model && text.find(model_needle) != text.npos;
        if (!may_count && !may_be_window && !may_name_model) continue;
        const auto line = Json::parse(text, nullptr, false);
        if (!line.is_object()) continue;
        if (auto model = text_at(line, signs.model); !model.empty()) {
            model_ = place.model = printable(std::string_view(model).substr(0, k_longest_model));
        }
        const auto time = time_at(line, signs.time);
        if (!is_of_run(time, source.began)) continue;
        const auto at = std::min(time.at.value_or(source.now), source.now);
        if (may_be_window && has_texts(line, signs.window.each) && at >= window_at_) {
            const auto* percent = member_at(line, signs.window.percent);
            const auto used = percent != nullptr && percent->is_number() ? percent->get<double>() : -1;
            if (used >= 0 && used <= 100) {
                window_ = UsageWindow{std::llround(used), time_at(line, signs.window.resets).at};
                window_at_ = at;
            }
        }
        if (!may_count || !has_texts(line, signs.each)) continue;
        const auto tokens = tokens_in_line(signs, line);
        const auto money = money_at(line, signs.money);
        if (!tokens || !money) is_incomplete_ = true;
        if (!tokens || !money || total_of(*tokens) == 0) continue;
        Record record{text_at(line, signs.id), day_of(at), {}, *tokens, *money};
        const bool is_named = !record.id.empty() && record.id.size() <= k_longest_record_id;
        if (signs.id.empty() ? !time.at && !signs.in_events : !is_named) continue;
        record.model = place.model.empty() ? model_ : place.model;
        ++place.records;
        take_record(std::move(record), place);
    }
}

void UsageReader::take_record(Record record, Place& place) {
    if (!models_.contains(record.model) && models_.size() >= k_most_models) record.model.clear();
    models_.insert(record.model);
    if (record.id.empty()) {
        add(place.unnamed, row_of(record.day, record.model, record.tokens, record.money));
        return take(record);
    }
    const auto found = by_id_.find(record.id);
    if (found == by_id_.end()) {
        if (by_id_.size() >= k_most_ids) {
            is_incomplete_ = true;
            return;
        }
        take(record);
        by_id_.emplace(record.id, std::move(record));
        return;
    }
    auto& counted = found->second;
    if (total_of(record.tokens) <= total_of(counted.tokens)) return;
    take_off(rows_, row_of(counted.day, counted.model, counted.tokens, counted.money));
    take(record);
    counted = std::move(record);
}

void UsageReader::take(const Record& record) {
    add(rows_, row_of(record.day, record.model, record.tokens, record.money));
    has_told_ = true;
}

}  // namespace orange::agents
