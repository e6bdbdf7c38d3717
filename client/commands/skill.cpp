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
    std::filesystem::path file;
    SkillState state = SkillState::absent;
    bool written = false;
    std::string problem;
};

const InstalledSkill* recorded_at(const std::vector<InstalledSkill>& skills, const std::filesystem::path& file) {
    const auto found = std::ranges::find_if(skills, [&](const auto& skill) { return skill.file == file; });
    return found == skills.end() ? nullptr : &*found;
}

bool is_named(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

std::string list_of(const std::vector<SkillTarget>& targets) {
    std::vector<std::string> names;
    for (const auto& target : targets) {
        if (!target.folder.empty()) names.push_back(target.harness);
    }
    return join(names, ", ");
}

Result<std::vector<SkillTarget>> chosen(const std::vector<std::string>& names) {
    TRY(auto all, skill_targets());
    for (const auto& name : names) {
        const auto found = std::ranges::find_if(all, [&](const auto& target) { return target.harness == name; });
        if (found == all.end() || found->folder.empty()) {
            return {ErrorCode::not_found, "harness " + printable(name) +
                                              (found == all.end() ? " does not exist" : " has no folder for skills") +
                                              ". The skill can be installed for: " + list_of(all)};
        }
    }
    std::erase_if(all, [&](const SkillTarget& target) {
        return target.folder.empty() || (names.empty() ? !target.installed : !is_named(names, target.harness));
    });
    if (all.empty()) {
        return {ErrorCode::not_found,
                "no agent program was found on your PATH. Name the agent for which you want the skill, for example:\n"
                "  orange install --harness claude"};
    }
    return all;
}

std::string in_the_way(const Place& place) {
    const auto file = shell_word(place.file.string());
    return place.file.string() +
           (place.state == SkillState::edited ? " was changed after Orange wrote it" : " was not written by Orange") +
           ", so it stays. To replace it, move it away and install again:\n  mv " + file + " " +
           shell_word(place.file.string() + ".mine");
}

/// Writes each file that is missing or older, and records it at once.
void write_places(const Paths& paths, std::vector<Place>& places, std::vector<InstalledSkill>& skills,
                  const std::string& text) {
    for (auto& place : places) {
        if (place.state == SkillState::current) {
            // The very text, from a copied home or an installation that was cut off: Orange's from now on.
            if (std::error_code error;
                !recorded_at(skills, place.file) && !std::filesystem::is_symlink(place.file, error)) {
                skills.push_back({place.target.harness, place.file, content_hash(text), {}});
                const auto recorded = write_manifest(paths, skills);
                if (!recorded) place.problem = recorded.error().message;
            }
            continue;
        }
        if (place.state == SkillState::edited || place.state == SkillState::foreign) {
            place.problem = in_the_way(place);
            continue;
        }
        auto done = write_skill(place.target, place.file, text);
        if (done) {
            const auto* before = recorded_at(skills, place.file);
            if (before) done->folders.insert(done->folders.end(), before->folders.begin(), before->folders.end());
            std::erase_if(skills, [&](const auto& skill) { return skill.file == place.file; });
            skills.push_back(*done);
            const auto recorded = write_manifest(paths, skills);
            if (!recorded) (void)remove_skill(*done);
            place.written = recorded.has_value();
            if (!recorded) place.problem = recorded.error().message;
        } else {
            place.problem = done.error().message;
        }
    }
}

int put_places(const Context& context, const std::vector<Place>& places, bool dry_run) {
    Json rows = Json::array();
    std::vector<std::string> written, current;
    bool failed = false;
    for (const auto& place : places) {
        Json row{{"harness", place.target.harness},
                 {"file", place.file.string()},
                 {"state", name_of(place.state)},
                 {"written", place.written}};
        if (!place.problem.empty()) row["problem"] = place.problem;
        rows.push_back(std::move(row));
        if (place.written) written.push_back(place.target.harness);
        if (place.state == SkillState::current) current.push_back(place.target.harness);
        failed = failed || !place.problem.empty();
    }
    if (context.json) {
        put_json({{"skills", std::move(rows)}});
        return failed ? 1 : 0;
    }
    output::Table table({{"HARNESS"}, {"STATE"}, {"FILE"}});
    for (const auto& place : places) {
        table.row({{place.target.harness, output::k_bold},
                   {place.written ? "written" : std::string(name_of(place.state))},
                   {place.file.string()}});
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

int install_skill(const Context& context, const std::vector<std::string>& harnesses, bool dry_run) {
    const auto targets = chosen(harnesses);
    if (!targets) return fail(context, targets.error());
    const auto text = shipped_skill();
    if (!text) return fail(context, text.error());
    auto skills = read_manifest(context.paths);
    if (!skills) return fail(context, skills.error());
    std::vector<Place> places;
    for (const auto& target : *targets) {
        const auto file = target.folder / "orange" / "SKILL.md";
        places.push_back({target, file, state_of(file, recorded_at(*skills, file), *text), false, {}});
    }
    if (!dry_run) write_places(context.paths, places, *skills, *text);
    return put_places(context, places, dry_run);
}

int uninstall_skill(const Context& context, const std::vector<std::string>& harnesses) {
    auto skills = read_manifest(context.paths);
    if (!skills) return fail(context, skills.error());
    const auto text = shipped_skill().value_or("");
    std::vector<InstalledSkill> stay;
    std::vector<std::string> removed;
    Json rows = Json::array();
    bool failed = false;
    for (const auto& skill : *skills) {
        if (!harnesses.empty() && !is_named(harnesses, skill.harness)) {
            stay.push_back(skill);
            continue;
        }
        const auto state = state_of(skill.file, &skill, text);
        std::error_code error;
        const bool is_link = std::filesystem::is_symlink(skill.file, error);
        const bool edited = is_link || state == SkillState::edited || state == SkillState::foreign;
        const auto done = edited ? Result<void>() : remove_skill(skill);
        if (!done) stay.push_back(skill);
        if (done && !edited) removed.push_back(skill.harness);
        failed = failed || !done;
        rows.push_back({{"harness", skill.harness}, {"file", skill.file.string()}, {"removed", done && !edited}});
        if (context.json) continue;
        if (!done) fail(false, done.error());
        if (edited) output::put(skill.file.string() + " was changed after Orange wrote it, so it stays.\n");
    }
    if (const auto written = write_manifest(context.paths, stay); !written) return fail(context, written.error());
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

std::vector<rpc::Finding> skill_findings(const Paths& paths) {
    std::vector<rpc::Finding> findings;
    const auto add = [&](const char* level, std::string text, std::string file, std::string command) {
        rpc::Finding finding{"skill", level, std::move(text), std::move(file), std::nullopt};
        if (!command.empty()) finding.command = std::move(command);
        findings.push_back(std::move(finding));
    };
    const auto skills = read_manifest(paths);
    if (!skills) {
        const auto message = skills.error().message;
        const auto end = message.rfind("\n  ");
        add("warning", first_line(message), (paths.home / "skills.json").string(),
            end == std::string::npos ? std::string() : message.substr(end + 3));
        return findings;
    }
    if (skills->empty()) return findings;
    const auto text = shipped_skill();
    for (const auto& skill : *skills) {
        const auto state = text ? state_of(skill.file, &skill, *text) : SkillState::current;
        const auto again = "orange install --harness " + skill.harness;
        const auto whose = "the Orange skill of " + skill.harness;
        if (state == SkillState::absent) {
            add("warning", whose + " is gone", skill.file.string(), again);
        } else if (state == SkillState::stale) {
            add("warning", whose + " was written by another version of Orange", skill.file.string(), again);
        } else {
            add("ok", whose + (state == SkillState::current ? " is up to date" : " was changed by you"),
                skill.file.string(), {});
        }
    }
    return findings;
}

}  // namespace orange::commands
