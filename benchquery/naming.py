"""Names as people write them: in any letter case, by their usual aliases, or slightly misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

DATASET_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "ogbn-arxiv": "arxiv",
        "ogb-arxiv": "arxiv",
        "ogbn-proteins": "proteins",
        "coauthor-cs": "cs",
        "coauthor-physics": "physics",
        "amazon-photo": "photo",
        "amazon-computers": "computers",
        "cite-seer": "citeseer",
        "pub-med": "pubmed",
        "tu-nci1": "nci1",
        "d&d": "dd",
        "tu-dd": "dd",
        "tu-proteins": "proteins-tu",
        "tu-mutag": "mutag",
        "ogbg-molbace": "molbace",
        "ogbg-molbbbp": "molbbbp",
        "ogbg-molhiv": "molhiv",
        "cifar-10": "cifar10",
        "cifar-100": "cifar100",
        "fashionmnist": "fashion-mnist",
        "fmnist": "fashion-mnist",
        "tiny-imagenet": "tinyimagenet",
        "tiny-imagenet-200": "tinyimagenet",
    }
)
"""What datasets are called elsewhere, in lower case -> what they are called here."""

_MOST_DIGITS = 18


def whole_number(text: str) -> int | None:
    """Return the number from 0 up that a text is, or None; nothing here has over 18 digits.

    Example:
        >>> whole_number(" 61237")
        61237
    """
    digits = text.strip()
    return int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None


def match_name(
    name: object, allowed: Iterable[str], aliases: Mapping[str, str] = MappingProxyType({})
) -> str | None:
    """Return the allowed name that is meant: the same one but for its letter case, or an alias.

    Args:
        name: What was asked for.
        allowed: The names that there are.
        aliases: Other names, in lower case, and what they stand for.

    Returns:
        One of the allowed names; None if none is meant.

    Example:
        >>> match_name("CiteSeer", ["cora", "citeseer"])
        'citeseer'
    """
    if not isinstance(name, str):
        return None
    known = list(allowed)
    if name in known:
        return name
    folded = name.strip().casefold()
    folded = aliases.get(folded.replace("_", "-"), folded)
    return next((one for one in known if one.casefold() == folded), None)


def suggestion(name: object, allowed: Iterable[str]) -> str:
    """Return the end of a message that names what was probably meant; nothing if that is unclear.

    Example:
        >>> suggestion("gcnod", ["random", "gcond"])
        "; did you mean 'gcond'?"
    """
    import difflib

    by_folded = {one.casefold(): one for one in allowed}
    close = difflib.get_close_matches(str(name).casefold(), by_folded, n=1, cutoff=0.6)
    return f"; did you mean {by_folded[close[0]]!r}?" if close else ""


def unknown(what: str, name: object, allowed: Iterable[str]) -> str:
    """Return the message on a name that there is not: what is allowed, and what was meant.

    Example:
        >>> unknown("strategy", "evolutoin", ["random", "evolution"])
        "unknown strategy 'evolutoin'; did you mean 'evolution'? allowed: random, evolution"
    """
    known = list(allowed)
    guess = suggestion(name, known)
    return f"unknown {what} {name!r}{guess or ';'} allowed: {', '.join(known) or 'none'}"
