#include "daemon/process/process_runner.hpp"

#include "common/base/text.hpp"

namespace orange {

Error command_failed(const std::vector<std::string>& argv, const Completed& completed) {
    const auto command = join(argv, " ");
    const auto said = trim(completed.err.empty() ? completed.out : completed.err);
    auto message = "`" + ellipsized(printable(command), 200) + "` failed with exit status " +
                   std::to_string(completed.exit_status);
    if (!said.empty()) message += ": " + ellipsized(printable(said, true), 2000);
    return {ErrorCode::external_failed,
            std::move(message),
            {{"command", command}, {"exit_status", std::to_string(completed.exit_status)}, {"stderr", completed.err}}};
}

}  // namespace orange
