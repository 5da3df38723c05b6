import HeartwoodEngine

/// A copy of a store whose objects have numbers, which they keep.
protocol ObjectTransfer {
  /// That of the store, and of the copy.
  var identifier: StoreIdentifier? { get }
  /// A report on the copies made.
  var report: StoreTransferReport { get }

  /// Copies the store to an engine that has no store yet.
  ///
  /// - Throws: `.persistentStoreSave` if values that must be unique are not; what reading and writing throw.
  func run(_ engine: Engine) throws
}

/// The objects and links that a transfer has copied.
package struct StoreTransferReport: Sendable {
  /// The numbers of objects by the names of their entities.
  package var objects: [String: Int] = [:]
  /// The number of links, each counted once.
  package var links = 0
  /// By the names of relationships, how often a destination is not there. Such references are left out.
  package var missingDestinations: [String: Int] = [:]
}
