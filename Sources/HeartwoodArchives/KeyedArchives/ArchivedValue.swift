import Foundation

/// A value of a keyed archive. Foundation's own classes are values; others are objects with fields.
package enum ArchivedValue: Sendable {
  /// `$null`, or an `NSNull`.
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer beyond the greatest `Int64`.
  case unsignedInteger(UInt64)
  case real(Double)
  case decimal(Decimal)
  case string(String)
  /// The text of an `NSAttributedString`, without its attributes.
  case attributedString(String)
  case data(Data)
  case date(Date)
  case uuid(UUID)
  /// A URL's text; that of its base is before it where it is relative.
  case url(String)
  /// The ranges of an `NSIndexSet`.
  case indexes([Range<Int>])
  case array(ArchivedList)
  case set(ArchivedList)
  case orderedSet(ArchivedList)
  case dictionary(ArchivedEntries)
  case object(ArchivedObject)

  package var isNull: Bool { if case .null = self { true } else { false } }
  package var string: String? {
    switch self {
    case .string(let text), .attributedString(let text): text
    default: nil
    }
  }
  package var data: Data? { if case .data(let data) = self { data } else { nil } }
  package var date: Date? { if case .date(let date) = self { date } else { nil } }
  package var object: ArchivedObject? { if case .object(let object) = self { object } else { nil } }
  package var dictionary: ArchivedEntries? { if case .dictionary(let all) = self { all } else { nil } }

  /// The elements of an array, a set or an ordered set.
  package var list: ArchivedList? {
    switch self {
    case .array(let list), .set(let list), .orderedSet(let list): list
    default: nil
    }
  }

  /// An integer, also one of a real number or a Boolean value.
  package var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .unsignedInteger(let number): Int64(exactly: number)
    case .real(let number): Int64(exactly: number)
    case .bool(let flag): flag ? 1 : 0
    default: nil
    }
  }

  /// A real number, also one of an integer.
  package var real: Double? {
    switch self {
    case .real(let number): number
    case .integer(let number): Double(number)
    case .unsignedInteger(let number): Double(number)
    case .decimal(let number): Double("\(number)")
    default: nil
    }
  }

  /// A Boolean value, also of an integer.
  package var bool: Bool? {
    if case .bool(let flag) = self { flag } else { integer.map { $0 != 0 } }
  }

  /// The name of the kind in messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean value"
    case .integer, .unsignedInteger: "an integer"
    case .real: "a real number"
    case .decimal: "a decimal number"
    case .string, .attributedString: "a string"
    case .data: "data"
    case .date: "a date"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .indexes: "a set of indexes"
    case .array: "an array"
    case .set: "a set"
    case .orderedSet: "an ordered set"
    case .dictionary: "a dictionary"
    case .object(let object): "an object of the class \(object.className.isEmpty ? "?" : object.className)"
    }
  }
}

/// The elements of an archived array or set. Each is resolved when it is asked for.
package struct ArchivedList: Sendable {
  let archive: KeyedArchive
  let fields: [PropertyList]

  package var count: Int { fields.count }

  /// - Precondition: There is such an element.
  /// - Throws: `ArchiveError` if it refers to no object.
  package func value(at place: Int) throws(ArchiveError) -> ArchivedValue {
    try archive.value(of: fields[place])
  }

  /// All elements. Their own elements are not resolved.
  package func values() throws(ArchiveError) -> [ArchivedValue] {
    var all: [ArchivedValue] = []
    for field in fields { all.append(try archive.value(of: field)) }
    return all
  }
}

/// The keys and values of an archived dictionary, in the archive's order. Each is resolved when it is asked for.
package struct ArchivedEntries: Sendable {
  package let keys: ArchivedList
  package let values: ArchivedList

  package var count: Int { keys.count }

  /// The entries whose keys are strings, in the archive's order.
  ///
  /// - Throws: `ArchiveError` if a key or a value refers to no object, or a key is no string.
  package func byName() throws(ArchiveError) -> [(name: String, value: ArchivedValue)] {
    var all: [(name: String, value: ArchivedValue)] = []
    for place in 0..<count {
      let key = try keys.value(at: place)
      guard let name = key.string else {
        throw ArchiveError("a key of a dictionary is \(key.kind), no string")
      }
      all.append((name, try values.value(at: place)))
    }
    return all
  }
}
