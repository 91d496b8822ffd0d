# SPDX-License-Identifier: BSD-3-Clause
# ior.bash - completion for bash. It asks the program, so it is never out of date: source this file.
# shellcheck shell=bash

# The words of the ior that stands on the line, also after "mpirun ... ior". $1: pattern
_weir_ior_words() {
    "${_weir_ior_program:-ior}" --dump-options=words 2>/dev/null | sed -n "$1"
}

_weir_ior() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local _weir_ior_program=${COMP_WORDS[0]}

    _weir_ior_program=${_weir_ior_program/#\~/$HOME}
    COMPREPLY=()
    case $prev in
    -O | --option)
        local head=
        [[ $cur == *,* ]] && head=${cur%,*},
        compopt -o nospace
        mapfile -t COMPREPLY < <(compgen -P "$head" -W "$(_weir_ior_words 's/^-O //p')" -- "${cur##*,}")
        return
        ;;
    -a | --api)
        local names
        names=$("$_weir_ior_program" --help 2>/dev/null | sed -n 's/^Module //p')
        mapfile -t COMPREPLY < <(compgen -W "$names" -- "${cur^^}")
        return
        ;;
    -f | --script | -o | --test-file)
        compopt -o default
        return
        ;;
    esac
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_weir_ior_words '/^-O /!p')" -- "$cur")
    else
        compopt -o default
    fi
}

complete -F _weir_ior ior mib h5exerciser hdf5Exerciser
