#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"
#include "tests/machine.hpp"

int main(int argc, char** argv) {
    orange::tests::forget_machine();
    return Catch::Session().run(argc, argv);
}
