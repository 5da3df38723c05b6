import Foundation
import Heartwood

/// Identifiers of stores.
enum StoreNames {
  /// The UUID that stands for a store's identifier: itself, if it is one.
  static func uuid(of identifier: String) -> UUID {
    if let uuid = UUID(uuidString: identifier) { return uuid }
    let (first, second) = (
      _PropertyHash.of(identifier), _PropertyHash.of(String(identifier.reversed()) + "store")
    )
    func byte(_ hash: UInt64, _ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: hash >> (8 * place)) }
    return UUID(
      uuid: (
        byte(first, 0), byte(first, 1), byte(first, 2), byte(first, 3), byte(first, 4), byte(first, 5),
        byte(first, 6) & 0x0F | 0x80, byte(first, 7), byte(second, 0) & 0x3F | 0x80, byte(second, 1),
        byte(second, 2),
        byte(second, 3), byte(second, 4), byte(second, 5), byte(second, 6), byte(second, 7)
      ))
  }
}
