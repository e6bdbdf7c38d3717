#pragma once

#include <string>

#include "client/output/terminal.hpp"
#include "common/rpc/executor_methods.hpp"

/// Pages about executors. Pure, printable.
namespace orange::output {

std::string executors_page(const rpc::ExecutorList::Reply& reply, const Style& style);
std::string executor_page(const rpc::ExecutorShow::Reply& reply, const Style& style);

}  // namespace orange::output
