"""A stack machine for the instructions that pickles of plain data consist of.

It differs from Python's own loader in what it does not do. It imports nothing and calls nothing but
the constructors it is given. Objects are numbered one after the other, a container that stands in
a second place does not change any more, so that none holds itself, and everything is counted
against a `benchquery.pickles.budget.Budget`.
"""

from __future__ import annotations

import codecs
import pickletools
import re
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NoReturn

import numpy as np

from benchquery.errors import UnsafePickleError
from benchquery.pickles.budget import DEPTH, MOST_DIGITS, Budget, count_items

_DICT, _ENTRY, _FEW = 232, 64, 5
_LIST, _TUPLE, _SLOT = 104, 56, 9
_TEXT, _NUMBER, _FLOAT = 64, 32, 24
_MEMO = 16
_MOST_NAME = 80
_RUN = 64
_UNPACK = [struct.Struct(">" + "xd" * count).unpack_from for count in range(_RUN + 1)]
_FLOAT_LIST = re.compile(rb"(?:\x94|q.|r.{4})\(((?:G.{8}){1,%d}+)e" % _RUN, re.DOTALL)
_ALIKE, _MOST_ALIKE = 16, 4096
"""How many lists of floats must seem to follow each other to look at them at once, and how many are
then made at once at most."""
_CONTAINERS = frozenset({dict, list, tuple})
_BINFLOAT, _BINGET = b"Gh"
_STOPPED = -1


class StandIn:
    """Something that is no plain data, and is on the stack while plain data is made with it."""

    __slots__ = ()

    def build(self, state: Any, budget: Budget) -> Any:
        """Take its state; returns what stands in its place from now on."""
        raise UnsafePickleError("it sets the state of something that has none")

    def fetched(self) -> Any:
        """Return what stands in its place when it is asked for by its number."""
        return self


class Name(StandIn):
    """The name of a function or class; it is never looked up."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


Constructor = Callable[[tuple[Any, ...], Budget], Any]
"""Makes a value of arguments, which it checks, and counts what that takes."""


class Machine:
    """Reads one pickle.

    Args:
        content: The pickle.
        functions: By module and name what it may call; None for a name that may only be handed on.
        classes: By module and name what it may make without calling it.
        others: Types that may be in the result beside plain ones.
    """

    def __init__(
        self,
        content: bytes,
        functions: Mapping[tuple[str, str], Constructor | None],
        classes: Mapping[tuple[str, str], Constructor] | None = None,
        others: tuple[type, ...] = (),
    ) -> None:
        self._content = content
        self._functions = functions
        self._classes = classes or {}
        self._others = others
        self._budget = Budget(len(content))
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: list[Any] = []
        self._frozen: set[int] = set()
        self._end = _STOPPED

    def run(self) -> Any:
        """Return what the pickle holds.

        Raises:
            UnsafePickleError: If it holds or asks for anything that is not allowed, or too much.
            Exception: Of other types, if it is truncated or no pickle.
        """
        content, position = self._content, 0
        instructions: list[Callable[[int], int]] = [self._refuse] * 256
        for code, (method, *args) in _INSTRUCTIONS.items():
            instructions[code] = partial(method, self, *args)
        while position >= 0:
            position = instructions[content[position]](position + 1)
        if self._below or len(self._stack) != 1:
            raise ValueError("it ends in the middle")
        if self._end != len(content):
            raise ValueError("it goes on after its end")
        count_items(self._stack[0], 3 * len(content) + (1 << 21), self._others)
        return self._stack[0]

    def _refuse(self, position: int) -> NoReturn:
        """Refuse an instruction that plain data does not need."""
        code = chr(self._content[position - 1])
        for known in pickletools.opcodes:
            if known.code == code:
                raise UnsafePickleError(f"it has the instruction {known.name}")
        raise ValueError(f"it has the unknown instruction {code!r}")

    def _stop(self, position: int) -> int:
        self._end = position
        return _STOPPED

    def _protocol(self, position: int) -> int:
        if self._content[position] > 5:
            raise ValueError(f"it is of the unknown protocol {self._content[position]}")
        return position + 1

    def _frame(self, position: int) -> int:
        return position + 8

    # Texts and numbers

    def _take_bytes(self, position: int, prefix: int) -> tuple[bytes, int]:
        """Return bytes whose number stands before them, and where they end."""
        content, start = self._content, position + prefix
        end = start + (
            content[position] if prefix == 1 else int.from_bytes(content[position:start], "little")
        )
        if end > len(content):
            raise ValueError("it ends within a text")
        return content[start:end], end

    def _take_line(self, position: int) -> tuple[bytes, int]:
        """Return the bytes up to the end of the line, and where the next line begins."""
        end = self._content.index(b"\n", position)
        return self._content[position:end], end + 1

    def _push_text(self, text: str) -> None:
        self._budget.take(_TEXT + len(text) * (1 if text.isascii() else 4))
        self._stack.append(text)

    def _unicode(self, prefix: int, position: int) -> int:
        raw, end = self._take_bytes(position, prefix)
        self._push_text(raw.decode())
        return end

    def _unicode_line(self, position: int) -> int:
        raw, end = self._take_line(position)
        text = raw.decode("raw-unicode-escape")
        text.encode()
        self._push_text(text)
        return end

    def _string(self, prefix: int, position: int) -> int:
        raw, end = self._take_bytes(position, prefix)
        self._push_text(raw.decode("latin1"))
        return end

    def _string_line(self, position: int) -> int:
        raw, end = self._take_line(position)
        if len(raw) < 2 or raw[:1] != raw[-1:] or raw[:1] not in (b"'", b'"'):
            raise ValueError("it has a text without quotes")
        decoded, _ = codecs.escape_decode(raw[1:-1])
        self._push_text(decoded.decode("latin1"))
        return end

    def _bytes(self, prefix: int, position: int) -> int:
        raw, end = self._take_bytes(position, prefix)
        self._budget.take(_TEXT + len(raw))
        self._stack.append(raw)
        return end

    def _buffer(self, position: int) -> int:
        end = self._bytes(8, position)
        self._stack[-1] = bytearray(self._stack[-1])
        return end

    def _floats(self, position: int) -> int:
        """Read a float, and those that follow it at once."""
        start = position - 1
        if self._content[start + 9] != _BINFLOAT:
            self._stack += _UNPACK[1](self._content, start)
            self._budget.memory -= _FLOAT
            return start + 9
        codes = self._content[start : start + 9 * _RUN : 9]
        count = len(codes) - len(codes.lstrip(b"G"))
        self._stack += _UNPACK[count](self._content, start)
        self._budget.memory -= _FLOAT * count
        return start + 9 * count

    def _float_line(self, position: int) -> int:
        raw, end = self._take_line(position)
        self._budget.take(_FLOAT)
        self._stack.append(float(raw))
        return end

    def _integer(self, size: int, signed: bool, position: int) -> int:
        end = position + size
        if end > len(self._content):
            raise ValueError("it ends within a number")
        number = int.from_bytes(self._content[position:end], "little", signed=signed)
        self._budget.memory -= _NUMBER
        self._stack.append(number)
        return end

    def _long(self, position: int) -> int:
        raw, end = self._take_bytes(position, 1)
        self._budget.take(_NUMBER + len(raw))
        self._stack.append(int.from_bytes(raw, "little", signed=True))
        return end

    def _integer_line(self, position: int) -> int:
        raw, end = self._take_line(position)
        if raw in (b"00", b"01"):
            self._stack.append(raw == b"01")
            return end
        if len(raw) > MOST_DIGITS:
            raise ValueError("it has a number of too many digits")
        self._budget.take(_NUMBER + len(raw))
        self._stack.append(int(raw.removesuffix(b"L")))
        return end

    def _constant(self, value: object, position: int) -> int:
        self._stack.append(value)
        return position

    # Numbered objects

    def _put(self, number: int) -> None:
        """Give the object on top the next number; Python 2 counts from 1."""
        memo = self._memo
        if number == 1 and not memo:
            memo.append(Name("", ""))
        if number != len(memo):
            raise ValueError(f"it numbers an object {number:,} after {len(memo):,} others")
        self._budget.memory -= _MEMO
        memo.append(self._stack[-1])

    def _memoize(self, position: int) -> int:
        self._budget.memory -= _MEMO
        self._memo.append(self._stack[-1])
        return position

    def _put_number(self, size: int, position: int) -> int:
        end = position + size
        self._put(int.from_bytes(self._content[position:end], "little"))
        return end

    def _put_line(self, position: int) -> int:
        raw, end = self._take_line(position)
        self._put(_natural(raw))
        return end

    def _get(self, number: int) -> None:
        value = self._memo[number]
        if type(value) in _CONTAINERS:
            self._budget.share(value)
            self._frozen.add(id(value))
        elif isinstance(value, StandIn):
            value = value.fetched()
        self._stack.append(value)

    def _get_byte(self, position: int) -> int:
        """Fetch an object; texts that a float follows each, as in the rows of a table, at once."""
        content, memo, stack = self._content, self._memo, self._stack
        while type(text := memo[content[position]]) is str:
            stack.append(text)
            if content[position + 1] != _BINFLOAT:
                return position + 1
            stack += _UNPACK[1](content, position + 1)
            self._budget.memory -= _FLOAT
            if content[position + 10] != _BINGET:
                return position + 10
            position += 11
        self._get(content[position])
        return position + 1

    def _get_number(self, size: int, position: int) -> int:
        end = position + size
        self._get(int.from_bytes(self._content[position:end], "little"))
        return end

    def _get_line(self, position: int) -> int:
        raw, end = self._take_line(position)
        self._get(_natural(raw))
        return end

    # Containers

    def _mark(self, position: int) -> int:
        if len(self._below) > DEPTH:
            raise UnsafePickleError(f"it goes more than {DEPTH} levels deep")
        self._below.append(self._stack)
        self._stack = []
        return position

    def _since_mark(self) -> list[Any]:
        """Return everything above the last mark, and go back below it."""
        items, self._stack = self._stack, self._below.pop()
        return items

    def _push_tuple(self, items: list[Any]) -> None:
        self._budget.take(_TUPLE + _SLOT * len(items))
        self._stack.append(tuple(items))

    def _tuple(self, position: int) -> int:
        self._push_tuple(self._since_mark())
        return position

    def _short_tuple(self, size: int, position: int) -> int:
        stack = self._stack
        if len(stack) < size:
            raise ValueError("it makes a tuple of what is not there")
        self._budget.take(_TUPLE + _SLOT * size)
        stack[-size:] = (tuple(stack[-size:]),)
        return position

    def _empty_list(self, position: int) -> int:
        """Make a list; one of floats, which the learning curves consist of, at once."""
        found = _FLOAT_LIST.match(self._content, position)
        if found is None:
            self._budget.take(_LIST)
            self._stack.append([])
            return position
        start, end = found.span(1)
        begin, size, count = position - 1, end + 2 - position, (end - start) // 9
        alike = self._alike(begin, start - begin, size)
        self._budget.take((_LIST + (_SLOT + _FLOAT) * count + _MEMO) * alike - _MEMO)
        if alike == 1:
            first, *rest = [list(_UNPACK[count](self._content, start))]
        else:
            figures: Any = np.ndarray((alike, count), ">f8", self._content, start + 1, (size, 9))
            first, *rest = figures.tolist()
        self._stack.append(first)
        number = self._content[position + 1 : start - 1]
        self._put(int.from_bytes(number, "little") if number else len(self._memo))
        self._stack += rest
        self._memo += rest
        return begin + size * alike

    def _alike(self, begin: int, head: int, size: int) -> int:
        """Count the lists of floats that follow each other in one form, numbered in turn.

        Args:
            begin: Where the first begins.
            head: How many bytes of it come before its floats.
            size: How many bytes it has.
        """
        content, looked = self._content, _ALIKE
        last = begin + (looked - 1) * size
        if content[last : last + 1] != b"]":
            return 1
        fixed, width, fits = _fixed(head, size), head - 3, (len(content) - begin) // size
        while True:
            looked = min(looked, fits)
            lists: Any = np.ndarray((looked, size), np.uint8, content, begin)
            same = (lists[:, fixed] == lists[0, fixed]).all(axis=1)
            if width:
                numbers: Any = np.ndarray((looked,), f"<u{width}", content, begin + 2, (size,))
                same &= numbers == int(numbers[0]) + np.arange(looked)
            if not same.all():
                return int(same.argmin())
            if looked >= min(_MOST_ALIKE, fits):
                return looked
            looked *= 4

    def _empty_dict(self, position: int) -> int:
        self._budget.take(_DICT)
        self._stack.append({})
        return position

    def _list(self, position: int) -> int:
        items = self._since_mark()
        self._empty_list(position)
        self._append(items)
        return position

    def _dict(self, position: int) -> int:
        items = self._since_mark()
        self._empty_dict(position)
        self._set_items(items)
        return position

    def _append(self, items: list[Any]) -> None:
        """Append items to the list on top."""
        target = self._stack[-1]
        if type(target) is not list or id(target) in self._frozen:
            raise UnsafePickleError("it changes something that is no new list")
        self._budget.take(_SLOT * len(items))
        target += items

    def _set_items(self, items: list[Any]) -> None:
        """Set keys and values, in turn, of the dictionary on top."""
        target = self._stack[-1]
        if type(target) is not dict or id(target) in self._frozen:
            raise UnsafePickleError("it changes something that is no new dictionary")
        keys = items[::2]
        self._budget.check_keys(keys)
        if len(target) + len(keys) > _FEW:
            self._budget.take(_ENTRY * len(keys))
        target.update(zip(keys, items[1::2], strict=True))

    def _append_one(self, position: int) -> int:
        self._append([self._stack.pop()])
        return position

    def _append_many(self, position: int) -> int:
        self._append(self._since_mark())
        return position

    def _set_item(self, position: int) -> int:
        value = self._stack.pop()
        self._set_items([self._stack.pop(), value])
        return position

    def _set_many(self, position: int) -> int:
        self._set_items(self._since_mark())
        return position

    # What is made of other things

    def _name(self, module: str, name: str) -> None:
        if (module, name) not in self._functions and (module, name) not in self._classes:
            shown = f"{module}.{name}"
            cut = shown if len(shown) <= _MOST_NAME else f"{shown[:_MOST_NAME]}..."
            raise UnsafePickleError(f"it asks for {repr(cut)[1:-1]}")
        self._budget.take(_TEXT)
        self._stack.append(Name(module, name))

    def _global(self, position: int) -> int:
        module, middle = self._take_line(position)
        name, end = self._take_line(middle)
        self._name(module.decode(), name.decode())
        return end

    def _stack_global(self, position: int) -> int:
        name, module = self._stack.pop(), self._stack.pop()
        if type(name) is not str or type(module) is not str:
            raise ValueError("it has a name that is no text")
        self._name(module, name)
        return position

    def _make(self, known: Mapping[tuple[str, str], Constructor | None]) -> None:
        """Replace a name and arguments by what is made of them."""
        args, name = self._stack.pop(), self._stack.pop()
        make = known.get((name.module, name.name)) if type(name) is Name else None
        if make is None or type(args) is not tuple:
            raise UnsafePickleError("it calls what can't be called")
        self._stack.append(make(args, self._budget))

    def _reduce(self, position: int) -> int:
        self._make(self._functions)
        return position

    def _new_object(self, position: int) -> int:
        self._make(self._classes)
        return position

    def _build(self, position: int) -> int:
        state = self._stack.pop()
        target = self._stack[-1]
        if not isinstance(target, StandIn):
            raise UnsafePickleError("it sets the state of something that has none")
        self._stack[-1] = target.build(state, self._budget)
        return position


@lru_cache(64)
def _fixed(head: int, size: int) -> list[int]:
    """Return which bytes of a list of floats are instructions; the others are numbers."""
    return [0, 1, head - 1, *range(head, size - 1, 9), size - 1]


def _natural(raw: bytes) -> int:
    """Read a number that is written in digits."""
    if not raw.isdigit() or len(raw) > 18:
        raise ValueError(f"{raw[:20]!r} is no number of an object")
    return int(raw)


_INSTRUCTIONS: Mapping[int, tuple[Any, ...]] = {
    ord(code): instruction
    for code, instruction in {
        ".": (Machine._stop,),
        "\x80": (Machine._protocol,),
        "\x95": (Machine._frame,),
        "X": (Machine._unicode, 4),
        "\x8c": (Machine._unicode, 1),
        "\x8d": (Machine._unicode, 8),
        "V": (Machine._unicode_line,),
        "T": (Machine._string, 4),
        "U": (Machine._string, 1),
        "S": (Machine._string_line,),
        "B": (Machine._bytes, 4),
        "C": (Machine._bytes, 1),
        "\x8e": (Machine._bytes, 8),
        "\x96": (Machine._buffer,),
        "G": (Machine._floats,),
        "F": (Machine._float_line,),
        "J": (Machine._integer, 4, True),
        "K": (Machine._integer, 1, False),
        "M": (Machine._integer, 2, False),
        "\x8a": (Machine._long,),
        "I": (Machine._integer_line,),
        "L": (Machine._integer_line,),
        "N": (Machine._constant, None),
        "\x88": (Machine._constant, True),
        "\x89": (Machine._constant, False),
        ")": (Machine._constant, ()),
        "\x94": (Machine._memoize,),
        "q": (Machine._put_number, 1),
        "r": (Machine._put_number, 4),
        "p": (Machine._put_line,),
        "h": (Machine._get_byte,),
        "j": (Machine._get_number, 4),
        "g": (Machine._get_line,),
        "(": (Machine._mark,),
        "t": (Machine._tuple,),
        "\x85": (Machine._short_tuple, 1),
        "\x86": (Machine._short_tuple, 2),
        "\x87": (Machine._short_tuple, 3),
        "]": (Machine._empty_list,),
        "l": (Machine._list,),
        "a": (Machine._append_one,),
        "e": (Machine._append_many,),
        "}": (Machine._empty_dict,),
        "d": (Machine._dict,),
        "s": (Machine._set_item,),
        "u": (Machine._set_many,),
        "c": (Machine._global,),
        "\x93": (Machine._stack_global,),
        "R": (Machine._reduce,),
        "\x81": (Machine._new_object,),
        "b": (Machine._build,),
    }.items()
}
"""By code the method that carries an instruction out, and its arguments before the position."""
