#include "client/commands/skill.hpp"

#include <algorithm>

#include "client/commands/skill_files.hpp"
#include "client/output/table.hpp"
#include "common/base/text.hpp"
#include "common/base/try.hpp"

namespace orange::commands {
namespace {

struct Place {
    SkillTarget target;
    FoundSkill found;
    bool written = false;
    std::string problem;
};

bool is_named(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

std::string list_of(const std::vector<SkillTarget>& targets) {
    std::vector<std::string> names;
    for (const auto& target : targets) {
        if (!target.file.empty()) names.push_back(target.harness);
    }
    return join(names, ", ");
}

Result<std::vector<SkillTarget>> chosen(const std::vector<std::string>& names) {
    TRY(auto all, skill_targets());
    for (const auto& name : names) {
        const auto found = std::ranges::find_if(all, [&](const auto& target) { return target.harness == name; });
        if (found == all.end() || found->file.empty()) {
            return {ErrorCode::not_found, "harness " + printable(name) +
                                              (found == all.end() ? " does not exist" : " has no folder for skills") +
                                              ". The skill can be installed for: " + list_of(all)};
        }
    }
    std::erase_if(all, [&](const SkillTarget& target) {
        return target.file.empty() || (names.empty() ? !target.installed : !is_named(names, target.harness));
    });
    if (all.empty()) {
        return {ErrorCode::not_found,
                "no agent program was found on your PATH. Name the agent for which you want the skill, for example:\n"
                "  orange install --harness claude"};
    }
    return all;
}

std::string in_the_way(const Place& place) {
    const auto file = place.target.file.string();
    return file +
           (place.found.state == SkillState::edited ? " was changed after Orange wrote it"
                                                    : " was not written by Orange") +
           ", so it stays. To replace it, move it away and install again:\n  mv " + shell_word(file) + " " +
           shell_word(file + ".mine");
}

/// Writes each file that is missing or older. A file with the shipped text but without a mark gets one, unless it is a
/// link.
void write_places(std::vector<Place>& places, const std::string& text) {
    for (auto& place : places) {
        const auto& file = place.target.file;
        const auto state = place.found.state;
        std::error_code error;
        const bool is_current = state == SkillState::current;
        if (is_current && (place.found.is_own || std::filesystem::is_symlink(file, error))) continue;
        if (state == SkillState::edited || state == SkillState::foreign) {
            place.problem = in_the_way(place);
            continue;
        }
        const auto done = write_skill(file, text);
        place.written = done && !is_current;
        if (!done) place.problem = done.error().message;
    }
}

int put_places(const Context& context, const std::vector<Place>& places, bool dry_run) {
    Json rows = Json::array();
    std::vector<std::string> written, current;
    bool failed = false;
    for (const auto& place : places) {
        Json row{{"harness", place.target.harness},
                 {"file", place.target.file.string()},
                 {"state", name_of(place.found.state)},
                 {"written", place.written}};
        if (!place.problem.empty()) row["problem"] = place.problem;
        rows.push_back(std::move(row));
        if (place.written) written.push_back(place.target.harness);
        if (place.found.state == SkillState::current) current.push_back(place.target.harness);
        failed = failed || !place.problem.empty();
    }
    if (context.json) {
        put_json({{"skills", std::move(rows)}});
        return failed ? 1 : 0;
    }
    output::Table table({{"HARNESS"}, {"STATE"}, {"FILE"}});
    for (const auto& place : places) {
        table.row({{place.target.harness, output::k_bold},
                   {place.written ? "written" : name_text(place.found.state)},
                   {place.target.file.string()}});
    }
    output::put(table.render(context.style));
    for (const auto& place : places) {
        if (!place.problem.empty()) fail(false, {ErrorCode::conflict, place.problem});
    }
    if (dry_run) {
        output::put("Nothing was written.\n");
    } else if (!written.empty()) {
        output::put("Installed the Orange skill for " + join(written, ", ") + ".\n");
    } else if (!failed) {
        output::put("The Orange skill is already installed for " + join(current, ", ") + ".\n");
    }
    return failed ? 1 : 0;
}

}  // namespace

Status install_skill(const Context& context, const std::vector<std::string>& harnesses, bool dry_run) {
    TRY(const auto targets, chosen(harnesses));
    TRY(const auto text, shipped_skill());
    std::vector<Place> places;
    for (const auto& target : targets) places.push_back({target, look_at_skill(target.file, text), false, {}});
    if (!dry_run) write_places(places, text);
    return put_places(context, places, dry_run);
}

Status uninstall_skill(const Context& context, const std::vector<std::string>& harnesses) {
    TRY(const auto targets, skill_targets());
    std::vector<std::string> removed;
    Json rows = Json::array();
    bool failed = false;
    for (const auto& [harness, installed, file] : targets) {
        if (file.empty() || (!harnesses.empty() && !is_named(harnesses, harness))) continue;
        const auto found = look_at_skill(file, "");
        if (!found.is_own && found.state != SkillState::edited) continue;
        const auto done = found.is_own ? remove_skill(file) : Result<void>();
        const bool is_gone = done && found.is_own;
        if (is_gone) removed.push_back(harness);
        failed = failed || !done;
        rows.push_back({{"harness", harness}, {"file", file.string()}, {"removed", is_gone}});
        if (context.json) continue;
        if (!done) fail(false, done.error());
        if (!found.is_own) output::put(file.string() + " was changed after Orange wrote it, so it stays.\n");
    }
    if (context.json) {
        put_json({{"skills", std::move(rows)}});
    } else if (!removed.empty()) {
        output::put("Removed the Orange skill for " + join(removed, ", ") + ".\n");
    } else if (rows.empty()) {
        output::put("Orange has installed no skill" + std::string(harnesses.empty() ? "" : " for ") +
                    printable(join(harnesses, ", ")) + ".\n");
    }
    return failed ? 1 : 0;
}

std::vector<rpc::Finding> skill_findings() {
    std::vector<rpc::Finding> findings;
    const auto targets = skill_targets();
    const auto text = shipped_skill();
    if (!targets || !text) return findings;
    for (const auto& target : *targets) {
        if (target.file.empty()) continue;
        const auto found = look_at_skill(target.file, *text);
        if (!found.is_own && found.state != SkillState::edited) continue;
        const bool is_stale = found.state == SkillState::stale;
        rpc::Finding finding{"skill", is_stale ? "warning" : "ok",
                             "the Orange skill of " + target.harness +
                                 (is_stale                             ? " was written by another version of Orange"
                                  : found.state == SkillState::current ? " is up to date"
                                                                       : " was changed by you"),
                             target.file.string(), std::nullopt};
        if (is_stale) finding.command = "orange install --harness " + target.harness;
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace orange::commands
