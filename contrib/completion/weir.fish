# SPDX-License-Identifier: BSD-3-Clause
# weir.fish - completion for fish, of all programs, also after mpirun. It asks the program, so it is never out
# of date. make install puts it where fish looks; else source this file.

function __weir_programs
    string split ' ' 'ior mdtest md-workbench mib h5exerciser hdf5Exerciser checkpoint_simulator.x restart_simulator.x raw_bw.x gatherv.x combo.x weir-plot weir-compare'
end

# Words, a tab, a sentence: from the program that stands on the line; files where it has none.
function __weir_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l program
    set -l at 0
    for i in (seq (count $words))
        if contains -- (string replace -r '.*/' '' -- $words[$i]) (__weir_programs)
            set program (string replace -r '^~' $HOME -- $words[$i])
            set at $i
            break
        end
    end
    if test -z "$program"
        __fish_complete_path "$typed"
        return
    end
    set -l before ''
    test (count $words) -eq $at; or set before $words[-1]
    set -l first ''
    test (count $words) -eq $at; or set first $words[(math $at + 1)]
    set -l found ($program --complete "$before" "$typed" "$first" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$typed"
    end
end

for name in (__weir_programs) mpirun mpiexec srun
    complete -c $name -f -a '(__weir_complete)'
end
