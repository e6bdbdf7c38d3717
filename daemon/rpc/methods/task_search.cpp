#include <algorithm>
#include <memory>
#include <set>

#include "common/base/text.hpp"
#include "common/base/try.hpp"
#include "common/log/query.hpp"
#include "daemon/async/slots.hpp"
#include "daemon/process/environment.hpp"
#include "daemon/rpc/api.hpp"
#include "daemon/rpc/methods/search_hits.hpp"
#include "daemon/rpc/methods/windows.hpp"
#include "daemon/store/sections.hpp"
#include "daemon/store/task_texts.hpp"

/// `task.search`: finds a text in the files of all tasks, the one that was changed last first. grep reads the files,
/// for some tasks at a time; the daemon reads only what is around a match. A call ends with a page, with the connection
/// or with a deadline.
namespace orange::rpc {
namespace {

constexpr std::size_t k_searches = 2, k_first_tasks = 32, k_most_tasks = 512, k_hits_of_a_file = 5, k_page_of_hits = 50;
constexpr std::chrono::milliseconds k_deadline{10'000}, k_page_time{500};
/// The bytes around a match that hold an event of a usual length, and a line of a window.
constexpr std::uintmax_t k_around_event = 64 << 10, k_around_line = 512;

/// The state of one search.
struct Looking {
    TaskSearch params;
    Call call;
    std::optional<Timestamp> since;
    std::shared_ptr<Stop> stop = std::make_shared<Stop>();
};

/// Returns the tasks that may be searched, the one that was changed last first, behind `after`.
std::vector<store::Age> tasks_to_search(Api& api, const Looking& look, const std::optional<store::Age>& after) {
    auto& tasks = api.world().tasks;
    std::vector<store::Age> found;
    const auto add = [&](Timestamp time, const TaskId& id) {
        const auto* brief = tasks.brief(id);
        if (!brief || (look.params.project && *look.params.project != brief->project.text())) return;
        if (look.since && time < *look.since && !tasks.awake(id)) return;
        if (after && std::pair(time, id) >= std::pair(after->created_at, after->id)) return;
        if (api.is_shown(id, look.call) && !api.is_other_attempt(id, look.call)) found.push_back({time, id});
    };
    const auto times = tasks.histories().all();
    for (const auto& [time, id] : times) add(time, id);
    if (times.size() < tasks.size()) {  // after a start, not all histories are known yet
        std::set<TaskId> known;
        for (const auto& [time, id] : times) known.insert(id);
        tasks.each([&](const store::Brief& task) {
            if (!known.contains(task.id)) add(task.created_at, task.id);
            return true;
        });
    }
    std::ranges::sort(found, std::greater(),
                      [](const store::Age& each) { return std::pair(each.created_at, each.id); });
    return found;
}

/// The places of matches in one file of a task, which become hits.
class FileHits {
  public:
    FileHits(World& world, const Looking& look, const TaskRecord& record, const FileMatches& file)
        : world_(world), look_(look), record_(record), file_(file), path_(world.tasks.folder(record) / file.below) {}

    std::vector<SearchHit> all() {
        std::vector<SearchHit> hits;
        const auto facts = world_.files.facts_of(path_);
        if (!facts || facts->kind != FileFacts::Kind::file || !begin()) return hits;
        std::set<std::int64_t> lines;
        for (auto match = file_.last.rbegin(); match != file_.last.rend(); ++match) {
            if (lines.contains(match->line)) continue;
            auto hit = start_;
            hit.at = std::chrono::floor<std::chrono::milliseconds>(facts->modified);
            hit.line = match->line;
            if (!fill(hit, *match) || (look_.since && hit.at < *look_.since)) continue;
            lines.insert(match->line);
            if (hits.size() < k_hits_of_a_file) hits.push_back(std::move(hit));
        }
        const auto left = static_cast<std::int64_t>(lines.size() - hits.size());
        if (!hits.empty()) hits.back().more = left + (start_.kind == "history" ? 0 : file_.dropped);
        return hits;
    }

  private:
    /// Finds out which kind of file it is. Returns false for one that is not searched.
    bool begin() {
        const auto& name = file_.below;
        const auto window = name.starts_with("logs/") ? window_from(name.substr(5)) : std::nullopt;
        start_.kind = window                      ? "log"
                      : name == "TASK.md"         ? "task"
                      : name == "history.jsonl"   ? "history"
                      : store::is_kept_text(name) ? "kept"
                                                  : "";
        start_.commit = record_.reviewed_commit;
        if (window) {
            start_.window = window->window;
            start_.run = window->run;
            // task.log shows an agent behind a wall only its own task's windows.
            const bool is_hidden = !look_.call.wall.empty() && look_.call.wall != record_.task.id;
            return !is_hidden && (look_.params.in != "reviews" || window->role == name_of(Role::reviewer));
        }
        if (start_.kind != "task" && start_.kind != "kept") return start_.kind == "history";
        const auto text = world_.files.read_before(path_, std::nullopt, store::k_largest_text);
        if (!text || text->from > 0) return false;
        text_ = text->bytes;
        body_ = text_.size() - store::body_of(text_).size();
        blocks_ = store::blocks_of(std::string_view(text_).substr(body_));
        return true;
    }

    bool fill(SearchHit& hit, const Match& match) {
        if (hit.kind == "history") return fill_event(hit, match);
        if (hit.kind != "log") return fill_section(hit, match);
        const auto piece = world_.files.read_before(path_, match.at + k_around_line, 2 * k_around_line);
        if (piece && piece->from <= match.at) hit.text = excerpt(piece->bytes, match.at - piece->from);
        return !hit.text.empty();
    }

    bool fill_section(SearchHit& hit, const Match& match) const {
        if (match.at >= text_.size()) return false;  // the file has changed
        hit.text = excerpt(text_, match.at);
        if (match.at < body_) return look_.params.in != "reviews" && hit.text.starts_with("summary:");
        auto left = match.at - body_;
        for (const auto& block : blocks_) {
            hit.section = block.heading;
            if (left < block.text.size()) break;
            left -= block.text.size();
        }
        const auto about = record_.reviews.find(hit.section);
        if (about != record_.reviews.end()) hit.commit = about->second.substr(0, about->second.find(' '));
        const bool is_review =
            hit.section.find("Review") != std::string::npos || hit.section.find("Feedback") != std::string::npos;
        return look_.params.in != "reviews" || is_review;
    }

    bool fill_event(SearchHit& hit, const Match& match) {
        // Earlier matches of a file come later, and most of them are in the same piece.
        if (from_ > 0 && match.at < from_ + k_around_event) text_.clear();
        if (text_.empty()) {
            auto piece = world_.files.read_before(path_, match.end + k_around_event, 3 * k_around_event);
            if (!piece) return false;
            from_ = piece->from;
            text_ = std::move(piece->bytes);
        }
        if (from_ > match.at || match.at >= from_ + text_.size()) return false;
        const std::string_view bytes = text_;
        const auto at = match.at - from_;
        const auto begin = at == 0 ? 0 : bytes.rfind('\n', at - 1) + 1;
        const auto line = bytes.substr(begin, bytes.find('\n', at) - begin);
        const auto event = store::event_from_line(line);
        auto found = event_text(line, at - begin);
        // An expression such as .*x begins before the text.
        if (!found && match.end > match.at + 1) found = event_text(line, match.end - match.at + at - begin - 1);
        if (!event || !found) return false;
        hit.event = event->type;
        hit.at = event->timestamp;
        hit.text = excerpt(found->text, found->at);
        const auto commit = event->fields.find("commit");
        const auto* hash = commit == event->fields.end() ? nullptr : std::get_if<std::string>(&commit->second);
        if (hash) hit.commit = *hash;
        return true;
    }

    World& world_;
    const Looking& look_;
    const TaskRecord& record_;
    const FileMatches& file_;
    Path path_;
    SearchHit start_;
    std::string text_;  ///< all of a TASK.md or a kept text; of a history the piece behind `from_`
    std::uintmax_t from_ = 0;
    std::size_t body_ = 0;
    std::vector<store::Block> blocks_;
};

/// Adds the hits in a task's files, newest first.
void add_hits(Api& api, const Looking& look, const std::vector<FileMatches>& files, const TaskId& id,
              TaskSearch::Reply& reply) {
    const auto record = api.world().tasks.read(id);
    if (!record) return;  // it was deleted, or cannot be read
    std::vector<SearchHit> hits;
    for (const auto& file : files) {
        if (!file.task.ends_with("/" + id.value)) continue;
        for (auto& hit : FileHits(api.world(), look, **record, file).all()) hits.push_back(std::move(hit));
    }
    if (hits.empty()) return;
    std::ranges::stable_sort(
        hits, [](const SearchHit& a, const SearchHit& b) { return a.at != b.at ? a.at > b.at : a.line < b.line; });
    for (auto& hit : hits) {
        hit.task = id.value;
        hit.short_id = api.world().tasks.short_id(id);
        hit.project = (*record)->task.project;
        hit.summary = (*record)->task.summary;
        reply.hits.push_back(std::move(hit));
    }
    if (!look.params.views) return;
    reply.tasks.push_back(api.view(**record));
    api.hide(reply.tasks.back(), look.call);
}

/// Runs grep over the folders of some tasks.
Awaitable<Result<GrepOutput>> grep(Api& api, const Looking& look, std::span<const store::Age> tasks) {
    auto& world = api.world();
    std::vector<std::string> folders;
    for (const auto& each : tasks) {
        const auto* brief = world.tasks.brief(each.id);
        if (brief) folders.push_back(world.tasks.folder(*brief).lexically_relative(world.paths.tasks()).string());
    }
    if (folders.empty()) co_return GrepOutput();  // without a folder, grep would search all
    Command command;
    command.argv = grep_words(look.params);
    command.argv.insert(command.argv.end(), folders.begin(), folders.end());
    command.shown = "grep";
    command.cwd = world.paths.tasks().string();
    command.env = scrubbed_environment();
    (*command.env)["LC_ALL"] = "C.UTF-8";
    command.deadline = k_deadline;
    command.stop = look.stop;
    const auto output = std::make_shared<GrepOutput>();
    command.on_output = [output](std::string_view text) { output->take(text); };
    const auto argv = words("grep", look.params.text);
    const auto done = co_await world.processes.run(std::move(command));
    if (!done && done.error().code == ErrorCode::timeout) {
        co_return Error(ErrorCode::timeout,
                        "the search takes too long. Search for a simpler text, or in less: --in tasks, --since 2d, "
                        "--project NAME");
    }
    if (!done) co_return done.error();
    // 1: nothing was found; 2 without a word: a file is gone or cannot be read.
    const bool is_refused = done->exit_status == 2 && !done->err.empty();
    if (is_refused && look.params.regex) {
        co_return Error(ErrorCode::invalid_argument, printable(trim(done->err)));
    }
    if (is_refused || done->exit_status > 2) co_return command_failed(argv, *done);
    co_return std::move(*output);
}

/// Searches until there are enough hits for a page.
Awaitable<Result<TaskSearch::Reply>> page(Api& api, std::shared_ptr<Looking> look, std::vector<store::Age> tasks) {
    TaskSearch::Reply reply;
    const auto began = async::now();
    std::size_t size = k_first_tasks;
    for (std::size_t from = 0; from < tasks.size(); size = std::min(4 * size, k_most_tasks)) {
        const auto some = std::span(tasks).subspan(from, std::min(size, tasks.size() - from));
        CO_TRY(const auto output, co_await grep(api, *look, some));
        for (const auto& each : some) {
            const auto is_its = [&](const FileMatches& file) { return file.task.ends_with("/" + each.id.value); };
            ++from;
            if (std::ranges::none_of(output.files(), is_its)) continue;
            add_hits(api, *look, output.files(), each.id, reply);
            co_await async::yield();
            const bool is_last = output.is_full() && is_its(output.files().back());
            if (is_last || reply.hits.size() >= k_page_of_hits) break;
        }
        const auto took = async::now() - began;
        const bool is_page = reply.hits.size() >= k_page_of_hits || took >= k_page_time;
        if (is_page && from < tasks.size()) {
            reply.next = place_text(tasks[from - 1]);
            break;
        }
    }
    co_return reply;
}

Awaitable<Result<TaskSearch::Reply>> search(Api& api, TaskSearch params, Call call,
                                            std::shared_ptr<async::Slots> slots) {
    CO_TRY(check_search(params));
    if (params.project && call.wall.empty()) {
        CO_TRY(co_await api.select_project(params.project, std::nullopt));
    }
    CO_TRY(const auto after, place_from(params.after));
    const auto look = std::make_shared<Looking>();
    if (params.since) {
        look->since = log::time_from(*params.since, api.world().clock.now());
        if (!look->since) {
            co_return Error(ErrorCode::invalid_argument,
                            "since must be a time as 90s, 10m, 3h, 2d or 2026-01-02T03:04:05Z");
        }
    }
    look->params = std::move(params);
    look->call = call;
    const int end = call.sink->on_end([stop = look->stop] { stop->request(); });
    const auto slot = co_await slots->take();
    auto tasks = tasks_to_search(api, *look, after);
    auto reply = co_await page(api, look, std::move(tasks));
    call.sink->forget(end);
    if (look->stop->requested()) {
        co_return Error(ErrorCode::unavailable, "the search was ended: the daemon stops, or its client has gone");
    }
    co_return reply;
}

}  // namespace

void add_task_search(MethodTable& table, Api& api) {
    using enum ErrorCode;
    const auto slots = std::make_shared<async::Slots>(api.world().executor, k_searches);
    table.add<TaskSearch>(
        Access::read, "Finds a text in what tasks, reviews and agents have written.",
        {not_found, external_failed, timeout, unavailable},
        [&api, slots](TaskSearch params, Call call) { return search(api, std::move(params), std::move(call), slots); });
}

}  // namespace orange::rpc
