#pragma once

#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/runner/review/review.hpp"

/// Files that a human gives to agents, as the methods do it.
namespace orange::test {

inline const std::string k_giver = "human";

inline Result<std::string> upload(RunnerWorld& world, const std::string& name, const std::string& content) {
    store::Uploads::Piece piece;
    piece.name = name;
    piece.origin = "~/Desktop/" + name;
    piece.bytes = content;
    piece.last = true;
    auto done = world.house().runner().uploads.put(k_giver, std::move(piece), store::k_default_file_limit);
    if (!done) return done.error();
    return done->upload;
}

/// Calls `act` if the uploads can be used.
template <class Act>
auto with_files(RunnerWorld& world, const std::vector<std::string>& ids, const Act& act) -> decltype(act()) {
    const auto checked = world.house().runner().uploads.check(ids, k_giver);
    if (!checked) return checked.error();
    return act();
}

inline Result<Outcome> create_with(RunnerWorld& world, TaskRecord record, const std::vector<std::string>& ids,
                                   const std::string& context = "") {
    return with_files(world, ids, [&] {
        auto& creation = world.house().runner().creation;
        return world.house().go(creation.create(std::move(record), context, true, a_human(), ids));
    });
}

inline Result<Outcome> send_with(RunnerWorld& world, const TaskId& id, const std::vector<std::string>& ids,
                                 const std::string& text = "Look") {
    return with_files(
        world, ids, [&] { return world.house().go(world.house().runner().outbox.send(id, Role::worker, text, ids)); });
}

inline Result<Outcome> reject_with(RunnerWorld& world, const TaskId& id, const std::vector<std::string>& ids,
                                   const std::string& feedback = "Nearly.") {
    return with_files(world, ids, [&] {
        engine::Request request;
        request.goal = engine::Goal::rejected;
        Edit edit;
        edit.feedback = feedback;
        edit.files = ids;
        return world.house().go(world.house().runner().requests.move(id, request, a_human(), std::move(edit)));
    });
}

inline bool is_waiting(RunnerWorld& world, const std::string& id) {
    return world.house().runner().uploads.check({id}, k_giver).has_value();
}

inline std::filesystem::path files_of(RunnerWorld& world, const TaskId& id) {
    return world.house().world().paths.tasks() / "shop" / id.value / "files";
}

inline std::size_t uploads_left(RunnerWorld& world) {
    return world.house().world().files.list(world.home() / "uploads").value().size();
}

/// Returns the files in the task's folder that a text names.
inline std::set<std::string> named_in(const std::string& text) {
    static const std::regex k_path("(/[^ `,)(\"]*/files/[A-Za-z0-9._-]+)");
    std::set<std::string> paths;
    for (std::sregex_iterator at(text.begin(), text.end(), k_path), end; at != end; ++at) paths.insert((*at)[1]);
    return paths;
}

/// Returns everything that names files to the agent: TASK.md, state.json and what was typed.
inline std::string told_to_agent(RunnerWorld& world, const TaskId& id) {
    auto text = world.task_text(id) + "\n" + world.state_text(id);
    for (const auto& [pane, typed] : world.outside.tmux.state.sent) text += "\n" + typed;
    return text;
}

/// No name without a file.
inline bool has_what_is_named(RunnerWorld& world, const TaskId& id) {
    const auto named = named_in(told_to_agent(world, id));
    return std::ranges::all_of(named, [](const auto& path) { return std::filesystem::is_regular_file(path); });
}

}  // namespace orange::test
