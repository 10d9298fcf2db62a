"""Small words of tables and screens: what stands where there is nothing, and lengths of time as people say them."""

NOTHING = "-"


def length(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    if days:
        return f"{days}d" + (f"{hours}h" if hours and days < 3 else "")
    if hours:
        return f"{hours}h" + (f"{minutes}m" if minutes and hours < 10 else "")
    if minutes:
        return f"{minutes}m" + (f"{seconds}s" if seconds and minutes < 3 else "")
    return f"{seconds}s"
