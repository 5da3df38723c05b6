import Foundation
import Heartwood

/// The identifier of a transaction that a ``PostgresStore`` has sent to its database.
///
/// The error of a save whose outcome is not known has it: `HeartwoodError.postgresTransaction`. ``PostgresStore/outcome(of:)`` asks the database
/// by it, now or later, in this process or in another one.
public struct PostgresTransactionID: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The identifier as it is in the table `_heartwood_transaction`. It begins with the time at which it was made (version 7).
  public let uuid: UUID

  /// An identifier that was kept.
  ///
  /// - Parameter text: A `description`. The result is nil if it is not one.
  public init?(_ text: String) {
    guard let uuid = UUID(uuidString: text) else { return nil }
    self.uuid = uuid
  }

  /// A new identifier: later ones are greater, so that they are written beside each other in the index of the table.
  init() { self.init(at: Date(), using: UUID().uuid) }

  /// The least identifier of a time.
  static func first(at date: Date) -> PostgresTransactionID {
    PostgresTransactionID(at: date, using: UUID(uuidString: "00000000-0000-0000-0000-000000000000")?.uuid)
  }

  private init(at date: Date, using other: uuid_t?) {
    var bytes = withUnsafeBytes(of: other) { Array($0.prefix(16)) }
    let milliseconds = UInt64(max(0, date.timeIntervalSince1970) * 1000)
    for place in 0..<6 { bytes[place] = UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * place)) }
    bytes[6] = bytes[6] & 0x0F | 0x70
    bytes[8] = bytes[8] & 0x3F | 0x80
    uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// When it was made, by the clock of the process that made it.
  public var date: Date {
    let milliseconds = withUnsafeBytes(of: uuid.uuid) { bytes in
      bytes.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// The identifier as a text, from which it can be made again.
  public var description: String { uuid.uuidString.lowercased() }
}

/// Why the outcome of a transaction is not known: the connection was lost while the server committed it, and no server could be asked.
public struct PostgresLostCommit: Error, CustomStringConvertible {
  /// The transaction.
  public let transaction: PostgresTransactionID
  /// How the connection was lost.
  public let description: String
}

extension HeartwoodError {
  /// The transaction of a save or a batch to a ``PostgresStore`` whose outcome is not known; nil of other errors.
  public var postgresTransaction: PostgresTransactionID? {
    if let lost = underlying as? PostgresLostCommit { return lost.transaction }
    return (underlying as? HeartwoodError)?.postgresTransaction
  }
}
