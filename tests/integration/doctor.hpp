#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/rpc/doctor_methods.hpp"
#include "tests/integration/sandbox.hpp"

/// `orange doctor`, as a user has it: what it says, and doing what it says.
namespace orange::tests {

struct Diagnosis {
    int status = -1;
    std::vector<rpc::Finding> findings;

    /// Everything that is not ok of one check, a line each.
    std::string said(const std::string& check) const {
        std::string lines;
        for (const auto& finding : findings) {
            if (finding.check == check && finding.level != "ok") lines += finding.level + " " + finding.text + "\n";
        }
        return lines;
    }
    std::string errors() const {
        std::string lines;
        for (const auto& finding : findings) {
            if (finding.level == "error") lines += finding.check + ": " + finding.text + "\n";
        }
        return lines;
    }
    const rpc::Finding* first(const std::string& check) const {
        for (const auto& finding : findings) {
            if (finding.check == check && finding.level != "ok") return &finding;
        }
        return nullptr;
    }
    std::string command(const std::string& check) const {
        const auto* finding = first(check);
        return finding ? finding->command.value_or("") : "";
    }
    std::string file(const std::string& check) const {
        const auto* finding = first(check);
        return finding ? finding->file.value_or("") : "";
    }
};

inline Diagnosis diagnose(Sandbox& orange) {
    const auto ran = orange.orange({"doctor", "--json"});
    const auto json = parse_json(ran.out);
    if (!json) orange.fail("orange doctor --json: " + ran.out + ran.err);
    auto reply = read_as<rpc::DaemonDoctor::Reply>(*json, "", UnknownKeys::ignore);
    if (!reply) orange.fail("orange doctor --json: " + reply.error().message);
    return {ran.status, std::move(reply->findings)};
}

/// Types the command as a person would; it has to succeed.
inline std::string mend(Sandbox& orange, const std::string& command) {
    if (command.empty()) orange.fail("there is no command that mends it");
    return orange.run({"sh", "-c", command});
}

/// An agent that does nothing until it is ended.
inline void add_idle_harness(Sandbox& orange) {
    std::filesystem::create_directories(orange.home() / "harnesses");
    write_file(orange.home() / "harnesses" / "idle.yml",
               "name: idle\nprogram: sh\nargv:\n  full: [-c, sleep 600, --, \"{prompt}\"]\n");
}

inline rpc::TaskCreate idle_task(const std::string& project, const std::string& summary) {
    rpc::TaskCreate create;
    create.project = project;
    create.summary = summary;
    create.harness = create.review_harness = "idle";
    return create;
}

inline std::string id_of(const rpc::TaskReply& reply) {
    return reply.task.fields.id.value;
}

}  // namespace orange::tests
