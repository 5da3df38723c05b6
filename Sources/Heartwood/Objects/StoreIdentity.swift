import Foundation
import HeartwoodFiles

/// Which store an identifier belongs to: a small number that stands for the store's UUID in this process.
@usableFromInline
struct StoreIdentity: Hashable, Sendable {
  /// The place in the process's table; 0 is no store, of temporary identifiers.
  let number: UInt32

  private init(number: UInt32) { self.number = number }

  init(number: UInt32, known: Void) { self.number = number }

  /// The identity of the store with this UUID. Constant once the process has met the store.
  init(uuid: UUID) {
    number = Self.known.withLock { known in
      if let number = known.numbers[uuid] { return number }
      known.uuids.append(uuid)
      let number = UInt32(known.uuids.count)
      known.numbers[uuid] = number
      return number
    }
  }

  /// No store.
  static var none: StoreIdentity { StoreIdentity(number: 0) }

  /// The store's UUID; nil for no store.
  var uuid: UUID? {
    guard number > 0 else { return nil }
    return Self.known.withLock { $0.uuids[Int(number) - 1] }
  }

  private struct Known {
    var numbers: [UUID: UInt32] = [:]
    var uuids: [UUID] = []
  }

  /// Stays as long as the process: identifiers outlive their stores.
  private static let known = Guarded(Known())
}
