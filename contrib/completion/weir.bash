# SPDX-License-Identifier: BSD-3-Clause
# weir.bash - completion for bash, of all programs, also after mpirun. It asks the program, so it is never out
# of date. make install puts it where bash-completion looks; else source this file.
# shellcheck shell=bash

_weir_programs=' ior mdtest md-workbench mib h5exerciser hdf5Exerciser checkpoint_simulator.x restart_simulator.x raw_bw.x gatherv.x combo.x weir-plot weir-compare '

# The words before the cursor as they were typed: bash splits at '=' and ':', too.
_weir_split() {
    local line=${COMP_LINE:0:COMP_POINT}

    read -ra _weir_typed <<<"$line"
    [[ $line != *[[:space:]] ]] || _weir_typed+=('')
}

# Where the program stands on the line: in _weir_at, with its path in _weir_program. Status 1: nowhere.
_weir_find() {
    local i word

    for ((i = 0; i < ${#_weir_typed[@]} - 1; i++)); do
        word=${_weir_typed[i]/#\~/$HOME}
        if [[ $_weir_programs == *" ${word##*/} "* ]]; then
            _weir_at=$i _weir_program=$word
            return 0
        fi
    done
    return 1
}

_weir() {
    local _weir_typed=() _weir_at _weir_program
    local typed before='' first='' head word
    COMPREPLY=()

    _weir_split
    if ! _weir_find; then
        compopt -o default
        return
    fi
    typed=${_weir_typed[-1]}
    ((${#_weir_typed[@]} - 2 <= _weir_at)) || before=${_weir_typed[-2]}
    ((${#_weir_typed[@]} - 2 <= _weir_at)) || first=${_weir_typed[_weir_at + 1]}
    # readline replaces only what follows the last '=' or ':'
    head=${typed%"${typed##*[=:]}"}
    while IFS=$'\t' read -r word _; do
        COMPREPLY+=("${word#"$head"}")
    done < <("$_weir_program" --complete "$before" "$typed" "$first" 2>/dev/null)
    if ((${#COMPREPLY[@]} == 0)); then
        compopt -o default
    elif [[ ${COMPREPLY[0]} == *[=:] || $before == -O || $before == --option ]]; then
        compopt -o nospace
    fi
}

for _weir_word in $_weir_programs mpirun mpiexec srun; do
    # A completion of the launcher that is there stays.
    complete -p "$_weir_word" >/dev/null 2>&1 || complete -F _weir "$_weir_word"
done
unset _weir_word
