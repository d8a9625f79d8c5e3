"""Parameters in a dataset's name that choose a word, as ``molhiv:features=atom-encoder``."""

from __future__ import annotations

from collections.abc import Mapping

from benchbuild.errors import DatasetError


def choose(
    name: str,
    parameters: Mapping[str, str],
    allowed: Mapping[str, tuple[str, ...]],
    usual: Mapping[str, str],
) -> tuple[str, dict[str, str]]:
    """Return the full name that parameters give a dataset, and the word that each has.

    Args:
        name: The dataset without parameters.
        parameters: What is asked for.
        allowed: The words of each parameter.
        usual: What a parameter is if it is not given; such a word is left out of the name.

    Raises:
        DatasetError: If a parameter does not exist, or not with this word.
    """
    for key, word in parameters.items():
        if key not in allowed:
            raise DatasetError(f"{name}: unknown parameter {key!r}; known: {', '.join(allowed)}")
        if word not in allowed[key]:
            raise DatasetError(
                f"{name}: {key}={word} is unknown; allowed: {', '.join(allowed[key])}"
            )
    named = [
        f"{key}={parameters[key]}"
        for key in allowed
        if key in parameters and parameters[key] != usual.get(key)
    ]
    return ":".join([name, ",".join(named)]) if named else name, {**usual, **parameters}
