#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# versions.sh - files for packages name the version of configure.ac, and no address that nobody answers
set -eu
cd "${WEIR_SOURCE-$(dirname "$0")/../..}"

version=$(sed -n 's/^AC_INIT(\[weir\], \[\([^]]*\)\].*/\1/p' configure.ac)
packaging=contrib/packaging
status=0

# The words $1 must stand in file $2.
names() {
    if ! grep -qF -- "$1" "$2"; then
        echo "$2: '$1' is missing: configure.ac says version '$version'"
        status=1
    fi
}

names "weir ($version-1)" $packaging/debian/changelog
names "Version:        $version" $packaging/rpm/weir.spec
names " - $version-1" $packaging/rpm/weir.spec
names "version: $version" $packaging/CITATION.cff
names "weir-$version.tar.gz" contrib/packaging/README.md
for recipe in "$packaging"/easybuild/weir-*.eb; do
    names "version = '$version'" "$recipe"
    case $recipe in */weir-"$version"-*) ;; *)
        echo "$recipe: the name does not have version $version"
        status=1
        ;;
    esac
done
# Debian requires an address of the maintainer; nothing else has a placeholder.
! grep -rn 'example\.org' configure.ac README.md doc $packaging | grep -v "^$packaging/debian/" || status=1
exit $status
