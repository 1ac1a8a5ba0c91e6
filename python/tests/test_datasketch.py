"""nearkin.datasketch beside the original: the same values, answers and errors."""

import copy
import doctest
import gc
import hashlib
import itertools
import pickle
import random
import threading
import weakref
import zlib

import numpy as np
import pytest

original = pytest.importorskip("datasketch", reason="datasketch is not installed")
from datasketch.lsh import _optimal_param  # noqa: E402

import nearkin  # noqa: E402
import nearkin.datasketch as ours  # noqa: E402
from nearkin._errors import UnsupportedError  # noqa: E402

SCHEMES = ["affine32", "affine64", "legacy"]


def words(random_numbers, count, longest=20):
    return [random_numbers.randbytes(random_numbers.randrange(longest)) for _ in range(count)]


def both(elements, **arguments):
    """The signatures of a set, here and in the original."""
    pair = ours.MinHash(**arguments), original.MinHash(**arguments)
    for signature in pair:
        for element in elements:
            signature.update(element)
    return pair


def assert_same(mine, theirs):
    assert mine.hashvalues.dtype == theirs.hashvalues.dtype
    np.testing.assert_array_equal(mine.hashvalues, theirs.hashvalues)
    np.testing.assert_array_equal(mine.permutations, theirs.permutations)
    for name in ("scheme", "seed", "num_perm"):
        assert getattr(mine, name) == getattr(theirs, name)


# Signatures


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("num_perm", [1, 2, 7, 16, 63, 64, 128, 200, 256])
@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_values_are_those_of_the_original(scheme, num_perm, seed):
    random_numbers = random.Random(num_perm)
    elements = words(random_numbers, 30, 150)
    mine, theirs = both(elements, scheme=scheme, num_perm=num_perm, seed=seed)
    assert_same(mine, theirs)
    assert mine.count() == theirs.count()
    np.testing.assert_array_equal(mine.digest(), theirs.digest())
    batch = ours.MinHash(scheme=scheme, num_perm=num_perm, seed=seed)
    batch.update_batch(elements)
    assert batch == mine


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 200, 1000])
def test_batches_of_any_size(scheme, count):
    elements = words(random.Random(count), count, 80)
    mine, theirs = ours.MinHash(scheme=scheme), original.MinHash(scheme=scheme)
    for signature in (mine, theirs):
        signature.update(b"first")
        signature.update_batch(iter(elements))
    assert_same(mine, theirs)


@pytest.mark.parametrize("length", [*range(130), 1000, 100_000])
def test_digests_of_any_length(length):
    message = random.Random(length).randbytes(length)
    expected = int.from_bytes(hashlib.sha1(message).digest()[:8], "little")
    alone, many = ours.MinHash(scheme="affine64"), ours.MinHash(scheme="affine64")
    alone.update(message)
    many.update_batch([message] * 20)
    by_hash = ours.MinHash(scheme="affine64", hashfunc=lambda _: expected)
    by_hash.update(None)
    assert alone == by_hash and many == by_hash
    assert ours.sha1_hash64(message) == expected == original.sha1_hash64(message)
    assert ours.sha1_hash32(message) == original.sha1_hash32(message)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_bulk_and_generator(scheme):
    sets = [words(random.Random(i), i) for i in range(40)]
    mine = ours.MinHash.bulk(sets, num_perm=50, seed=3, scheme=scheme)
    theirs = original.MinHash.bulk(sets, num_perm=50, seed=3, scheme=scheme)
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs):
        assert_same(one, other)
    assert list(ours.MinHash.generator(sets, num_perm=50, seed=3, scheme=scheme)) == mine


@pytest.mark.parametrize("kind", ["i8", "i4", "u2", "f8", ">i8", "f4", "?"])
def test_elements_of_arrays_are_hashed_by_their_bytes(kind):
    numbers = np.random.RandomState(1).randint(0, 2, 300) * np.arange(300)
    elements = numbers.astype(kind)
    mine, theirs = ours.MinHash(), original.MinHash()
    mine.update_batch(elements)
    theirs.update_batch(elements)
    assert_same(mine, theirs)
    mine, theirs = (m.bulk(elements.reshape(30, 10)) for m in (ours.MinHash, original.MinHash))
    for one, other in zip(mine, theirs):
        assert_same(one, other)


@pytest.mark.parametrize(
    "element", [bytearray(b"ab"), memoryview(b"abc"), np.int64(5), np.arange(4)]
)
def test_elements_need_not_be_bytes(element):
    mine, theirs = both([element])
    assert_same(mine, theirs)


@pytest.mark.parametrize("element", ["text", 5, None])
def test_elements_that_have_no_bytes(element):
    for signature in (ours.MinHash(), original.MinHash()):
        with pytest.raises(TypeError):
            signature.update(element)
        with pytest.raises(TypeError):
            signature.update_batch([b"a", element])
        assert signature.is_empty()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "hashfunc",
    [zlib.crc32, lambda b: 7, lambda b: True, lambda b: np.uint32(9), original.sha1_hash32],
)
def test_own_hash_functions(scheme, hashfunc):
    mine, theirs = both([b"one", b"two", b"three"], scheme=scheme, hashfunc=hashfunc)
    assert_same(mine, theirs)
    assert mine.hashfunc is hashfunc
    more = [b"x" * i for i in range(100)]
    mine.update_batch(more)
    theirs.update_batch(more)
    assert_same(mine, theirs)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("value", [2**32 - 1, 2**32, 2**40, 2**64 - 1, 2**64, -1])
def test_hashes_that_do_not_fit(scheme, value):
    outcomes = []
    for module in (ours, original):
        for method, element in (("update", b"a"), ("update_batch", [b"a"])):
            signature = module.MinHash(scheme=scheme, hashfunc=lambda _: value)
            try:
                getattr(signature, method)(element)
                outcomes.append(signature.hashvalues.tolist())
            except (ValueError, OverflowError) as error:
                outcomes.append("ValueError" if isinstance(error, ValueError) else "OverflowError")
    assert outcomes[:2] == outcomes[2:]


def test_a_wide_hash_function_for_a_narrow_scheme_is_refused():
    for module in (ours, original):
        with pytest.raises(ValueError):
            module.MinHash(scheme="affine32", hashfunc=module.sha1_hash64).update(b"a")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_comparing_merging_uniting(scheme):
    random_numbers = random.Random(5)
    pool = words(random_numbers, 60)
    sets = [random_numbers.sample(pool, random_numbers.randrange(60)) for _ in range(20)]
    pairs = [both(elements, scheme=scheme, num_perm=100) for elements in sets]
    for (mine, theirs), (my_other, their_other) in itertools.combinations(pairs, 2):
        expected = theirs.jaccard(their_other)
        assert mine.jaccard(my_other) == expected
        assert mine.jaccard(their_other) == expected, "with one of the original"
        assert theirs.jaccard(my_other) == expected, "the original with one of ours"
        merged, their_merged = mine.copy(), theirs.copy()
        merged.merge(my_other)
        their_merged.merge(their_other)
        assert_same(merged, their_merged)
        merged.merge(their_other)
        assert_same(merged, their_merged)
    mine, theirs = zip(*pairs)
    assert_same(ours.MinHash.union(*mine), original.MinHash.union(*theirs))


def test_what_cannot_be_compared():
    base = ours.MinHash()
    for module in (ours, original):
        for other in [{"seed": 2}, {"num_perm": 64}, {"scheme": "legacy"}]:
            other = module.MinHash(**other)
            for use in (base.jaccard, base.merge, lambda it: ours.MinHash.union(base, it)):
                with pytest.raises(ValueError):
                    use(other)
    for few in ([], [base]):
        with pytest.raises(ValueError):
            ours.MinHash.union(*few)


def test_values_may_be_looked_at_and_written_to():
    mine, theirs = both([b"a"], num_perm=8)
    for signature in (mine, theirs):
        seen = signature.hashvalues
        assert seen is signature.hashvalues
        before = seen.copy()
        signature.update(b"b")
        np.testing.assert_array_equal(seen, before)  # an update leaves it alone
        signature.hashvalues[3] = 5
        signature.update_batch([b"c", b"d"])
        assert signature.hashvalues[3] == 5
        signature.hashvalues = signature.hashvalues // 2
        signature.update(b"e")
        signature.hashvalues[0] = 1
    assert_same(mine, theirs)
    assert mine.copy() == mine
    other, their_other = both([b"a"], num_perm=8)
    other.hashvalues[0] = their_other.hashvalues[0] = 1
    assert mine.jaccard(other) == theirs.jaccard(their_other)
    mine.hashvalues = np.array([1, 2, 3], dtype=np.uint32)
    assert len(mine) == 3
    with pytest.raises(ValueError):
        mine.update(b"a")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_beginning_with_values(scheme):
    mine, theirs = both([b"a", b"b"], scheme=scheme, num_perm=20, seed=9)
    for values in (theirs.hashvalues, theirs.hashvalues.tolist(), theirs.hashvalues.astype("u8")):
        again = ours.MinHash(hashvalues=values, seed=9, scheme=scheme)
        assert again == mine
        again.update(b"c")
    theirs.update(b"c")
    assert_same(again, theirs)
    assert mine != again and not mine.hashvalues is again.hashvalues
    shared = ours.MinHash(num_perm=20, permutations=theirs.permutations, seed=9, scheme=scheme)
    shared.update_batch([b"a", b"b", b"c"])
    assert_same(shared, theirs)


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_perm": 0},
        {"num_perm": -1},
        {"scheme": "other"},
        {"hashfunc": 5},
        {"hashvalues": [1, 2]},
        {"hashvalues": [], "scheme": "affine32"},
        {"hashvalues": [1, 2**32], "scheme": "affine32"},
        {"hashvalues": np.array([1, -2]), "scheme": "affine64"},
        {"hashvalues": [-1], "scheme": "affine32"},
        {"permutations": ([1], [2])},
        {"permutations": ([1, 2], [3, 4]), "num_perm": 2, "scheme": "affine32"},
        {"permutations": ([1, 3], [3, 4]), "num_perm": 3, "scheme": "affine32"},
    ],
)
def test_arguments_that_are_refused(arguments):
    for module in (original, ours):
        with pytest.raises(ValueError):
            module.MinHash(**arguments)
    with pytest.raises(nearkin.ParameterError):
        ours.MinHash(**arguments)


def test_hashobj_warns_and_gpu_is_refused():
    with pytest.warns(DeprecationWarning):
        ours.MinHash(hashobj=hashlib.sha1)
    assert ours.MinHash(gpu_mode="detect").copy()._gpu_mode == "detect"
    with pytest.raises(RuntimeError, match="datasketch"):
        ours.MinHash(gpu_mode="always")


def test_equality_emptiness_and_copies():
    mine, theirs = both([b"a"])
    assert mine == mine.copy() and mine != ours.MinHash() and mine != theirs
    assert mine != ours.LeanMinHash(mine) and mine != 5
    assert ours.MinHash(seed=1) != ours.MinHash(seed=2)
    assert ours.MinHash(num_perm=3) != ours.MinHash(num_perm=4)
    assert not mine.is_empty()
    other = mine.copy()
    other.update(b"b")
    assert other != mine
    other.clear()
    assert other.is_empty() and other == ours.MinHash()
    with pytest.raises(TypeError):
        hash(mine)


class Named(ours.MinHash):
    """A user's own class."""

    def __init__(self, name, **arguments):
        super().__init__(**arguments)
        self.name = name


def test_users_may_derive_classes():
    named = Named("x", num_perm=16)
    named.update(b"a")
    plain, _ = both([b"a"], num_perm=16)
    assert named.jaccard(plain) == 1.0 and named != plain and type(named.copy()) is ours.MinHash
    again = pickle.loads(pickle.dumps(named))
    assert again == named and again.name == "x" and type(again) is Named


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pickles(scheme):
    mine, theirs = both([b"a"], scheme=scheme, num_perm=30, seed=4)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(mine, protocol))
        assert again == mine
        from_theirs = ours.loads(pickle.dumps(theirs, protocol))
        assert from_theirs == mine and type(from_theirs) is ours.MinHash
        for signature in (again, from_theirs, copy.deepcopy(mine), copy.copy(mine)):
            signature.update(b"b")
            assert_same(signature, both([b"a", b"b"], scheme=scheme, num_perm=30, seed=4)[1])
    # And the other way round, by what a pickle says of it.
    state = mine.__getstate__()
    back = original.MinHash.__new__(original.MinHash)
    back.__setstate__(dict(state))
    assert back == theirs
    back.update(b"b")
    theirs.update(b"b")
    assert back == theirs


def test_permutations_of_no_seed():
    one, other = ours.MinHash(seed=None), ours.MinHash(seed=None)
    assert (one.permutations != other.permutations).any()
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.permutations, one.permutations)
    shared = pickle.loads(pickle.dumps([ours.MinHash(), ours.MinHash()]))
    assert shared[0].permutations is shared[1].permutations


def test_pickles_of_before_schemes():
    theirs = original.MinHash(scheme="legacy")
    theirs.update(b"a")
    state = theirs.__getstate__()
    del state["scheme"], state["_gpu_mode"], state["_a_gpu"], state["_b_gpu"]
    mine = ours.MinHash.__new__(ours.MinHash)
    mine.__setstate__(state)
    mine.update(b"b")
    theirs.update(b"b")
    assert_same(mine, theirs)


def test_cycles_are_collected():
    signature = Named("x")
    signature.hashfunc = lambda b, it=signature: len(it)
    lsh = LabelledIndex()
    key = Key()
    key.lsh = lsh
    lsh.insert(key, ours.MinHash())
    gone = [weakref.ref(signature), weakref.ref(lsh)]
    del signature, lsh, key
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


class Key:
    """A key that has an index."""


class LabelledIndex(ours.MinHashLSH):
    """A user's own index."""


def test_threads_share_a_signature():
    signature = ours.MinHash()
    parts = [[f"{t} {i}".encode() for i in range(3000)] for t in range(4)]
    threads = [threading.Thread(target=signature.update_batch, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = ours.MinHash()
    expected.update_batch(itertools.chain(*parts))
    assert signature == expected


def test_a_hash_function_may_use_the_signature():
    signature = ours.MinHash()
    signature.hashfunc = lambda b: (signature.is_empty(), signature.copy(), 7)[-1]
    signature.update(b"a")
    signature.update_batch([b"a", b"b"])
    assert not signature.is_empty()


# Lean signatures


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("byteorder", ["@", "=", "<", ">", "!"])
@pytest.mark.parametrize("num_perm", [1, 2, 5, 128])
def test_serialised_signatures_are_the_same_bytes(scheme, byteorder, num_perm):
    mine, theirs = both([b"a", b"b"], scheme=scheme, num_perm=num_perm, seed=7)
    mine, theirs = ours.LeanMinHash(mine), original.LeanMinHash(theirs)
    size = theirs.bytesize(byteorder)
    assert mine.bytesize(byteorder) == size
    buffers = bytearray(size + 3), bytearray(size + 3)
    mine.serialize(buffers[0], byteorder)
    theirs.serialize(buffers[1], byteorder)
    assert buffers[0] == buffers[1]
    for buffer in (buffers[0], bytes(buffers[0]), memoryview(buffers[0])):
        assert ours.LeanMinHash.deserialize(buffer, byteorder) == mine
    assert original.LeanMinHash.deserialize(buffers[0], byteorder) == theirs
    with pytest.raises(ValueError):
        mine.serialize(bytearray(size - 1), byteorder)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_lean_signatures(scheme):
    mine, theirs = both([b"a", b"b"], scheme=scheme, seed=7)
    lean, their_lean = ours.LeanMinHash(mine), original.LeanMinHash(theirs)
    np.testing.assert_array_equal(lean.hashvalues, their_lean.hashvalues)
    assert hash(lean) == hash(their_lean) == hash(lean.copy())
    assert lean == ours.LeanMinHash(seed=7, hashvalues=theirs.hashvalues, scheme=scheme)
    assert lean == lean.copy()
    assert lean == ours.LeanMinHash(theirs), "from one of the original"
    assert lean.jaccard(mine) == mine.jaccard(lean) == 1.0 and lean.count() == their_lean.count()
    assert pickle.loads(pickle.dumps(lean)) == lean == ours.loads(pickle.dumps(their_lean))
    assert lean.__getstate__() == their_lean.__getstate__()
    assert ours.MinHash(seed=7, hashvalues=lean.hashvalues, scheme=scheme) == mine
    other, their_other = both([b"c"], scheme=scheme, seed=7)
    united = ours.LeanMinHash.union(lean, ours.LeanMinHash(other))
    their_united = original.LeanMinHash.union(their_lean, original.LeanMinHash(their_other))
    assert type(united) is ours.LeanMinHash
    np.testing.assert_array_equal(united.hashvalues, their_united.hashvalues)
    lean.merge(other)
    assert lean == united
    assert isinstance(lean, ours.MinHash)
    for update, element in ((lean.update, b"a"), (lean.update_batch, [b"a"])):
        with pytest.raises(TypeError):
            update(element)
    with pytest.raises(AttributeError):
        lean.permutations
    lean.hashvalues[0] = 0
    assert lean != united
    lean.clear()
    assert lean.is_empty()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"seed": 1},
        {"hashvalues": [1]},
        {"seed": 1, "hashvalues": [1]},
        {"seed": 1, "hashvalues": [1], "scheme": "other"},
        {"seed": 1, "hashvalues": [], "scheme": "affine32"},
    ],
)
def test_lean_arguments_that_are_refused(arguments):
    for module in (original, ours):
        with pytest.raises(ValueError):
            module.LeanMinHash(**arguments)
    with pytest.raises(ValueError):
        ours.LeanMinHash(ours.MinHash(), scheme="legacy")
    with pytest.raises(ValueError):
        ours.LeanMinHash.union(ours.LeanMinHash(ours.MinHash()))
    with pytest.raises(ValueError):
        ours.LeanMinHash.deserialize(b"\1\0\0\0\0\0\0\0\xff\xff\xff\xff\x09" + bytes(8))


# Indexes


WEIGHTS = [(0.5, 0.5), (0.1, 0.9), (0.9, 0.1), (0.4, 0.6), (0.0, 1.0), (1.0, 0.0), (0.25, 0.75)]


@pytest.mark.parametrize("num_perm", [2, 3, 10, 16, 50, 64, 100, 128])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_bands_are_those_of_the_original(num_perm, weights):
    for threshold in [0.0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.55, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0]:
        expected = _optimal_param(threshold, num_perm, *weights)
        if expected[0] < 2:
            for module in (original, ours):
                with pytest.raises(ValueError):
                    module.MinHashLSH(threshold=threshold, num_perm=num_perm, weights=weights)
        else:
            lsh = ours.MinHashLSH(threshold=threshold, num_perm=num_perm, weights=weights)
            assert (lsh.b, lsh.r) == expected, threshold


def collection(seed, count, scheme="affine32", num_perm=64):
    """Signatures of sets of which many are similar, here and in the original."""
    random_numbers = random.Random(seed)
    pool = words(random_numbers, 200)
    bases = [random_numbers.sample(pool, 20) for _ in range(count // 5 + 1)]
    pairs = []
    for _ in range(count):
        elements = random_numbers.choice(bases)[random_numbers.randrange(8) :]
        elements = elements + random_numbers.sample(pool, random_numbers.randrange(4))
        pairs.append(both(elements, scheme=scheme, num_perm=num_perm))
    return pairs


def same_answers(mine, theirs, pairs):
    """Whether both indexes say the same; how many keys they found."""
    found = 0
    for my_query, their_query in pairs:
        answer = mine.query(my_query)
        assert len(answer) == len(set(answer))
        assert set(answer) == set(theirs.query(their_query))
        found += len(answer)
    assert set(mine.keys) == set(theirs.keys)
    assert mine.is_empty() == theirs.is_empty()
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("hashfunc", [None, lambda b: hashlib.md5(b).digest()[:4], zlib.crc32])
@pytest.mark.parametrize("prepickle", [None, True])
def test_answers_are_those_of_the_original(scheme, hashfunc, prepickle):
    pairs = collection(1, 150, scheme)
    arguments = {"threshold": 0.6, "num_perm": 64, "hashfunc": hashfunc, "prepickle": prepickle}
    mine, theirs = ours.MinHashLSH(**arguments), original.MinHashLSH(**arguments)
    keys = [("key", i) if i % 2 else i for i in range(len(pairs))]
    for key, (my_signature, their_signature) in zip(keys, pairs):
        mine.insert(key, my_signature)
        theirs.insert(key, their_signature)
    assert same_answers(mine, theirs, pairs) > len(pairs)
    for name in ("h", "b", "r", "hashranges", "prepickle", "buffer_size"):
        assert getattr(mine, name) == getattr(theirs, name)
    assert mine.get_counts() == theirs.get_counts()
    chosen = keys[::7] + keys[:3] + ["none"]
    assert mine.get_subset_counts(*chosen) == theirs.get_subset_counts(*chosen)
    for b in (1, 2, mine.b):
        assert mine._query_b(pairs[0][0], b) == theirs._query_b(pairs[0][1], b)
    for key in keys[::3]:
        mine.remove(key)
        theirs.remove(key)
        assert key not in mine
    same_answers(mine, theirs, pairs)
    assert mine.get_counts() == theirs.get_counts()
    for key, (my_signature, their_signature) in list(zip(keys, pairs))[::6]:
        mine.insert(key, my_signature)
        theirs.insert(key, their_signature)
        assert key in mine
    same_answers(mine, theirs, pairs)
    for stored in theirs.keys:
        assert mine.keys[stored] == theirs.keys[stored]
    assert mine.keys["none"] == [] == theirs.keys["none"]
    for table, their_table in zip(mine.hashtables, theirs.hashtables):
        assert set(table) == set(their_table)
        assert all(table[name] == their_table[name] for name in table)
        assert table.size() == their_table.size() == len(table)


def test_answers_come_in_the_order_of_insertion():
    lsh = ours.MinHashLSH()
    for key in "cabzx":
        lsh.insert(key, ours.MinHash())
    lsh.remove("a")
    lsh.insert("a", ours.MinHash())
    assert lsh.query(ours.MinHash()) == list("cbzxa") == list(lsh.keys)
    assert len(lsh.keys) == 5 and "a" in lsh.keys and lsh.keys.size() == 5


def test_many_removals():
    signatures = ours.MinHash.bulk([[b"%d" % (i % 50)] for i in range(6000)], num_perm=8)
    lsh = ours.MinHashLSH(num_perm=8, params=(4, 2))
    left = {}
    for i, signature in enumerate(signatures):
        lsh.insert(i, signature)
        left[i] = signature
    order = list(range(6000))
    random.Random(1).shuffle(order)
    for done, key in enumerate(order):
        lsh.remove(key)
        del left[key]
        if done % 500 == 499:
            expected = [other for other, signature in left.items() if signature == signatures[0]]
            # Other sets may share a band of two values.
            found = lsh.query(signatures[0])
            assert [key for key in found if signatures[key] == signatures[0]] == expected
            assert list(lsh.keys) == list(left)
    assert lsh.is_empty() and lsh.query(signatures[0]) == []
    lsh.insert(1, signatures[1])
    assert lsh.query(signatures[1]) == [1]


def test_a_key_inserted_again_without_looking():
    (one, their_one), (other, their_other) = both([b"a"]), both([b"b"])
    indexes = ours.MinHashLSH(), original.MinHashLSH()
    for lsh, first, second in zip(indexes, (one, their_one), (other, their_other)):
        lsh.insert("key", first)
        with pytest.raises(ValueError):
            lsh.insert("key", second)
        assert lsh.query(second) == []
        lsh.insert("key", second, check_duplication=False)
        lsh.insert("key", second, check_duplication=False)
        assert lsh.query(first) == lsh.query(second) == ["key"]
    assert indexes[0].get_counts() == indexes[1].get_counts()
    assert indexes[0].keys["key"] == indexes[1].keys["key"]
    indexes[0].remove("key")
    assert indexes[0].is_empty() and indexes[0].query(one) == indexes[0].query(other) == []


def test_signatures_of_the_original_may_be_inserted():
    mine, theirs = both([b"a"])
    lsh = ours.MinHashLSH()
    lsh.insert("theirs", theirs)
    lsh.insert("mine", mine)
    lsh.insert("lean", ours.LeanMinHash(mine))
    assert lsh.query(mine) == lsh.query(theirs) == ["theirs", "mine", "lean"]
    mine.hashvalues[:] = 0
    assert lsh.query(mine) == []


def test_weighted_signatures_of_the_original():
    generator = original.WeightedMinHashGenerator(10, sample_size=32, seed=1)
    numbers = np.random.RandomState(1)
    signatures = [generator.minhash(numbers.randint(0, 4, 10) + 1) for _ in range(60)]
    mine, theirs = (module.WeightedMinHashLSH(0.5, num_perm=32) for module in (ours, original))
    for i, signature in enumerate(signatures):
        mine.insert(i, signature)
        theirs.insert(i, signature)
    assert same_answers(mine, theirs, [(s, s) for s in signatures]) > 60


def test_wrong_signatures_are_refused():
    for module in (original, ours):
        lsh = module.MinHashLSH()
        lsh.query(module.MinHash(scheme="legacy"))  # an empty index has no scheme
        lsh.insert("a", module.MinHash())
        uses = [
            lambda it: lsh.insert("b", it),
            lsh.query,
            lsh.add_to_query_buffer,
            lambda it: lsh._query_b(it, 2),
        ]
        for wrong in [{"num_perm": 64}, {"scheme": "legacy"}, {"scheme": "affine64"}]:
            wrong = module.MinHash(**wrong)
            for use in uses:
                with pytest.raises(ValueError):
                    use(wrong)
        with pytest.raises(ValueError):
            lsh.remove("b")
        with pytest.raises(ValueError):
            lsh._query_b(module.MinHash(), 1000)
        with pytest.raises(TypeError):
            lsh.insert(["a list"], module.MinHash())
        assert "b" not in lsh and list(lsh.keys) == ["a"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"threshold": 1.5},
        {"threshold": -0.1},
        {"num_perm": 1},
        {"weights": (1.5, -0.5)},
        {"weights": (0.5, 0.6)},
        {"params": (20, 20)},
        {"params": (1, 20)},
        {"storage_config": {"type": "unknown"}},
    ],
)
def test_index_arguments_that_are_refused(arguments):
    for module in (original, ours):
        with pytest.raises(ValueError):
            module.MinHashLSH(**arguments)


def test_sessions():
    lsh = ours.MinHashLSH()
    with lsh.insertion_session(buffer_size=5) as session:
        session.insert("a", ours.MinHash())
        session.insert("b", ours.MinHash())
        with pytest.raises(ValueError):
            session.insert("b", ours.MinHash())
        session.insert("b", ours.MinHash(), check_duplication=False)
    assert lsh.query(ours.MinHash()) == ["a", "b"] and lsh.buffer_size == 5
    with lsh.deletion_session() as session:
        session.remove("a")
        with pytest.raises(ValueError):
            session.remove("a")
    assert lsh.query(ours.MinHash()) == ["b"] and lsh.buffer_size == 50000


def test_the_query_buffer_intersects():
    pairs = collection(2, 60)
    mine, theirs = ours.MinHashLSH(0.3, 64), original.MinHashLSH(0.3, 64)
    for i, (my_signature, their_signature) in enumerate(pairs):
        mine.insert(i, my_signature)
        theirs.insert(i, their_signature)
    assert mine.collect_query_buffer() == []
    several = 0
    for (one, their_one), (other, their_other) in itertools.combinations(pairs[:20], 2):
        for lsh, queries in ((mine, (one, other)), (theirs, (their_one, their_other))):
            for query in queries:
                lsh.add_to_query_buffer(query)
        answer = mine.collect_query_buffer()
        assert set(answer) == set(theirs.collect_query_buffer())
        several += bool(answer)
    assert several > 5 and mine.collect_query_buffer() == []


def test_merging_indexes():
    pairs = collection(3, 100)
    indexes = [[module.MinHashLSH(0.5, 64) for _ in range(2)] for module in (ours, original)]
    for i, pair in enumerate(pairs):
        for (first, second), signature in zip(indexes, pair):
            (first if i % 2 else second).insert(i, signature)
            if i < 3:
                (second if i % 2 else first).insert(i, signature)
    for first, second in indexes:
        with pytest.raises(ValueError):
            first.merge(second, check_overlap=True)
        first.merge(second)
    assert same_answers(indexes[0][0], indexes[1][0], pairs) > 100
    assert indexes[0][0].get_counts() == indexes[1][0].get_counts()
    for module in (original, ours):
        for other in (module.MinHashLSH(0.9, 64), module.MinHashLSH(0.5, 128), 5):
            with pytest.raises(ValueError):
                module.MinHashLSH(0.5, 64).merge(other)
        one, other = module.MinHashLSH(), module.MinHashLSH()
        one.insert(1, module.MinHash())
        empty = module.MinHashLSH()
        empty.merge(one, check_overlap=True)
        assert empty.query(module.MinHash()) == [1]
        other.insert(2, module.MinHash(scheme="legacy"))
        for index in (one, empty):
            with pytest.raises(ValueError):
                index.merge(other)


def shortened(name):
    return hashlib.md5(name).digest()[:6]


@pytest.mark.parametrize("hashfunc", [None, shortened])
@pytest.mark.parametrize("prepickle", [False, True])
def test_pickled_indexes(hashfunc, prepickle):
    pairs = collection(4, 80)
    mine, theirs = (
        module.MinHashLSH(0.5, 64, hashfunc=hashfunc, prepickle=prepickle)
        for module in (ours, original)
    )
    for i, (my_signature, their_signature) in enumerate(pairs):
        mine.insert(f"key {i}", my_signature)
        theirs.insert(f"key {i}", their_signature)
    mine.remove("key 3")
    theirs.remove("key 3")
    copies = pickle.loads(pickle.dumps(mine)), copy.deepcopy(mine), ours.loads(pickle.dumps(theirs))
    for again in copies:
        same_answers(again, theirs, pairs)
        assert type(again) is ours.MinHashLSH and again.get_counts() == theirs.get_counts()
        again.insert("new", pairs[0][0])
        with pytest.raises(ValueError):
            again.insert("newer", ours.MinHash(num_perm=64, scheme="legacy"))
        assert "new" in again.query(pairs[0][0]) and "new" not in mine
        again.add_to_query_buffer(pairs[0][0])
        assert again.collect_query_buffer() == again.query(pairs[0][0])


def test_users_may_derive_indexes():
    lsh = LabelledIndex()
    lsh.label = "x"
    lsh.insert(1, ours.MinHash())
    again = pickle.loads(pickle.dumps(lsh))
    assert type(again) is LabelledIndex and again.label == "x"
    assert again.query(ours.MinHash()) == [1]


@pytest.mark.parametrize("kind", ["redis", "cassandra"])
def test_storage_elsewhere_is_refused(kind):
    with pytest.raises(NotImplementedError, match="memory"):
        ours.MinHashLSH(storage_config={"type": kind, kind: {}})
    assert issubclass(UnsupportedError, nearkin.NearkinError)


def test_names_that_are_not_here():
    missing = set(original.__all__) - set(ours.__all__)
    assert "MinHashLSHForest" in missing
    for name in missing:
        with pytest.raises(ImportError, match="MinHashLSH in memory"):
            exec(f"from nearkin.datasketch import {name}")
    with pytest.raises(ImportError):
        exec("from nearkin.datasketch import Nonsense")
    assert not hasattr(ours, "Nonsense")
    with pytest.raises(NotImplementedError):
        ours.loads(pickle.dumps(original.HyperLogLog()))


def test_examples():
    files = ("permutations", "minhash", "lean", "lsh", "pickles")
    modules = [ours, *(getattr(ours, f"_{name}") for name in files)]
    failed, tried = map(sum, zip(*(doctest.testmod(module) for module in modules)))
    assert tried > 30 and failed == 0
