import Foundation
import HeartwoodBytes

/// Encoding values as bytes in the order of the values.
extension Value {
  /// Appends an encoding whose byte order, among values of one property, is that of `compare`: a zero byte for null,
  /// otherwise a one and the value. No encoding is a prefix of another.
  package func appendOrderedKey(to key: inout [UInt8]) {
    guard !isNull else { return key.append(0) }
    key.append(1)
    switch self {
    case .null, .list, .opaque: break
    case .int(let value): OrderedKey.append(value, to: &key)
    case .double(let value), .date(let value): OrderedKey.append(value, to: &key)
    case .decimal(let value): DecimalParts(value).appendOrderedKey(to: &key)
    case .bool(let value): OrderedKey.append(value, to: &key)
    case .string(let value), .url(let value): OrderedKey.append(value.normalizedForComparison, to: &key)
    case .data(let value): value.withUnsafeBytes { OrderedKey.append($0, to: &key) }
    case .uuid(let value): withUnsafeBytes(of: value.uuid) { key.append(contentsOf: $0) }
    case .object(let value): OrderedKey.append(value.key, to: &key)
    }
  }
}
