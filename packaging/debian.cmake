# Files that Debian wants in a package, and that no other installation has. Run by cpack, in the folder that it packs.
set(usr ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(doc ${usr}/share/doc/orange)
set(overrides ${usr}/share/lintian/overrides)
file(MAKE_DIRECTORY ${overrides} ${usr}/share/zsh/vendor-completions)
file(COPY_FILE ${CPACK_ORANGE_PACKAGING}/lintian-overrides ${overrides}/orange)
# Debian's zsh does not look into site-functions below /usr.
file(RENAME ${usr}/share/zsh/site-functions/_orange ${usr}/share/zsh/vendor-completions/_orange)
file(REMOVE_RECURSE ${usr}/share/zsh/site-functions)
file(REMOVE ${doc}/changelog)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog "orange (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md in this folder.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(CHMOD ${doc}/copyright ${doc}/changelog ${overrides}/orange
    PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
file(GLOB pages ${usr}/share/man/man*/*)
foreach(file ${doc}/changelog ${pages})
    execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
