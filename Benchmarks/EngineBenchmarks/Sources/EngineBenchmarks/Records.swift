import BenchmarkHarness

/// The shape of the keys, sixteen bytes each.
public enum KeyShape: String, Sendable {
  /// Decimal digits with leading zeros, 0 to the number of records: what LevelDB's and LMDB's benchmarks use.
  case decimal
  /// Sixteen bytes that look random.
  case random
}

/// The records that every peer gets: keys of 16 bytes in ascending order, values of 100 bytes. Immutable.
public final class Records: @unchecked Sendable {
  /// The bytes of a key.
  public static let keyBytes = 16
  /// The bytes of a value.
  public static let valueBytes = 100
  @usableFromInline static let poolBytes = 1 << 16

  /// How many there are.
  public let count: Int
  @usableFromInline let keys: UnsafeMutableRawPointer
  @usableFromInline let pool: UnsafeMutableRawPointer

  /// So many records, always the same ones.
  public init(count: Int, shape: KeyShape) {
    self.count = count
    keys = .allocate(byteCount: count * Self.keyBytes, alignment: 16)
    pool = .allocate(byteCount: Self.poolBytes + Self.valueBytes, alignment: 16)
    fillPool()
    switch shape {
    case .decimal: fillDecimalKeys()
    case .random: fillRandomKeys()
    }
  }

  deinit {
    keys.deallocate()
    pool.deallocate()
  }

  /// The key of the record with `rank` records before it.
  @inlinable @inline(__always)
  public func key(_ rank: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys + rank &* Self.keyBytes, count: Self.keyBytes)
  }

  /// The value of a record, another one for each `version`.
  @inlinable @inline(__always)
  public func value(_ rank: Int, version: Int) -> UnsafeRawBufferPointer {
    let mixed = SplitMix64.mixed(UInt64(truncatingIfNeeded: rank &* 64 &+ version))
    let offset = Int(truncatingIfNeeded: mixed & UInt64(Self.poolBytes &- 1))
    return UnsafeRawBufferPointer(start: pool + offset, count: Self.valueBytes)
  }

  private func fillPool() {
    var random = SplitMix64(seed: 7)
    let bytes = UnsafeMutableRawBufferPointer(start: pool, count: Self.poolBytes + Self.valueBytes)
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
  }

  private func fillDecimalKeys() {
    for rank in 0..<count {
      var rest = rank
      let key = keys + rank * Self.keyBytes
      for place in (0..<Self.keyBytes).reversed() {
        key.storeBytes(of: UInt8(48 + rest % 10), toByteOffset: place, as: UInt8.self)
        rest /= 10
      }
    }
  }

  private func fillRandomKeys() {
    let heads = (0..<count).map { SplitMix64.mixed(UInt64($0)) }.sorted()
    for (rank, head) in heads.enumerated() {
      let key = keys + rank * Self.keyBytes
      key.storeBytes(of: head.bigEndian, as: UInt64.self)
      key.storeBytes(of: SplitMix64.mixed(head).bigEndian, toByteOffset: 8, as: UInt64.self)
    }
  }
}

/// Keys side by side in the order in which a row asks for them, so that finding the next question costs nothing.
public final class KeyList {
  /// The ranks of the records whose keys these are.
  public let ranks: [Int]
  @usableFromInline let keys: UnsafeMutableRawPointer

  /// The keys of the records with `ranks`, in this order.
  public init(_ records: Records, ranks: [Int]) {
    self.ranks = ranks
    keys = .allocate(byteCount: max(1, ranks.count) * Records.keyBytes, alignment: 16)
    for (index, rank) in ranks.enumerated() {
      (keys + index * Records.keyBytes).copyMemory(
        from: records.key(rank).baseAddress ?? UnsafeRawPointer(keys), byteCount: Records.keyBytes)
    }
  }

  deinit { keys.deallocate() }

  /// How many keys there are.
  public var count: Int { ranks.count }

  /// The key at a place, from 0; its bytes are there as long as the list.
  @inlinable @inline(__always)
  public subscript(index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: keys + index &* Records.keyBytes, count: Records.keyBytes)
  }
}
