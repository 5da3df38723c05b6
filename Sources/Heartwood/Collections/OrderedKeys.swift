/// A list of distinct keys with cheap insertion and removal anywhere: in chunks of bounded size, with the chunk of each key.
///
/// - Invariant: `chunkOf` has exactly the keys in the chunks. No chunk is empty or longer than `greatestChunk`.
package final class OrderedKeys<Key: Hashable> {
  private final class Chunk {
    var keys: [Key]
    init(_ keys: [Key]) { self.keys = keys }
  }

  private static var usualChunk: Int { 256 }
  private static var greatestChunk: Int { 512 }

  private var chunks: [Chunk] = []
  private var chunkOf: [Key: Chunk] = [:]

  /// - Precondition: The keys are distinct.
  package init(_ keys: [Key]) {
    chunkOf.reserveCapacity(keys.count)
    var start = 0
    while start < keys.count {
      let end = min(start + Self.usualChunk, keys.count)
      adopt(Chunk(Array(keys[start..<end])), at: chunks.count)
      start = end
    }
  }

  package var count: Int { chunkOf.count }

  /// All keys in order. O(n)
  package var keys: [Key] {
    var all: [Key] = []
    all.reserveCapacity(count)
    for chunk in chunks { all += chunk.keys }
    return all
  }

  func contains(_ key: Key) -> Bool { chunkOf[key] != nil }

  /// The index of a key; nil if it is absent.
  ///
  /// - Complexity: Linear in the number of chunks and the size of one.
  package func index(of key: Key) -> Int? {
    guard let home = chunkOf[key] else { return nil }
    var before = 0
    for chunk in chunks {
      if chunk === home { return chunk.keys.firstIndex(of: key).map { before + $0 } }
      before += chunk.keys.count
    }
    return nil
  }

  /// The key at an index.
  ///
  /// - Complexity: Linear in the number of chunks.
  subscript(index: Int) -> Key {
    let (place, offset) = place(index)
    return chunks[place].keys[offset]
  }

  /// Inserts a key.
  ///
  /// - Precondition: The key is absent, and `index` is at most the count.
  /// - Complexity: Linear in the number of chunks and the size of one; at the end, constant.
  package func insert(_ key: Key, at index: Int) {
    guard let last = chunks.last else { return adopt(Chunk([key]), at: 0) }
    let (place, offset) = index == count ? (chunks.count - 1, last.keys.count) : place(index)
    let chunk = chunks[place]
    chunk.keys.insert(key, at: offset)
    chunkOf[key] = chunk
    if chunk.keys.count > Self.greatestChunk { split(place) }
    assert(isConsistent, "the chunks of ordered keys are not those of the keys")
  }

  func append(_ key: Key) { insert(key, at: count) }

  /// Removes a key; does nothing if it is absent.
  ///
  /// - Complexity: Linear in the size of a chunk; also in the number of chunks if the chunk becomes empty.
  package func remove(_ key: Key) {
    guard let chunk = chunkOf.removeValue(forKey: key), let offset = chunk.keys.firstIndex(of: key) else {
      return
    }
    chunk.keys.remove(at: offset)
    if chunk.keys.isEmpty { chunks.removeAll { $0 === chunk } }
    assert(isConsistent, "the chunks of ordered keys are not those of the keys")
  }

  /// Whether the invariant holds. Of many keys, only the sizes of the chunks are looked at.
  private var isConsistent: Bool {
    let sizes = chunks.map(\.keys.count)
    guard sizes.allSatisfy({ 1...Self.greatestChunk ~= $0 }), sizes.reduce(0, +) == count else {
      return false
    }
    return count > 64 || chunks.allSatisfy { chunk in chunk.keys.allSatisfy { chunkOf[$0] === chunk } }
  }

  /// The chunk that has an index, and the offset in it; past the end, the end of the last chunk.
  private func place(_ index: Int) -> (place: Int, offset: Int) {
    var rest = index
    for (place, chunk) in chunks.enumerated() {
      if rest < chunk.keys.count || place == chunks.count - 1 { return (place, rest) }
      rest -= chunk.keys.count
    }
    return (0, rest)
  }

  private func split(_ place: Int) {
    let chunk = chunks[place]
    let middle = chunk.keys.count / 2
    let upper = Chunk(Array(chunk.keys[middle...]))
    chunk.keys.removeSubrange(middle...)
    adopt(upper, at: place + 1)
  }

  private func adopt(_ chunk: Chunk, at place: Int) {
    chunks.insert(chunk, at: place)
    for key in chunk.keys { chunkOf[key] = chunk }
  }
}
