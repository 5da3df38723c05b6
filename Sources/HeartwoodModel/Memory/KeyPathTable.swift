import Synchronization

/// The properties that key paths of an entity read, found by the identity of the key path: a literal without captured values is the same
/// object each time that it is evaluated, and comparing objects costs less than hashing a key path.
///
/// Readers take no lock and count no references: what was added is never freed, like the frozen model that it belongs to. There is room for
/// a fixed number of key paths; one that finds none is resolved each time.
final class KeyPathTable: Sendable {
  /// A link to the next of the paths whose addresses have the same bits.
  ///
  /// Unchecked, because a key path is an immutable value, which the compiler cannot assume of all key paths.
  class Link: @unchecked Sendable {
    fileprivate let next = Atomic<Unmanaged<Path>?>(nil)
  }

  /// A key path and what it reads.
  final class Path: Link, @unchecked Sendable {
    /// Kept, so that no other key path gets its address.
    fileprivate let keyPath: AnyKeyPath
    /// The names of the properties, one for each step.
    let names: [String]
    /// The slot of the property; nil if there are several.
    let slot: Int?

    init(_ keyPath: AnyKeyPath, names: [String], slot: Int?) {
      self.keyPath = keyPath
      self.names = names
      self.slot = slot
    }
  }

  private static let longestChain = 8
  private let chains = (0..<16).map { _ in Link() }

  /// - Returns: nil if the key path was not added.
  subscript(keyPath: AnyKeyPath) -> Path? {
    // Acquiring: the path was made before it was added.
    var next = chain(of: keyPath).next.load(ordering: .acquiring)
    while let path = next?.takeUnretainedValue() {
      if path.keyPath === keyPath { return path }
      next = path.next.load(ordering: .acquiring)
    }
    return nil
  }

  /// Adds a path, unless there is no room for it or another thread has added it.
  func add(_ path: Path) {
    let new = Unmanaged.passRetained(path)
    var last = chain(of: path.keyPath)
    for _ in 0..<Self.longestChain {
      let (isAdded, other) = last.next.compareExchange(
        expected: nil, desired: new, ordering: .acquiringAndReleasing)
      if isAdded { return }
      guard let other = other?.takeUnretainedValue(), other.keyPath !== path.keyPath else { break }
      last = other
    }
    new.release()
  }

  private func chain(of keyPath: AnyKeyPath) -> Link {
    // The lowest bits of an address are those of its alignment.
    let address = UInt(bitPattern: ObjectIdentifier(keyPath))
    return chains[Int(truncatingIfNeeded: address >> 4) & (chains.count - 1)]
  }
}
