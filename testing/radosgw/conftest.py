# SPDX-License-Identifier: BSD-3-Clause
"""What the tests with radosgw share: all that the system tests share."""
import importlib.util
import pathlib
import sys

SYSTEM = pathlib.Path(__file__).resolve().parent.parent / "system"


def load_system():
    spec = importlib.util.spec_from_file_location("system_conftest", SYSTEM / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# "import conftest" in the modules of the system tests means this file here.
globals().update({name: value for name, value in vars(load_system()).items() if not name.startswith("__")})
sys.path.append(str(SYSTEM))
