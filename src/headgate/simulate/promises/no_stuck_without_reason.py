from headgate.simulate.promises.base import Ending, Promise

_SELF_EXPLAINING = frozenset({"running", "verifying", "rollingBack", "failed", "frozen"})


class NoStuckWithoutReason(Promise):
    name = "NoStuckWithoutReason"
    sentence = "every unit that has not converged has a reason, and a time or an event that wakes it"

    def ended(self, ending: Ending) -> None:
        for unit in ending.unconverged:
            held_back = any(verdict != "allowed" and message for verdict, message in unit.verdicts)
            if not (held_back or unit.reason or unit.state in _SELF_EXPLAINING):
                self.broken(ending.at, f"{unit.target} is {unit.state} and nothing says why")
            if not unit.wakes or not unit.is_woken:
                self.broken(ending.at, f"{unit.target} is {unit.state} and nothing wakes it ({unit.reason})")
