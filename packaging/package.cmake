# The Debian package, which scripts/package makes with cpack: of the static programs, so that one is for all distributions.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orange)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(ORANGE_MAINTAINER "The authors of Orange <orange@localhost.localdomain>" CACHE STRING
    "Maintainer of the Debian package; set it to yours if you distribute the package")
set(CPACK_PACKAGE_CONTACT ${ORANGE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs several coding agents, each in a git worktree of its own")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Orange runs coding agents in tmux sessions and git worktrees. You describe
a task, an agent plans and implements it, a second agent reviews it, and
you merge it. A daemon enforces the workflow, notices agents that crash,
and keeps everything in plain files below ~/orange.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
if(CMAKE_CROSSCOMPILING)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "tmux (>= 3.2), git (>= 1:2.38)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gh, openssh-client")
# With DESTDIR the unit gets the path that the daemon will have, not that of the folder in which it is packed.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
# What only the package has: cpack runs this before it packs.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/debian.cmake)
set(CPACK_ORANGE_PACKAGING ${CMAKE_SOURCE_DIR}/packaging)
# Whoever builds says which targets; packing and installing build nothing by themselves.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
include(CPack)
