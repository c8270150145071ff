"""A covering array: few rows that have, between them, each pair of levels of any two factors."""
import itertools
import random


def pairs_of(factors, clashes):
    """factors: name → levels. clashes(a, b): may these two (name, level) not meet? All that can meet."""
    items = [(name, level) for name in factors for level in factors[name]]
    return {frozenset((a, b)) for a, b in itertools.combinations(items, 2)
            if a[0] != b[0] and not clashes(a, b)}


def covering(factors, clashes, seed, tries=8):
    """Greedy: begins each row with a pair that is missing, and adds what brings most missing ones."""
    chance = random.Random(seed)
    missing = sorted(pairs_of(factors, clashes), key=sorted)
    chance.shuffle(missing)
    missing = dict.fromkeys(missing)
    rows = []
    while missing:
        best = max((fill(factors, clashes, missing, chance) for _ in range(tries)), key=lambda r: r[0])[1]
        for pair in itertools.combinations(best.items(), 2):
            missing.pop(frozenset(pair), None)
        rows.append(best)
    return rows


def fill(factors, clashes, missing, chance):
    """One row: how many missing pairs it has, and the row."""
    row = dict(next(iter(missing)))
    rest = [name for name in factors if name not in row]
    chance.shuffle(rest)
    rest.sort(key=lambda name: len(factors[name]) < 20)  # what clashes with most goes first
    found = 1
    for name in rest:
        best, most = None, -1
        for level in chance.sample(factors[name], len(factors[name])):
            if any(clashes((name, level), other) for other in row.items()):
                continue
            new = sum(frozenset(((name, level), other)) in missing for other in row.items())
            if new > most:
                best, most = level, new
        assert most >= 0, f"no level of {name} goes with {row}"
        row[name], found = best, found + most
    return found, {name: row[name] for name in factors}


def test():
    factors = {"a": ["1", "2", "3"], "b": ["1", "2"], "c": ["x", "y", "z"], "d": ["1", "2"]}

    def clashes(a, b):
        return {a, b} == {("a", "1"), ("c", "x")}
    for seed in range(5):
        rows = covering(factors, clashes, seed)
        have = {frozenset(p) for row in rows for p in itertools.combinations(row.items(), 2)}
        assert have == pairs_of(factors, clashes), "each pair that can meet, and no other"
        assert len(rows) <= 14 and rows == covering(factors, clashes, seed)
