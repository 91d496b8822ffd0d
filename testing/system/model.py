# SPDX-License-Identifier: BSD-3-Clause
"""What the files must contain: a second implementation of the data patterns and offsets, slow and plain."""
import struct

LOW32 = 0xffffffff
LOW64 = 0xffffffffffffffff


def rand_r(seed):
    """The small generator of the C library: (new seed, value)."""
    parts = []
    for bits in (2048, 1024, 1024):
        seed = (seed * 1103515245 + 12345) & LOW32
        parts.append((seed // 65536) % bits)
    return seed, (((parts[0] << 10) ^ parts[1]) << 10) ^ parts[2]


class Random:
    """srandom() and random() of the C library."""

    def __init__(self, seed):
        state = [(seed & LOW32) or 1]
        if state[0] >= 2 ** 31:
            state[0] -= 2 ** 32
        for _ in range(30):
            high, low = divmod(abs(state[-1]), 127773)
            if state[-1] < 0:
                high, low = -high, -low
            word = 16807 * low - 2836 * high
            state.append(word + 2147483647 if word < 0 else word)
        self.state = [word & LOW32 for word in state]
        self.front, self.rear = 3, 0
        for _ in range(310):
            self.draw()

    def draw(self):
        value = (self.state[self.front] + self.state[self.rear]) & LOW32
        self.state[self.front] = value
        self.front, self.rear = (self.front + 1) % 31, (self.rear + 1) % 31
        return value >> 1


def transfer(packet, size, signature, rank, offset):
    """The bytes of one transfer: packet 't', 'o' or 'r'."""
    signed = signature & LOW32
    if signed >= 2 ** 31:
        signed -= 2 ** 32
    n = size // 8
    if packet == "r":
        word, words = rand_r((signed + rank + offset) & LOW32)[1], []
        for _ in range(n):
            word = ((word * 0x9e37fffffffc0001) & LOW64) >> 3
            words.append(word)
    else:
        words = [((signed + i) & LOW64) | (rank << 32) for i in range(n)]
    if packet == "o":
        for page in range(0, n, 512):
            words[page] = (((offset & LOW32) * (page // 512 + 1)) & LOW32) | (rank << 32)
    return struct.pack("<%dQ" % n, *words)


def distributed(block, size, tasks, rank, seed, private):
    """The original's shuffled offsets of one segment."""
    if private:
        random = Random(seed + rank)
        mine = list(range(0, block, size))
    else:
        random = Random(seed)
        mine = [off for off in range(0, tasks * block, size) if random.draw() % tasks == rank]
    for i in range(len(mine)):
        other = random.draw() % len(mine)
        mine[i], mine[other] = mine[other], mine[i]
    return mine


def files(block, size, segments=1, tasks=2, signature=7, packet="t", private=False, seed=None):
    """{suffix of the file name: content}. seed: offsets distributed the original way."""
    out = {}
    width = block if private else block * tasks
    for rank in range(tasks):
        data = out.setdefault(".%08d" % rank if private else "", bytearray(width * segments))
        start = 0 if private else rank * block
        places = list(range(start, start + block, size)) if seed is None else distributed(block, size, tasks, rank, seed, private)
        for segment in range(segments):
            for place in places:
                off = segment * width + place
                data[off:off + size] = transfer(packet, size, signature, rank, off)
    return {name: bytes(data) for name, data in out.items()}
