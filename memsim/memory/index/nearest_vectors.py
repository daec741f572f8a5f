"""Vectors in memory, and the nearest of them.

Among few vectors the search is exact. Among more, it first compares how the vectors lean, a few
bytes each, and is exact among those that agree most with the query: of all vectors of a shelf, up
to `SCANNED_ON_SHELF`, and otherwise of the lists of near ones that are nearest to the query. What
it finds depends on the vectors and on the order in which they came and went, and on nothing else:
not on the process, nor on when it was asked.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from memsim.errors import StoreError
from memsim.memory.index.form_rows import MANY, FormRows
from memsim.memory.index.postings import ScoredNumbers, keep_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memsim.memory.index.forms import Numbers
    from memsim.models import Vectors

    Codes = NDArray[np.uint64]
    Counts = NDArray[np.uint16]
    Places = NDArray[np.int32]
    from collections.abc import Callable, Iterable, Sequence

    from memsim.memory.index.forms import Scores

    ReadVectors = Callable[[Sequence[int]], Vectors]
    """Gives the vectors of forms, shape (len(forms), dimension)."""


# Directions so rounded that every processor multiplies and adds them to the same result.


PARTS = 2048
"""Enough that rounding moves a product by less than a thousandth, as a rule."""

ROUNDS = 6
"""How often a division in two moves its centres."""

LEAST = 8
"""The smaller of two halves has at least this part of all."""


def rounded(vectors: Vectors) -> Vectors:
    """Unit vectors, or zeros, rounded; rounding again changes nothing."""
    found: Vectors = np.rint(vectors * np.float32(PARTS)) / np.float32(PARTS)
    return found


def centre(vectors: Vectors) -> Vectors:
    """The direction of a sum of rounded vectors, shape (n, dimension), rounded; zeros for none."""
    total = vectors.sum(axis=0, dtype=np.float64)
    length = np.sqrt((total * total).sum())
    found: Vectors = (np.rint(total * (PARTS / length if length else 0.0)) / PARTS).astype(
        np.float32
    )
    return found


def halves(vectors: Vectors) -> tuple[Numbers, Numbers]:
    """Where two groups of rounded vectors are that are near each other; two at least are needed.

    It begins with the vector that is farthest from the centre and the one farthest from that, and
    moves the centre of each to the middle of what is nearer to it than to the other. Ties go to the
    first group, and there to the earlier; alike vectors are so divided in their order.
    """
    first = vectors[np.vecdot(vectors, centre(vectors)).argmin()]
    second = vectors[np.vecdot(vectors, first).argmin()]
    least = -(-len(vectors) // LEAST)
    order, cut = np.arange(len(vectors)), least
    for _ in range(ROUNDS):
        nearer = np.vecdot(vectors, first) - np.vecdot(vectors, second)
        order = np.argsort(-nearer, kind="stable")
        cut = min(max(int((nearer >= 0).sum()), least), len(vectors) - least)
        first, second = centre(vectors[order[:cut]]), centre(vectors[order[cut:]])
    return order[:cut], order[cut:]


# Vectors as bits, which say how they lean: few bytes that tell which may be near.


LEANING = np.float32(0.6)
"""What is clear: so many times the size that the numbers of a unit vector have in the mean."""


def leanings(vectors: Vectors) -> Codes:
    """Two bits for each number of unit vectors: clearly above zero, and not clearly below it.

    Returns:
        Shape (words of 64 bits, n).
    """
    clear = LEANING / np.float32(np.sqrt(max(1, vectors.shape[1])))
    return np.concatenate((_packed(vectors > clear), _packed(vectors > -clear)))


def _packed(bits: NDArray[np.bool_]) -> Codes:
    rows, width = bits.shape
    whole = np.zeros((rows, -(-width // 64) * 64), np.bool_)
    whole[:, :width] = bits
    return np.packbits(whole, axis=1).view(np.uint64).T


def differing(held: Codes, code: Codes) -> Counts:
    """In how many bits codes differ from one.

    `held` has shape (words, n), or (words, lists, n); what is returned has all but the first.
    """
    found: Counts = np.bitwise_count(held[0] ^ code[0]).astype(np.uint16)
    for word in range(1, len(code)):
        found += np.bitwise_count(held[word] ^ code[word])
    return found


def fewest(counts: Counts, wanted: int) -> Numbers:
    """Where the smallest of these counts are: so many, and all that tie with them."""
    return np.flatnonzero(counts <= np.partition(counts, wanted - 1)[wanted - 1])


def likeliest(query: Vectors, held: Codes, wanted: int) -> Numbers:
    """Where the vectors are that have the largest products with a query, as far as leanings tell.

    Each number of a vector counts as 1, 0 or -1. Returns so many, and all that tie with them.
    """
    if held.shape[1] <= wanted:
        return np.arange(held.shape[1])
    bits = np.unpackbits(np.ascontiguousarray(held.T).view(np.uint8), axis=1)
    above, not_below = bits[:, : bits.shape[1] // 2], bits[:, bits.shape[1] // 2 :]
    # One more in each number adds the same to every product.
    levels = (above + not_below)[:, : len(query)].astype(np.float32)
    # Sums of rounded numbers are exact, so that every processor has the same.
    products = np.vecdot(levels, rounded(query))
    return np.flatnonzero(products >= np.partition(products, -wanted)[-wanted])


# Vectors in lists of near ones, so that a search looks at few of them.


T = TypeVar("T", bound=np.generic)


class VectorRows(Protocol):
    """Vectors by the numbers of their rows: an array, or what reads them when they are needed."""

    def __len__(self) -> int:
        """How many rows there may be."""
        ...

    def __getitem__(self, rows: Numbers, /) -> Vectors:
        """The vectors of rows, shape (len(rows), dimension)."""
        ...


LIMIT = 64
"""Vectors in a list at most."""

CENTRES = 8192
"""Lists whose centres are all compared; more are kept in lists."""

ROOM = 8
"""A search compares the centres of so many times the lists that it would need if all were full."""

_LISTS_TO_ADD = 64
"""Lists that are compared at least when a vector is added, where there are more than `CENTRES`."""


class Clusters:
    """Which rows of an array of unit vectors are near each other.

    What is found depends on the order in which rows came and went, and on the vectors, alone. A row
    that is taken out is in no list; the centre of its list stays where it was until that is divided
    or empty.
    """

    def __init__(self, *, limit: int = LIMIT, centres: int = CENTRES) -> None:
        self._limit, self._compared = limit, centres
        self._upper: Clusters | None = None
        self._count = 0
        self._sizes: Numbers = np.zeros(0, np.int64)
        self._centres: Vectors = np.zeros((0, 0), np.float32)
        self._leanings: Codes = np.zeros((0, 0), np.uint64)
        self._rows: Places = np.zeros((0, limit), np.int32)
        self._codes: Codes = np.zeros((0, 0, limit), np.uint64)
        self._list: Places = np.zeros(0, np.int32)
        self._slot: Places = np.zeros(0, np.int32)

    def __len__(self) -> int:
        """How many lists there are."""
        return self._count

    def add(self, rows: Numbers, vectors: VectorRows) -> None:
        """Take rows in; `vectors` has those of all rows, and `rows` are numbers in it."""
        if len(vectors) > len(self._list):
            self._list = _grown(self._list, (len(vectors),))
            self._slot = _grown(self._slot, (len(vectors),))
        if self._count:
            new = vectors[rows]
            targets = self._targets(new)
            for target in np.unique(targets).tolist():
                here = targets == target
                self._join(target, rows[here], new[here], vectors)
        else:
            self._divide(rows, vectors)
        if self._upper is None and self._count > self._compared:
            self._upper = Clusters(limit=self._limit, centres=self._compared)
            self._upper.add(np.arange(self._count), self._centres)

    def remove(self, row: int) -> None:
        """Take a row out."""
        place, slot = int(self._list[row]), int(self._slot[row])
        last = int(self._sizes[place]) - 1
        moved = self._rows[place, last]
        self._rows[place, slot], self._slot[moved] = moved, slot
        self._codes[place, :, slot] = self._codes[place, :, last]
        self._rows[place, last] = 0
        self._codes[place, :, last] = 0
        self._sizes[place] = last
        if not last:
            self._drop(place)

    def rename(self, row: int, name: int) -> None:
        """Call a row by another number, which no row has."""
        place, slot = self._list[row], self._slot[row]
        self._rows[place, slot] = name
        self._list[name], self._slot[name] = place, slot

    def near(self, query: Vectors, *, probed: int, leaning: int, wanted: int) -> Numbers:
        """Rows that are near a query.

        Args:
            query: a unit vector, shape (dimension,).
            probed: rows whose leanings are looked at, at least, where there are so many.
            leaning: of these, the rows that lean most as the query: so many, and all that tie with
                them.
            wanted: of these, the `likeliest`.
        """
        chosen = self._chosen(query, probed)
        sizes = self._sizes[chosen]
        held = self._codes[chosen].swapaxes(0, 1)
        if int(sizes.sum()) <= leaning:
            found = (np.arange(self._limit) < sizes[:, None]).ravel().nonzero()[0]
        else:
            found = self._fewest(held, sizes, query, leaning)
        lists, slots = np.divmod(found, self._limit)
        best = likeliest(query, held[:, lists, slots], wanted)
        return self._rows[chosen[lists[best]], slots[best]].astype(np.int64)

    def _fewest(self, held: Codes, sizes: Numbers, query: Vectors, wanted: int) -> Numbers:
        """Where in lists the rows are that lean most as a query."""
        counts = differing(held, leanings(query[None])[:, 0]).ravel()
        found = fewest(counts, wanted)
        if not (found % self._limit < sizes[found // self._limit]).all():
            # Where nothing is, it looks like a vector whose numbers are all clearly below zero.
            counts[(np.arange(self._limit) >= sizes[:, None]).ravel()] = np.iinfo(counts.dtype).max
            found = fewest(counts, wanted)
        return found

    def _chosen(self, query: Vectors, probed: int) -> Numbers:
        """The nearest lists, nearest first, until they have so many rows."""
        lists = self._lists(query, -(-probed // self._limit) * ROOM)
        held = self._leanings[:, : self._count] if lists is None else self._leanings[:, lists]
        counts = differing(held, leanings(rounded(query)[None])[:, 0])
        order = np.argsort(counts, kind="stable")
        if lists is not None:
            order = lists[order]
        enough = np.searchsorted(np.cumsum(self._sizes[order]), probed)
        return order[: int(enough) + 1]

    def _lists(self, query: Vectors, wanted: int) -> Numbers | None:
        """Lists that may be near, at least so many; None for all."""
        if self._upper is None or self._count <= max(wanted, self._compared):
            return None
        return self._upper.near(query, probed=2 * wanted, leaning=wanted, wanted=wanted)

    def _targets(self, vectors: Vectors) -> Numbers:
        """The lists that vectors belong to; of two that are as near, the earlier."""
        if self._upper is None:
            # Products of rounded vectors are exact, so that it makes no difference who sums them.
            products = rounded(vectors) @ self._centres[: self._count].T
            best: Numbers = products.argmax(axis=1)
            return best
        return np.array([self._target(vector) for vector in vectors])

    def _target(self, vector: Vectors) -> int:
        lists = self._lists(vector, _LISTS_TO_ADD)
        if lists is None:
            lists = np.arange(self._count)
        return int(lists[int(np.vecdot(self._centres[lists], rounded(vector)).argmax())])

    def _join(self, place: int, rows: Numbers, new: Vectors, vectors: VectorRows) -> None:
        size = int(self._sizes[place])
        if size + len(rows) <= self._limit:
            self._put(place, size, rows, new)
            return
        if self._upper is not None:
            self._upper.remove(place)
        held = self._rows[place, :size].astype(np.int64)
        self._divide(np.concatenate((held, rows)), vectors, place)

    def _divide(self, rows: Numbers, vectors: VectorRows, place: int | None = None) -> None:
        """Put rows into as many lists as they need, the first of which may have a place."""
        raw = vectors[rows]
        whole = rounded(raw)
        parts, places = [np.arange(len(rows))], []
        while parts:
            part = parts.pop()
            if len(part) > self._limit:
                first, second = halves(whole[part])
                parts += (part[second], part[first])
                continue
            place = self._opened(raw.shape[1]) if place is None else place
            self._centres[place] = middle = centre(whole[part])
            self._leanings[:, place] = leanings(middle[None])[:, 0]
            self._put(place, 0, rows[part], raw[part])
            places.append(place)
            place = None
        if self._upper is not None:
            self._upper.add(np.array(places), self._centres)

    def _put(self, place: int, size: int, rows: Numbers, new: Vectors) -> None:
        """Have a list's first rows followed by these and no others, whose vectors are `new`."""
        end = size + len(rows)
        self._rows[place, size:end] = rows
        self._rows[place, end:] = 0
        self._codes[place, :, size:end] = leanings(new)
        self._codes[place, :, end:] = 0
        self._sizes[place] = end
        self._list[rows] = place
        self._slot[rows] = np.arange(size, end)

    def _drop(self, place: int) -> None:
        """Take an empty list out; the last one moves to its place."""
        self._count -= 1
        last = self._count
        if self._upper is not None:
            self._upper.remove(place)
            if place != last:
                self._upper.rename(last, place)
        if place != last:
            for held in (self._sizes, self._centres, self._rows, self._codes):
                held[place] = held[last]
            self._leanings[:, place] = self._leanings[:, last]
            self._list[self._rows[place, : self._sizes[place]]] = place
        for held in (self._sizes, self._centres, self._rows, self._codes):
            held[last] = 0
        self._leanings[:, last] = 0

    def _opened(self, dimension: int) -> int:
        """The place of a new list."""
        if self._count == len(self._sizes):
            room, words = 16 + self._count + self._count // 4, 2 * -(-dimension // 64)
            self._sizes = _grown(self._sizes, (room,))
            self._centres = _grown(self._centres, (room, dimension))
            self._rows = _grown(self._rows, (room, self._limit))
            self._codes = _grown(self._codes, (room, words, self._limit))
            self._leanings = _grown(self._leanings.T, (room, words)).T.copy()
        self._count += 1
        return self._count - 1


def _room(count: int) -> int:
    """How long a column is made that holds so many: longer by a quarter where there are many."""
    return count + count // 4 if count > MANY else 2 * count


def _grown(held: NDArray[T], shape: tuple[int, ...]) -> NDArray[T]:
    found = np.zeros(shape, held.dtype)
    if len(held):
        found[: len(held)] = held
    return found


class _Scanned:
    """How the vectors of an array lean, by their rows; noted when they are first looked through."""

    def __init__(self) -> None:
        self._codes: Codes = np.zeros((0, 0), np.uint64)
        self._noted = 0

    def near(self, query: Vectors, vectors: Vectors, *, leaning: int, wanted: int) -> Numbers:
        """As `Clusters.near`, of all rows."""
        self._note(vectors)
        counts = differing(self._codes[:, : len(vectors)], leanings(query[None])[:, 0])
        found = fewest(counts, leaning)
        return found[likeliest(query, self._codes[:, found], wanted)]

    def replace(self, row: int, vector: Vectors) -> None:
        """A row has another vector now."""
        if row < self._noted:
            self._codes[:, row] = leanings(vector[None])[:, 0]

    def cut(self, count: int) -> None:
        """There are only so many rows."""
        self._noted = min(self._noted, count)

    def _note(self, vectors: Vectors) -> None:
        count, dimension = vectors.shape
        if count > self._codes.shape[1]:
            words = 2 * -(-dimension // 64)
            self._codes = _grown(self._codes.T, (_room(count), words)).T.copy()
        for start in range(self._noted, count, _NOTED):
            end = min(start + _NOTED, count)
            self._codes[:, start:end] = leanings(vectors[start:end])
        self._noted = count


_NOTED = 8192
"""Vectors whose leanings are noted at a time: 2 MB for each step on the way."""

EXACT = 4096
"""Vectors up to which all are compared."""

EXACT_ON_SHELF = 16_384
"""Vectors of one shelf up to which all are compared."""

SCANNED_ON_SHELF = 131_072
"""Vectors of one shelf up to which how all lean is compared. It takes a millisecond; lists of them
take many seconds to make when a store is opened."""

PROBED = 6144
"""Vectors of lists whose leanings are compared at least."""

COMPARED = 256
"""Vectors that are compared at least, where there are so many."""

COMPARED_FOR_EACH = 3
"""Vectors that are compared at least, for each that is looked for. Of 70,000 sentences of real
conversations, 97 in a hundred of the best 128 are found where all are scanned, and the best ten."""

CLOSER = 5
"""Vectors that are looked at closer, for each that is compared: they lean most as the query."""

_TOGETHER = 64
"""Vectors that are put into lists together; until then they wait, and are compared always."""

_SHELF = 64
"""Vectors from which on the first ones that come get no room for others."""

KEPT = 1 << 16
"""Vectors that are kept of those that are read; 64 MB at 256 numbers each."""

_ROUNDING = 1e-5
"""More than the error of a float32 product of unit vectors."""


class NearestVectors:
    """Vectors in arrays that grow.

    Args:
        exact: vectors up to which all are compared.
        scanned: vectors up to which how all lean is compared; above, they are in lists.
        probed: vectors of lists whose leanings are compared at least.
        compared: vectors that are compared at least, of those.
        read: gives vectors again that were added. Where they are in lists, `KEPT` at most stay in
            memory then, and the others are read when they are compared.
    """

    def __init__(
        self,
        *,
        exact: int = EXACT,
        scanned: int = 0,
        probed: int = PROBED,
        compared: int = COMPARED,
        read: ReadVectors | None = None,
    ) -> None:
        self._exact, self._probed, self._compared = max(1, exact), probed, compared
        self._unlisted = max(self._exact, scanned)
        self._read = read
        self._known: _KnownVectors | None = None
        self._row = FormRows()
        self._forms: Numbers = np.empty(0, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.float32)
        self._scanned = _Scanned()
        self._clusters = Clusters()
        self._waiting: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._row)

    def __contains__(self, form: object) -> bool:
        return form in self._row

    def add(self, forms: Sequence[int], vectors: Vectors) -> None:
        """Take unit vectors in, one for each form, shape (len(forms), dimension)."""
        start, end = len(self), len(self) + len(forms)
        if not start and len(forms) >= _SHELF and self._known is None:
            # A shelf that is read whole seldom grows soon.
            self._forms, self._vectors = np.array(forms, np.int64), vectors.copy()
        else:
            if end > len(self._forms):
                self._grow(end, vectors.shape[1])
            self._forms[start:end] = forms
            if self._known is None:
                self._vectors[start:end] = vectors
        self._row.update(zip(forms, range(start, end), strict=True))
        self._waiting.update(dict.fromkeys(forms))
        # So many each time, however many come at once: searching between changes nothing.
        while len(self._waiting) >= (many := _TOGETHER if len(self._clusters) else self._unlisted):
            settled = list(islice(self._waiting, many))
            self._clusters.add(self._rows(settled), self._held)
            for form in settled:
                del self._waiting[form]
        if self._read is not None and len(self._clusters) and len(self) > self._unlisted:
            self._known = self._known or _KnownVectors(self._read)
            # A part of the array, even one without rows, would keep all of it.
            self._vectors = np.empty((0, 0), np.float32)
            self._scanned = _Scanned()

    def remove(self, form: int) -> None:
        """Take a vector out."""
        row, last = self._row.pop(form), len(self._row)
        if form in self._waiting:
            del self._waiting[form]
        else:
            self._clusters.remove(row)
        if row != last:
            self._move(last, row)
        self._scanned.cut(last)
        if self._known is None:
            self._vectors[last] = 0
        else:
            self._known.forget(form)

    def search(self, query: Vectors, k: int) -> tuple[Numbers, Scores]:
        """Candidates for the best `k`, with their scores."""
        count = len(self)
        wanted = max(self._compared, COMPARED_FOR_EACH * k)
        leaning = CLOSER * wanted
        if count > max(self._unlisted, k):
            probed = max(self._probed, 2 * k)
            near = self._clusters.near(query, probed=probed, leaning=leaning, wanted=wanted)
            rows = np.concatenate((near, self._rows(self._waiting)))
            if len(rows) >= k:
                return closest(query, self._forms[rows], self._held[rows], k)
        forms, vectors = self.all()
        if max(self._exact, leaning) < count <= self._unlisted:
            rows = self._scanned.near(query, vectors, leaning=leaning, wanted=wanted)
            forms, vectors = forms[rows], vectors[rows]
        return closest(query, forms, vectors, k)

    def all(self) -> tuple[Numbers, Vectors]:
        """Every form, with its vector."""
        count = len(self)
        if self._known is None:
            return self._forms[:count], self._vectors[:count]
        vectors = self._held[np.arange(count)]
        if count <= self._unlisted:
            self._vectors = _grown(vectors, (len(self._forms), vectors.shape[1]))
            self._known = None
        return self._forms[:count], vectors

    def close(self) -> None:
        """There is nothing to release."""

    @property
    def _held(self) -> VectorRows:
        """All vectors by their rows."""
        if self._known is None:
            return self._vectors
        return _ReadRows(self._forms, self._known)

    def _rows(self, forms: Iterable[int]) -> Numbers:
        return np.array([self._row[form] for form in forms], np.int64)

    def _move(self, last: int, row: int) -> None:
        form = int(self._forms[last])
        self._forms[row], self._row[form] = form, row
        if self._known is None:
            self._vectors[row] = self._vectors[last]
            self._scanned.replace(row, self._vectors[row])
        if form not in self._waiting:
            self._clusters.rename(last, row)

    def _grow(self, count: int, dimension: int) -> None:
        room, held = max(64, _room(count)), len(self)
        self._forms = _grown(self._forms[:held], (room,))
        if self._known is None:
            self._vectors = _grown(self._vectors[:held], (room, dimension))


class _KnownVectors:
    """Vectors that are read when they are asked for; of some, what was read last is kept.

    Each form has one place that it may be kept in.
    """

    def __init__(self, read: ReadVectors) -> None:
        self._read = read
        self._form: Numbers = np.full(KEPT, -1, np.int64)
        self._vectors: Vectors = np.empty((0, 0), np.float32)

    def get(self, forms: Numbers) -> Vectors:
        """The vectors of forms, shape (len(forms), dimension)."""
        places = forms % KEPT
        (missed,) = (self._form[places] != forms).nonzero()
        if not len(missed):
            return self._vectors[places]
        new = self._read(forms[missed].tolist())
        if not len(self._vectors):
            self._vectors = np.zeros((KEPT, new.shape[1]), np.float32)
        found: Vectors = self._vectors[places]
        found[missed] = new
        # Of two that want one place, the last has it.
        self._form[places[missed]] = forms[missed]
        self._vectors[places[missed]] = new
        return found

    def forget(self, form: int) -> None:
        """Read a form anew: it may become that of another vector."""
        if self._form[form % KEPT] == form:
            self._form[form % KEPT] = -1


class _ReadRows:
    """Vectors that are read, by the numbers of their rows."""

    def __init__(self, forms: Numbers, known: _KnownVectors) -> None:
        self._forms, self._known = forms, known

    def __len__(self) -> int:
        return len(self._forms)

    def __getitem__(self, rows: Numbers) -> Vectors:
        return self._known.get(self._forms[rows])


def closest(query: Vectors, forms: Numbers, vectors: Vectors, k: int) -> tuple[Numbers, Scores]:
    """The vectors with the largest products with a query: the best `k`, and what comes near them.

    The fast product only chooses; the scores are summed in one fixed order, row by row, so that
    they do not depend on what else was compared. `query` has shape (dimension,), `vectors` (n,
    dimension); `forms` is what its rows are called.
    """
    if len(forms) > k:
        rough = np.vecdot(vectors, query)  # never in threads, which would fight other processes
        least = np.partition(rough, len(rough) - k)[len(rough) - k] - _ROUNDING
        (near,) = (rough >= least).nonzero()
        forms, vectors = forms[near], vectors[near]
    return forms, products(query, vectors)


def products(query: Vectors, vectors: Vectors) -> Scores:
    """Products with a query, each the same whatever other vectors there are."""
    found: Scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return found


def best_by_vector(vector: Vectors, shelves: Iterable[NearestVectors], k: int) -> ScoredNumbers:
    """The vectors of these shelves that are closest to one.

    `vector` is a unit vector, float32, shape (dimension,); `shelves` has the vectors of each
    admitted shelf, by number.
    """
    found = [s.search(vector, k) for s in shelves if len(s)] if k > 0 else []
    if not found:
        return ScoredNumbers(np.empty(0, np.int64), np.empty(0))
    numbers, scores = zip(*found, strict=True)
    return keep_best(np.concatenate(numbers), np.concatenate(scores), k)


def check_query(vector: Vectors, dimension: int) -> None:
    """Refuse a vector that cannot be compared with those there are.

    Raises `StoreError` if it is of another dimension, or not finite.
    """
    if vector.shape != (dimension,):
        raise StoreError(
            f"a vector of shape {vector.shape} was asked for, and those of the store have dimension"
            f" {dimension}"
        )
    if not np.isfinite(vector).all():
        raise StoreError("a vector that was asked for is not finite")
