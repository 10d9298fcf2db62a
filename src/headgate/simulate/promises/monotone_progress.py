"""Looked at when nothing more can happen: work that is left must be held back by a fault or by a gate."""

from headgate.simulate.promises.base import Ending, Promise


class MonotoneProgress(Promise):
    name = "MonotoneProgress"
    sentence = "with faults over and gates open, the remaining work falls to zero"

    def ended(self, ending: Ending) -> None:
        if ending.converged or ending.was_cut or ending.next_wake is not None:
            return
        for unit in ending.unconverged:
            is_open = all(verdict == "allowed" for verdict, _ in unit.verdicts)
            if unit.state == "waiting" and is_open and unit.verdicts:
                self.broken(
                    ending.at, f"{unit.target} waits although every rule says allowed ({unit.reason})"
                )
        if not ending.unconverged:
            self.broken(ending.at, "the fleet has not converged, and no target says that it is the one")
