import Foundation
import Heartwood

/// An object of a history with a list and a register.
final class Ledger: ManagedObject {
  @Attribute(.indexed) var number: Int64 = 0
  @Attribute var items: Data?
  @Attribute var note: Int64?
}

extension Ledger {
  /// The values of both properties as read operations.
  func reads() throws -> [History.Operation] {
    [.read(History.list(of: Int(number)), try list()), .read(History.register(of: Int(number)), register())]
  }

  func list() throws -> [Int] { try items.map { try Elements.elements($0) } ?? [] }
  func register() -> [Int] { note.map { [Int($0)] } ?? [] }

  func append(_ element: Int) throws { items = Data(Elements.bytes(try list() + [element])) }
}
