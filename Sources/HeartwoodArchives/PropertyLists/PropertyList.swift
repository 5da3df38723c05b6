import Foundation

/// A property list: plain data as Apple's frameworks write it, in the binary or the XML form.
package indirect enum PropertyList: Hashable, Sendable {
  /// The null of the binary form, which `$null` of keyed archives is not.
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer beyond the greatest `Int64`.
  case unsignedInteger(UInt64)
  case real(Double)
  case string(String)
  case data(Data)
  case date(Date)
  case array([PropertyList])
  case dictionary([String: PropertyList])
  /// Of the binary form; without an order of its own.
  case set([PropertyList])
  /// A reference within a keyed archive: the number of an object.
  case uid(UInt64)

  /// Reads the binary or the XML form, as the first bytes say.
  ///
  /// - Throws: `ArchiveError` if it is neither, or damaged.
  /// - Complexity: O(bytes).
  package init(_ data: Data) throws(ArchiveError) {
    let bytes = [UInt8](data)
    if bytes.starts(with: "bplist".utf8) {
      self = try BinaryPropertyList.value(bytes)
    } else if MarkupPropertyList.mayBegin(bytes) {
      self = try MarkupPropertyList.value(bytes)
    } else {
      throw ArchiveError("the data is no property list in the binary or the XML form", at: 0)
    }
  }
}

extension PropertyList {
  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var data: Data? { if case .data(let data) = self { data } else { nil } }
  package var date: Date? { if case .date(let date) = self { date } else { nil } }
  package var array: [PropertyList]? { if case .array(let list) = self { list } else { nil } }
  package var dictionary: [String: PropertyList]? { if case .dictionary(let all) = self { all } else { nil } }
  package var uid: UInt64? { if case .uid(let number) = self { number } else { nil } }

  /// An integer that `Int64` has, also of a real number without a fraction.
  package var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .unsignedInteger(let number): Int64(exactly: number)
    case .real(let number): Int64(exactly: number)
    default: nil
    }
  }

  package var real: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    case .unsignedInteger(let number): Double(number)
    default: nil
    }
  }

  /// A Boolean value, also of an integer, as Foundation reads one.
  package var bool: Bool? {
    switch self {
    case .bool(let flag): flag
    case .integer(let number): number != 0
    case .unsignedInteger: true
    case .real(let number): number != 0
    default: nil
    }
  }

  /// The name of the kind in messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean value"
    case .integer, .unsignedInteger: "an integer"
    case .real: "a real number"
    case .string: "a string"
    case .data: "data"
    case .date: "a date"
    case .array: "an array"
    case .dictionary: "a dictionary"
    case .set: "a set"
    case .uid: "a reference"
    }
  }
}
