"""What somebody may have meant is looked for where that is quick, and nowhere else."""

from headgate.kernel import spelling


def test_the_name_most_like_it_is_found() -> None:
    assert spelling.closest("kubelet-upgrde", ["api", "kubelet-upgrade", "kubelet"]) == "kubelet-upgrade"
    assert spelling.closest("zzz", ["api", "kubelet"]) is None


def test_nothing_is_looked_for_among_many_or_long_names() -> None:
    assert (
        spelling.closest("node-1x", [f"node-{number}" for number in range(spelling.MOST_NAMES + 1)]) is None
    )
    assert spelling.closest("n" * 240, [f"{'n' * 239}{number}" for number in range(1_000)]) is None
