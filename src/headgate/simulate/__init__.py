"""Virtual time: scenarios, what they are played against, and what comes of it.

The package is what `headgate.simulate` names, and can be called: whoever uses the library says
`headgate.simulate(scenario)`, and the name must not depend on which module was imported before.
"""

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgate.simulate.model.result import Result


class _Package(types.ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> "Result":
        from headgate.simulate import library

        return library.simulate(*arguments, **options)


sys.modules[__name__].__class__ = _Package
