# SPDX-License-Identifier: BSD-3-Clause
"""A file that is written beside its name and renamed: it is whole or not there."""
import contextlib
import os

from .refusal import BAD_USAGE, Refusal, reason


def keep_inputs(path, inputs):
    """Refuse to write over one of the files that are read, by whatever name."""
    for name in inputs:
        if os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
            raise Refusal("-o %s: is %s, which is read: give another name" % (path, name), BAD_USAGE)


@contextlib.contextmanager
def writing(path, mode, opener=open, **how):
    """The open file. A link is followed; what is no ordinary file (a device, a pipe) is written itself, and stays."""
    in_place = os.path.exists(path) and not os.path.isfile(path)
    target = path if in_place else os.path.realpath(path)
    part = target if in_place else "%s.%d.part" % (target, os.getpid())
    try:
        with opener(part, mode, **how) as f:
            yield f
        if not in_place:
            os.replace(part, target)
    except OSError as e:
        raise Refusal("%s: %s" % (path, reason(e)))
    finally:
        if not in_place and os.path.exists(part):
            os.unlink(part)
