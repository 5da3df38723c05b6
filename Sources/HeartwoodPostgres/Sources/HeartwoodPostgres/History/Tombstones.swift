import Foundation
import Heartwood

/// The kept values of deleted objects as bytes: a property list of a list of dictionaries, in the order of the objects. Values that property
/// lists do not have are dictionaries with the name of their type.
enum Tombstones {
  static func encoded(_ tombstones: [[String: StoredValue]]) throws -> Data? {
    guard !tombstones.isEmpty else { return nil }
    let list = tombstones.map { values in values.compactMapValues(plain) }
    return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
  }

  static func decoded(_ data: Data) -> [[String: StoredValue]] {
    let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
    return (list as? [[String: Any]] ?? []).map { values in values.compactMapValues(value) }
  }

  private static func plain(_ value: StoredValue) -> Any? {
    switch value {
    case .null: nil
    case .string(let text): text
    case .data(let data): data
    case .integer(let number): ["integer": "\(number)"]
    case .boolean(let value): ["boolean": value ? "1" : "0"]
    case .double(let number): ["double": "\(number.bitPattern)"]
    case .date(let seconds): ["date": "\(seconds.bitPattern)"]
    case .decimal(let number): ["decimal": number.isNaN ? "NaN" : "\(number)"]
    case .uuid(let uuid): ["uuid": uuid.uuidString]
    case .object: nil
    }
  }

  private static func value(_ plain: Any) -> StoredValue? {
    if let text = plain as? String { return .string(text) }
    if let data = plain as? Data { return .data(data) }
    guard let (type, text) = (plain as? [String: String])?.first else { return nil }
    return switch type {
    case "integer": Int64(text).map(StoredValue.integer)
    case "boolean": .boolean(text == "1")
    case "double": UInt64(text).map { .double(Double(bitPattern: $0)) }
    case "date": UInt64(text).map { .date(Double(bitPattern: $0)) }
    case "decimal": Decimal(string: text).map(StoredValue.decimal) ?? .decimal(.nan)
    case "uuid": UUID(uuidString: text).map(StoredValue.uuid)
    default: nil
    }
  }
}
