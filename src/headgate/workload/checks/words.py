"""What Kubernetes accepts as a name, a label, an environment variable."""

import re

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(_LABEL, re.ASCII)
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_QUALIFIED_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_ENVIRONMENT_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*", re.ASCII)
LONGEST_SUBDOMAIN = 253
LONGEST_LABEL = 63


def subdomain_problem(name: str) -> str | None:
    if len(name) > LONGEST_SUBDOMAIN:
        return f"is {len(name)} characters long; allowed are {LONGEST_SUBDOMAIN}"
    if not _SUBDOMAIN.fullmatch(name):
        return (
            f'is "{name}"; allowed is a DNS subdomain: lower case letters, digits, "-" and ".", '
            "beginning and ending with a letter or a digit"
        )
    return None


def name_problem(name: str) -> str | None:
    if len(name) <= LONGEST_LABEL and _NAME.fullmatch(name):
        return None
    return (
        f'is "{name}"; allowed are up to {LONGEST_LABEL} lower case letters, digits and "-", '
        "beginning and ending with a letter or a digit"
    )


def key_problem(key: str) -> str | None:
    prefix, slash, name = key.rpartition("/")
    if (
        (slash and subdomain_problem(prefix))
        or len(name) > LONGEST_LABEL
        or not _QUALIFIED_NAME.fullmatch(name)
    ):
        return (
            f'has the key "{key}"; allowed are up to {LONGEST_LABEL} letters, digits, "-", "_" and ".", '
            'beginning and ending with a letter or a digit, after an optional DNS subdomain and "/"'
        )
    return None


def label_value_problem(value: str) -> str | None:
    if value and (len(value) > LONGEST_LABEL or not _QUALIFIED_NAME.fullmatch(value)):
        return (
            f'is "{value}"; allowed are up to {LONGEST_LABEL} letters, digits, "-", "_" and ".", '
            "beginning and ending with a letter or a digit"
        )
    return None


def environment_name_problem(name: str) -> str | None:
    if _ENVIRONMENT_NAME.fullmatch(name):
        return None
    return f'is "{name}"; allowed are letters, digits, "_", "-" and ".", not beginning with a digit'
