import Foundation
import HeartwoodFiles

/// The store of an identifier: a small number for the store's UUID in this process.
@usableFromInline
package struct StoreIdentity: Hashable, Sendable {
  /// The index in the process's table, from 1; 0 is no store, as in temporary identifiers.
  @usableFromInline let number: UInt32

  @inlinable init(number: UInt32) { self.number = number }

  init(number: UInt32, known: Void) { self.number = number }

  /// The identity of the store with this UUID; it stays the same for the rest of the process.
  package init(uuid: UUID) {
    number = Self.known.withLock { known in
      if let number = known.numbers[uuid] { return number }
      known.uuids.append(uuid)
      let number = UInt32(known.uuids.count)
      known.numbers[uuid] = number
      return number
    }
  }

  /// No store.
  @inlinable package static var none: StoreIdentity { StoreIdentity(number: 0) }

  /// The store's UUID; nil for no store, and for several.
  package var uuid: UUID? {
    guard number > 0, !isOfSeveral else { return nil }
    return Self.known.withLock { $0.uuids[Int(number) - 1] }
  }

  private struct Known {
    var numbers: [UUID: UInt32] = [:]
    var uuids: [UUID] = []
  }

  /// Never freed: identifiers outlive their stores.
  private static let known = Guarded(Known())
}
