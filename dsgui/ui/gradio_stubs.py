"""Gradio without the stubs that it writes for editors. Whenever it is imported it parses the sources of its components
and puts a `.pyi` beside each, in whichever environment it is installed: almost half of the import."""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

MODULE, WRITES = "gradio.component_meta", "create_or_modify_pyi"


def leave_out() -> None:
    """Call it before Gradio is imported; afterwards it does nothing."""
    if MODULE not in sys.modules:
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds that one module where it is, and leaves the writing out of it."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)  # type: ignore[arg-type] # as it was handed to us
        if spec and spec.loader:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if hasattr(module, WRITES):
            setattr(module, WRITES, lambda *_: None)
