"""The operators' functions, found and not listed: what each module of this folder names in its __all__.

An operator is added by adding its module. Type checkers read __init__.pyi instead, which the build makes.
"""

from __future__ import annotations

import importlib
import pkgutil

__all__: list[str] = []

for _module_info in pkgutil.iter_modules(__path__):
    _module = importlib.import_module(f"{__name__}.{_module_info.name}")
    for _name in _module.__all__:
        if _name in __all__:
            raise ImportError(f"two modules of {__name__} export {_name}; one is {_module.__name__}")
        globals()[_name] = getattr(_module, _name)
        __all__.append(_name)
