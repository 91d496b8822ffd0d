# SPDX-License-Identifier: BSD-3-Clause
"""Hints and names of files that libraries on MPI-IO would take for something else."""
import pytest

import conftest

APIS = ["MPIIO", "HDF5", "NCMPI"]
IO = ["ompio", "romio321"]
SECONDS = 30


# ---- hints with numbers ----

@pytest.mark.parametrize("api", APIS)
def test_a_number_that_a_library_does_not_survive_is_refused(ior, need_backend, api):
    need_backend(api)
    run = ior("-c -w -b 64k -t 16k -a " + api, env={"IOR_HINT__MPI__cb_nodes": "0"}, timeout=SECONDS)
    run.fails(1, "hint 'cb_nodes=0' in the environment: must be a whole number from 1 to 2147483647 (tasks)")
    (ior.cwd / "hints").write_text("# two hints\nIOR_HINT__MPI__romio_cb_write=enable\nIOR_HINT__MPI__striping_unit=-1\n")
    run = ior("-c -w -b 64k -t 16k -a %s --%s.hintsFileName=hints" % (api, api.lower()), timeout=SECONDS)
    run.fails(1, "hint 'striping_unit=-1' in line 3 of 'hints': must be a whole number from 0 ")
    assert ior.files() == ["hints"]


@pytest.mark.parametrize("io", IO)
def test_sound_and_unknown_hints_pass(ior, need_backend, io):
    need_backend("MPIIO")
    env = {"IOR_HINT__MPI__cb_nodes": "1", "IOR_HINT__MPI__of_another_library": "-1", "OMPI_MCA_io": io}
    run = ior("-a MPIIO -c -w -r -R -b 64k -t 16k", env=env, timeout=SECONDS)
    conftest.sound(run.ok())
    assert run.errors == run.warnings == []


# ---- names with a ':' ----

NAMES = ["a:b", "run-10:00/f", "ufs-x:f", "./ufs:f"]


def others(ior):
    """Files that nobody named, which a library could take for the named ones."""
    for name in ("b", "00/f", "f", "run-10"):
        (ior.cwd / name).parent.mkdir(exist_ok=True)
        (ior.cwd / name).write_text("of somebody else")
    (ior.cwd / "run-10:00").mkdir()


def check_others(ior):
    for name in ("b", "00/f", "f", "run-10"):
        assert (ior.cwd / name).read_text() == "of somebody else", name


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("api", APIS)
def test_no_part_of_a_name_is_taken_for_a_driver(ior, need_backend, api, io):
    need_backend(api)
    others(ior)
    for name in NAMES:
        run = ior("-k -w -r -R -G 7 -b 64k -t 16k -a %s -o %s" % (api, name), env={"OMPI_MCA_io": io}, timeout=SECONDS)
        check_others(ior)
        if api == "NCMPI" and run.returncode != 0:
            run.fails(1, "'%s': PnetCDF reads the text before ':' as a driver" % name)
            assert not (ior.cwd / name).exists()
        else:
            conftest.sound(run.ok())
            assert (ior.cwd / name).stat().st_size >= 2 * 65536
            (ior.cwd / name).unlink()


@pytest.mark.parametrize("io", IO)
@pytest.mark.parametrize("api", APIS)
def test_a_driver_that_the_user_names_is_no_part_of_the_file(ior, need_backend, api, io):
    need_backend(api)
    for name in ("ufs:some", "ufs:x"):
        run = ior("-k -w -r -R -G 7 -b 64k -t 16k -a %s -o %s" % (api, name), env={"OMPI_MCA_io": io}, timeout=SECONDS)
        conftest.sound(run.ok())
        run = ior("-r -R -G 7 -b 64k -t 16k -a %s -o ./%s" % (api, name[4:]), env={"OMPI_MCA_io": io}, timeout=SECONDS)
        conftest.sound(run.ok())
        assert ior.files() == [name[4:]]
        (ior.cwd / name[4:]).unlink()
