#pragma once

#include "tests/catch_version.hpp"
#include "tests/facts.hpp"
