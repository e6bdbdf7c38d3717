#include "daemon/runner/explained.hpp"

#include "common/base/text.hpp"
#include "daemon/engine/explain.hpp"
#include "daemon/engine/permissions.hpp"

namespace orange {

Error explained(Error error, const engine::Definition& definition, const engine::Situation& situation,
                const Caller& by) {
    if (error.code == ErrorCode::forbidden && by.role != Role::human) {
        // Before the last sentence, if that is what to run instead.
        auto& text = error.message;
        const auto command = text.find("\n  ");
        const auto end = command == std::string::npos ? std::string::npos : text.rfind(". ", command);
        if (end == std::string::npos) {
            text += " (this call came from " + engine::describe(by) + ")";
        } else {
            text.insert(end, " (this call came from " + engine::describe(by) + ")");
        }
    }
    std::vector<std::string> edges;
    for (const auto& edge : engine::explain(definition, situation)) edges.push_back(engine::describe(edge));
    error.details["status"] = situation.task.status;
    error.details["edges"] = join(edges, "\n");
    return error;
}

}  // namespace orange
