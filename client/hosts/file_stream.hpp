#pragma once

#include <vector>

#include "client/connection/given_file.hpp"

/// Files on their way to `orange` on a host, in front of its standard input: for each a line of JSON with name, origin
/// and size, and its bytes; behind the last one the line {"end": true}. What follows is the command's own input.
namespace orange::hosts {

/// Writes the files. unavailable: nobody reads any more. After another error the reader must get no more.
Result<void> send_files(int to, const std::vector<connection::GivenFile>& files);

/// Reads that many files, and no byte behind them, into files without a name that only this user can read.
/// unavailable: the stream ended before its end line.
Result<std::vector<connection::GivenFile>> receive_files(int from, std::size_t count);

}  // namespace orange::hosts
