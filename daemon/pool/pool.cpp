#include "daemon/pool/pool.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "common/base/text.hpp"
#include "daemon/async/async.hpp"
#include "daemon/git/branches.hpp"
#include "daemon/git/worktrees.hpp"
#include "daemon/pool/occupants.hpp"

namespace orange {
namespace {

using namespace std::chrono_literals;

constexpr auto k_fetch_deadline = 20s;
constexpr auto k_setup_deadline = 10min;

std::string workspace_name(const std::string& project, int number) {
    return project + "--" + std::to_string(number);
}

bool is_folder(const Path& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
}

/// What a git leaves that is killed while it makes a worktree: its own lock, and perhaps half of the files.
bool is_half_made(const git::Worktree& tree) {
    return tree.locked == "initializing";
}

/// Whoever still works in a worktree would write into the next task's. What has just been ended gets a moment.
Awaitable<Result<void>> check_nobody_works_in(Path worktree) {
    constexpr int k_looks = 40;
    std::vector<Occupant> busy;
    for (int look = 0; look < k_looks; ++look) {
        busy = workers_in(worktree);
        if (busy.empty()) co_return Result<void>{};
        const std::chrono::milliseconds moment = 50ms;
        co_await async::sleep(moment);
    }
    co_return Error{ErrorCode::conflict,
                    "process " + std::to_string(busy.front().pid) + " (" + printable(busy.front().name) +
                        ") still works in " + worktree.string() + "; end it, then run: orange workspace gc",
                    {}};
}

}  // namespace

Pool::Pool(FileSystem& files, Git& git, ProcessRunner& processes, async::KeyedMutex& repositories, Path root)
    : files_(files), git_(git), processes_(processes), repositories_(repositories), root_(std::move(root)) {}

/// All of them or none: what is left out here would be lost with the next write.
Result<std::map<std::string, Pool::Slot>> Pool::slots_from(const Json& entries) {
    std::map<std::string, Slot> slots;
    for (const auto& entry : entries) {
        const auto of = [&](const char* key) {
            const auto found = entry.is_object() ? entry.find(key) : entry.end();
            return found == entry.end() ? Json() : *found;
        };
        const auto project = of("project"), number = of("number"), task = of("task");
        const bool fine = project.is_string() && check_project_name(project.get<std::string>()) &&
                          number.is_number_integer() && number.get<std::int64_t>() > 0 &&
                          number.get<std::int64_t>() < 1'000'000 && (task.is_null() || task.is_string());
        if (!fine) return Error{ErrorCode::invalid_argument, "this is no workspace: " + dump(entry), {}};
        Slot slot{project.get<std::string>(), number.get<int>(), TaskId{}};
        if (task.is_string()) slot.task.value = task.get<std::string>();
        slots[workspace_name(slot.project, slot.number)] = std::move(slot);
    }
    return slots;
}

Result<void> Pool::load() {
    const auto file = root_ / ".pool.json";
    problem_.clear();
    auto text = files_.read(file);
    if (!text && text.error().code == ErrorCode::not_found) return {};
    auto json = text ? parse_json(*text) : Result<Json>(text.error());
    if (json) {
        if (auto known = check_schema(*json); !known) json = known.error();
    }
    if (json && !(json->is_object() && json->contains("workspaces") && json->at("workspaces").is_array())) {
        json = Error{ErrorCode::invalid_argument, "\"workspaces\" is missing or no list", {}};
    }
    auto slots = json ? slots_from(json->at("workspaces")) : Result<std::map<std::string, Slot>>(json.error());
    if (!slots) {
        problem_ = file.string() + ": " + slots.error().message + "; mend or remove it, then run: orange workspace gc";
        return Error{ErrorCode::io, problem_, {}};
    }
    for (auto& [name, slot] : *slots) slots_.try_emplace(name, std::move(slot));
    return {};
}

void Pool::adopt_claims(const std::map<std::string, TaskId>& workspaces) {
    for (const auto& [name, task] : workspaces) {
        const auto dashes = name.rfind("--");
        int number = 0;
        if (dashes == std::string::npos) continue;
        std::from_chars(name.data() + dashes + 2, name.data() + name.size(), number);
        if (number > 0) slots_[name] = Slot{name.substr(0, dashes), number, task};
    }
}

/// Marks a workspace as being worked on, for as long as it lives.
class Pool::AtWork {
  public:
    AtWork(Pool& pool, std::string name) : pool_(pool), name_(std::move(name)) { pool_.at_work_.insert(name_); }
    ~AtWork() { pool_.at_work_.erase(name_); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;

  private:
    Pool& pool_;
    std::string name_;
};

/// Lets an acquire be stopped, for as long as it lives.
class Pool::Stoppable {
  public:
    Stoppable(Pool& pool, TaskId task) : pool_(pool), task_(std::move(task)) {
        pool_.stops_[task_] = std::make_shared<Stop>();
    }
    ~Stoppable() { pool_.stops_.erase(task_); }
    Stoppable(const Stoppable&) = delete;
    Stoppable& operator=(const Stoppable&) = delete;

  private:
    Pool& pool_;
    TaskId task_;
};

Result<void> Pool::write() {
    if (!problem_.empty()) return Error{ErrorCode::io, problem_, {}};
    Json workspaces = Json::array();
    for (const auto& [name, slot] : slots_) {
        workspaces.push_back({{"name", name},
                              {"project", slot.project},
                              {"number", slot.number},
                              {"task", slot.task.empty() ? Json(nullptr) : Json(slot.task.value)}});
    }
    return files_.replace(root_ / ".pool.json",
                          Json{{"schema", k_schema}, {"workspaces", std::move(workspaces)}}.dump(2) + "\n");
}

Result<std::string> Pool::claim(const Project& project, const TaskId& task) {
    for (const auto& [name, slot] : slots_) {
        if (slot.task == task) return name;
    }
    for (int number = 1; free(project) > 0 && number <= project.pool_size; ++number) {
        const auto name = workspace_name(project.name, number);
        const auto found = slots_.find(name);
        if ((found != slots_.end() && !found->second.task.empty()) || at_work_.contains(name)) continue;
        const auto before = slots_;
        slots_[name] = Slot{project.name, number, task};
        if (auto written = write(); !written) {
            slots_ = before;
            return written.error();
        }
        return name;
    }
    const int held = taken(project.name);
    const auto limit = counted(static_cast<std::size_t>(project.pool_size), "workspace");
    return Error{
        ErrorCode::pool_exhausted,
        (held > project.pool_size ? std::to_string(held) + " tasks have workspaces of " + project.name +
                                        ", whose limit is now " + limit + "; it starts when they are fewer"
                                  : "all " + limit + " of " + project.name + " are taken; it starts when one is free") +
            ", or raise the limit: orange project update " + project.name + " --pool-size N",
        {}};
}

Result<void> Pool::give_back(const std::string& name, const TaskId& task) {
    const auto found = slots_.find(name);
    if (found == slots_.end() || found->second.task != task) return {};
    found->second.task = TaskId{};
    auto written = write();
    if (!written) found->second.task = task;
    return written;
}

Awaitable<Result<void>> Pool::make_worktree(Project project, Path path, std::string base) {
    const auto listed = co_await git::worktrees(git_, project.path);
    if (!listed) co_return listed.error();
    const bool known = std::any_of(listed->begin(), listed->end(), [&](const git::Worktree& tree) {
        std::error_code error;
        return !tree.prunable && !is_half_made(tree) && std::filesystem::equivalent(tree.path, path, error);
    });
    if (known && is_folder(path)) co_return Result<void>{};
    std::error_code error;
    std::filesystem::create_directories(root_, error);
    co_return co_await git::add_worktree(git_, project.path, path.string(), base);
}

Awaitable<Result<Acquired>> Pool::prepare(Project project, Task task, std::string name,
                                          std::map<std::string, std::string> env, std::vector<std::string> exclude) {
    Acquired acquired{name, path_of(name), "TASK.md", {}};
    const auto origin = co_await git::has_origin(git_, project.path);
    if (!origin) co_return origin.error();
    if (*origin) {  // outside the lock: a silent remote must not hold up the others
        const std::chrono::milliseconds deadline = k_fetch_deadline;
        auto fetched = co_await git::fetch(git_, project.path, deadline);
        if (!fetched) acquired.notes.push_back("origin could not be fetched: " + fetched.error().message);
    }
    {
        const auto lock = co_await repositories_.acquire(project.path);
        auto base = co_await git::base_ref(git_, project.path, project.default_branch);
        if (!base) co_return base.error();
        if (auto made = co_await make_worktree(project, acquired.path, *base); !made) co_return made.error();
        remove_stale_locks(acquired.path);
        // A free workspace is clean; what a human left in one is theirs, and is kept like an agent's work.
        std::vector<std::string> commits;
        auto saved = co_await save_all(acquired.path, "refs/orange/" + name, "found",
                                       "Found in " + name + " when a task took it", commits);
        if (!saved) co_return saved.error();
        if (!commits.empty()) {
            acquired.notes.push_back("commits in " + name + " that no branch has were kept as " + join(commits, ", "));
        }
        if (!saved->empty()) {
            acquired.notes.push_back("uncommitted files in " + name + " were saved as " + saved->substr(0, 12));
            if (auto reset = co_await git::reset_detached(git_, acquired.path.string(), *base); !reset) {
                co_return reset.error();
            }
        }
        auto branch = co_await git::checkout_branch(git_, project.path, acquired.path.string(), task.branch,
                                                    task.base.value_or(*base));
        if (!branch) co_return branch.error();
        auto tracked = co_await git::tracks(git_, acquired.path.string(), "TASK.md");
        if (!tracked) co_return tracked.error();
        if (*tracked) acquired.task_file = ".orange/TASK.md";
        if (task.workspace != name) {
            if (auto kept = keep_found_task_file(name, acquired.task_file); !kept) co_return kept.error();
        }
        exclude.insert(exclude.end(), {"/TASK.md", "/.TASK.md.*", "/..TASK.md.*", "/.orange/"});
        if (auto excluded = co_await git::exclude(git_, acquired.path.string(), exclude); !excluded) {
            co_return excluded.error();
        }
    }
    if (auto done = co_await set_up(project, task.id, acquired.path, std::move(env)); !done) {
        co_return in_context("the project's setup command", done.error());
    }
    co_return acquired;
}

Awaitable<Result<void>> Pool::set_up(Project project, TaskId task, Path path, std::map<std::string, std::string> env) {
    const auto stop = stops_.at(task);
    if (stop->requested()) co_return Error{ErrorCode::conflict, "the task is being cancelled", {}};
    if (project.setup.empty()) co_return Result<void>{};
    Command setup;
    setup.argv = project.setup;
    setup.cwd = path.string();
    setup.env = std::move(env);
    setup.deadline = k_setup_deadline;
    setup.stop = stop;
    const auto done = co_await processes_.run(std::move(setup));
    if (!done) co_return done.error();
    if (!done->ok()) co_return command_failed(project.setup, *done);
    co_return Result<void>{};
}

void Pool::stop_acquire(const TaskId& task) {
    const auto found = stops_.find(task);
    if (found == stops_.end()) return;
    const auto stop = found->second;
    stop->request();
}

Awaitable<Result<Acquired>> Pool::acquire(Project project, Task task, std::map<std::string, std::string> env,
                                          std::vector<std::string> exclude) {
    auto name = claim(project, task.id);
    if (!name) co_return name.error();
    const bool had_it = task.workspace == *name;
    const AtWork at_work(*this, *name);
    const Stoppable stoppable(*this, task.id);
    auto acquired = co_await prepare(project, task, *name, std::move(env), std::move(exclude));
    if (acquired || had_it) co_return acquired;
    // Given back in the state that the next task expects; a worktree that cannot even be cleaned stays claimed by
    // nobody and is mended by the next claim's make_worktree.
    if (is_folder(path_of(*name))) {
        const auto cleaned = co_await clean(project, path_of(*name), task.id);
        if (!cleaned) acquired = in_context(acquired.error().message, cleaned.error());
    }
    if (auto given = give_back(*name, task.id); !given) co_return given.error();
    co_return acquired;
}

/// A mirror that an earlier task left (a crash, a claim that was freed) is excluded from git, so that nothing has
/// removed it: it must not become this task's body, and it is somebody's text.
Result<void> Pool::keep_found_task_file(const std::string& name, const std::string& task_file) {
    const auto file = path_of(name) / task_file;
    const auto text = files_.read(file);
    if (!text) return text.error().code == ErrorCode::not_found ? Result<void>{} : Result<void>{text.error()};
    const auto kept = root_ / ".found" / (name + "-" + random_id(8) + "-TASK.md");
    if (auto written = files_.replace(kept, *text); !written) return written;
    return files_.remove(file);
}

/// An agent that was ended in the middle of a git command leaves its locks (index.lock, HEAD.lock, …), and git has no
/// way to tell that nobody holds them. We have: no process works in this directory any more.
void Pool::remove_stale_locks(const Path& worktree) {
    const auto pointer = files_.read(worktree / ".git");
    constexpr std::string_view k_prefix = "gitdir: ";
    if (!pointer || !pointer->starts_with(k_prefix)) return;
    const Path git_dir = std::string(trim(pointer->substr(k_prefix.size())));
    std::vector<Path> locks;
    std::error_code error;
    std::filesystem::directory_iterator entry(git_dir, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (entry->path().extension() == ".lock") locks.push_back(entry->path());
    }
    if (locks.empty() || !workers_in(worktree).empty()) return;
    for (const auto& lock : locks) std::filesystem::remove(lock, error);
}

Awaitable<Result<std::string>> Pool::save_all(Path path, std::string refs, std::string name, std::string message,
                                              std::vector<std::string>& commits) {
    auto kept = co_await git::keep_commits(git_, path.string(), refs);
    if (!kept) co_return kept.error();
    commits = std::move(*kept);
    co_return co_await git::snapshot(git_, path.string(), refs + "/" + name, std::move(message));
}

Awaitable<Result<Released>> Pool::clean(Project project, Path path, TaskId task) {
    const auto lock = co_await repositories_.acquire(project.path);
    remove_stale_locks(path);
    Released released;
    released.ref = wip_ref(task);
    auto saved = co_await save_all(path, "refs/orange/" + task.value, "wip", "Uncommitted work of task " + task.value,
                                   released.commits);
    if (!saved) co_return saved.error();
    released.snapshot = *saved;
    // A default branch that was renamed keeps nobody from leaving: the next task checks out its own.
    auto base = co_await git::base_ref(git_, project.path, project.default_branch);
    if (!base) base = std::string("HEAD");
    if (auto reset = co_await git::reset_detached(git_, path.string(), *base); !reset) co_return reset.error();
    co_return released;
}

Awaitable<Result<Released>> Pool::release(Project project, Task task) {
    std::string name;
    for (const auto& [candidate, slot] : slots_) {
        if (slot.task == task.id) name = candidate;
    }
    if (name.empty()) co_return Released{};
    const AtWork at_work(*this, name);
    Released released;
    if (is_folder(path_of(name))) {
        if (auto alone = co_await check_nobody_works_in(path_of(name)); !alone) co_return alone.error();
        auto cleaned = co_await clean(project, path_of(name), task.id);
        if (!cleaned) co_return in_context("releasing " + name, cleaned.error());
        released = std::move(*cleaned);
    }
    if (auto given = give_back(name, task.id); !given) co_return given.error();
    co_return released;
}

Awaitable<Result<std::vector<std::string>>> Pool::init(Project project) {
    std::vector<std::string> done;
    const auto lock = co_await repositories_.acquire(project.path);
    auto base = co_await git::base_ref(git_, project.path, project.default_branch);
    if (!base) co_return base.error();
    // The folder is made, and synced, by what is written into it; one that git made could go with the power.
    if (!is_folder(root_)) {
        if (auto written = write(); !written) co_return written.error();
    }
    for (int number = 1; number <= project.pool_size; ++number) {
        const auto name = workspace_name(project.name, number);
        if (slots_.contains(name) && is_folder(path_of(name))) continue;
        if (auto made = co_await make_worktree(project, path_of(name), *base); !made) co_return made.error();
        if (!slots_.contains(name)) slots_[name] = Slot{project.name, number, {}};
        done.push_back(name + " made");
    }
    if (auto written = write(); !written) co_return written.error();
    co_return done;
}

/// They hold nothing but what git itself had begun to write, and no git command works in them.
Awaitable<std::vector<std::string>> Pool::remove_half_made(Project project, std::vector<std::string> names) {
    std::vector<std::string> done;
    const auto lock = co_await repositories_.acquire(project.path);
    const auto trees = co_await git::worktrees(git_, project.path);
    if (!trees) co_return done;
    for (const auto& name : names) {
        if (at_work_.contains(name)) continue;
        const auto path = path_of(name).string();
        const bool half_made = std::any_of(trees->begin(), trees->end(), [&](const git::Worktree& tree) {
            std::error_code error;
            return is_half_made(tree) && std::filesystem::weakly_canonical(path, error) == tree.path;
        });
        if (!half_made) continue;
        const AtWork at_work(*this, name);
        const auto removed = co_await git::remove_worktree(git_, project.path, path);
        // A claim stays: whoever has it makes the worktree anew.
        if (const auto slot = slots_.find(name); removed && slot != slots_.end() && slot->second.task.empty()) {
            slots_.erase(slot);
        }
        done.push_back(removed ? name + " removed: it was half made"
                               : name + " is half made, and could not be removed: " + removed.error().message);
    }
    co_return done;
}

Awaitable<Result<std::vector<std::string>>> Pool::gc(Project project, std::function<bool(const TaskId&)> is_live) {
    std::vector<std::string> names;
    for (const auto& [name, slot] : slots_) {
        if (slot.project == project.name) names.push_back(name);
    }
    auto done = co_await remove_half_made(project, names);
    for (const auto& name : names) {
        if (at_work_.contains(name)) continue;
        const auto slot = slots_.find(name);
        if (slot == slots_.end()) continue;
        const auto task = slot->second.task;
        const bool surplus = slot->second.number > project.pool_size;
        if (!task.empty() && is_live(task)) continue;
        if (!task.empty()) {
            Task holder;
            holder.id = task;
            auto released = co_await release(project, holder);
            if (!released) {
                done.push_back(name + " could not be freed: " + released.error().message);
                continue;
            }
            done.push_back(name + " freed" +
                           (released->snapshot.empty() ? "" : "; uncommitted work is in " + released->ref));
        }
        if (surplus || !is_folder(path_of(name))) {
            const auto lock = co_await repositories_.acquire(project.path);
            if (!is_idle(name)) continue;  // taken while the lock was waited for
            const AtWork at_work(*this, name);
            auto removed = co_await discard(project, name);
            if (!removed) {
                done.push_back(name + ": " + removed.error().message);
                continue;
            }
            slots_.erase(name);
            done.push_back(name + (surplus ? " removed: the pool is smaller now" : " forgotten: its folder was gone"));
        }
    }
    if (auto written = write(); !written) co_return written.error();
    co_return done;
}

Awaitable<Result<void>> Pool::discard(Project project, std::string name) {
    const auto path = path_of(name).string();
    if (is_folder(path)) {
        if (auto alone = co_await check_nobody_works_in(path_of(name)); !alone) co_return alone.error();
        std::vector<std::string> commits;
        remove_stale_locks(path);
        const auto saved = co_await save_all(path, "refs/orange/" + name, "found",
                                             "Found in " + name + " when it was removed", commits);
        if (!saved) co_return saved.error();
    }
    co_return co_await git::remove_worktree(git_, project.path, path);
}

Awaitable<Result<void>> Pool::remove_all(Project project) {
    std::vector<std::string> names;
    for (const auto& [name, slot] : slots_) {
        if (slot.project != project.name) continue;
        if (!slot.task.empty()) {
            co_return Error{ErrorCode::conflict, name + " is still taken by task " + slot.task.value, {}};
        }
        names.push_back(name);
    }
    const auto lock = co_await repositories_.acquire(project.path);
    for (const auto& name : names) {
        if (!is_idle(name)) co_return Error{ErrorCode::conflict, name + " has just been taken by a task", {}};
        const AtWork at_work(*this, name);
        if (is_folder(project.path)) {
            if (auto removed = co_await discard(project, name); !removed) co_return removed.error();
        }
        slots_.erase(name);
    }
    co_return write();
}

/// Those beyond the pool's size too: a pool that was made smaller starts nobody until it is below its size.
int Pool::taken(const std::string& project) const {
    return static_cast<int>(std::count_if(slots_.begin(), slots_.end(), [&](const auto& entry) {
        return entry.second.project == project && !entry.second.task.empty();
    }));
}

int Pool::free(const Project& project) const {
    return std::max(0, project.pool_size - taken(project.name));
}

bool Pool::is_idle(const std::string& name) const {
    const auto slot = slots_.find(name);
    return slot != slots_.end() && slot->second.task.empty() && !at_work_.contains(name);
}

bool Pool::has_claim(const TaskId& task) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) { return slot.second.task == task; });
}

std::vector<WorkspaceInfo> Pool::list(const std::optional<std::string>& project) const {
    std::vector<WorkspaceInfo> found;
    for (const auto& [name, slot] : slots_) {
        if (project && slot.project != *project) continue;
        WorkspaceInfo info{name, slot.project, slot.number, path_of(name), slot.task, {}};
        if (!is_folder(info.path)) info.problem = "its folder is missing; run: orange workspace gc";
        found.push_back(std::move(info));
    }
    return found;
}

const std::pair<const std::string, Pool::Slot>* Pool::slot_at(const Path& directory) const {
    const auto relative = directory.lexically_normal().lexically_relative(root_);
    if (relative.empty() || *relative.begin() == "..") return nullptr;
    const auto found = slots_.find(relative.begin()->string());
    return found == slots_.end() ? nullptr : &*found;
}

std::optional<TaskId> Pool::task_at(const Path& directory) const {
    const auto* slot = slot_at(directory);
    if (!slot || slot->second.task.empty()) return std::nullopt;
    return slot->second.task;
}

std::optional<std::string> Pool::project_at(const Path& directory) const {
    const auto* slot = slot_at(directory);
    if (!slot) return std::nullopt;
    return slot->second.project;
}

}  // namespace orange
