import Foundation

/// Reads the binary form of property lists: `bplist00`, objects, a table of their offsets, and a trailer that says where the table is.
///
/// Objects refer to others by number. Every object is read once; one that several refer to is shared, and counts for each of them against
/// `most`, so that a short file cannot stand for a value that no memory holds.
struct BinaryPropertyList {
  private let bytes: [UInt8]
  private let table: Int
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  /// The values and the sizes of objects that were read, and those that are being read.
  private var values: [Value?]
  private var states: [State]

  private struct Value {
    let list: PropertyList
    /// How many objects it has, with those that it refers to.
    let size: Int
  }

  private enum State { case unread, open, read }

  /// Containers in containers.
  private static let deepest = 128

  static func value(_ bytes: [UInt8]) throws(ArchiveError) -> PropertyList {
    var reader = try BinaryPropertyList(bytes)
    return try reader.root()
  }

  private let top: Int

  private init(_ bytes: [UInt8]) throws(ArchiveError) {
    self.bytes = bytes
    guard bytes.starts(with: "bplist".utf8), bytes.count >= 8 + 32 else {
      throw ArchiveError("a binary property list ends too early", at: bytes.count)
    }
    guard bytes[6] == UInt8(ascii: "0") else {
      throw ArchiveError("the binary property list is of a version that is not known", at: 6)
    }
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw ArchiveError("the trailer has a size of numbers that is none", at: trailer + 6)
    }
    func number(_ at: Int) -> UInt64 { bytes[at..<at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    let (objects, top, table) = (number(trailer + 8), number(trailer + 16), number(trailer + 24))
    guard table >= 8, table <= UInt64(trailer), objects <= (UInt64(trailer) - table) / UInt64(offsetSize)
    else {
      throw ArchiveError("the table of offsets is not within the file", at: trailer + 8)
    }
    guard top < objects else { throw ArchiveError("the trailer's first object is none", at: trailer + 16) }
    self.top = Int(top)
    self.table = Int(table)
    count = Int(objects)
    values = Array(repeating: nil, count: count)
    states = Array(repeating: .unread, count: count)
  }

  private mutating func root() throws(ArchiveError) -> PropertyList {
    try value(of: top, depth: 0).list
  }

  private mutating func value(of object: Int, depth: Int) throws(ArchiveError) -> Value {
    if let value = values[object] { return value }
    let offset = try number(table + object * offsetSize, offsetSize)
    guard offset >= 8, offset < table else {
      throw ArchiveError("object \(object) is not within the objects", at: table + object * offsetSize)
    }
    guard states[object] != .open else { throw ArchiveError("object \(object) is within itself", at: offset) }
    guard depth < Self.deepest else {
      throw ArchiveError("more than \(Self.deepest) objects are within each other", at: offset)
    }
    states[object] = .open
    let value = try read(at: offset, depth: depth)
    states[object] = .read
    values[object] = value
    return value
  }

  private mutating func read(at offset: Int, depth: Int) throws(ArchiveError) -> Value {
    let low = Int(bytes[offset] & 0x0f)
    switch bytes[offset] >> 4 {
    case 0x0:
      switch low {
      case 0: return Value(list: .null, size: 1)
      case 8: return Value(list: .bool(false), size: 1)
      case 9: return Value(list: .bool(true), size: 1)
      default: break
      }
    case 0x1: return Value(list: try integer(at: offset, low), size: 1)
    case 0x2: return Value(list: .real(try real(at: offset, low)), size: 1)
    case 0x3 where low == 3:
      return Value(list: .date(Date(timeIntervalSinceReferenceDate: try real(at: offset, low))), size: 1)
    case 0x4:
      let range = try content(at: offset, low, width: 1)
      return Value(list: .data(Data(bytes[range])), size: 1)
    case 0x5, 0x7:
      let range = try content(at: offset, low, width: 1)
      guard let text = String(validating: bytes[range], as: UTF8.self) else {
        throw ArchiveError("a string is not in its encoding", at: range.lowerBound)
      }
      return Value(list: .string(text), size: 1)
    case 0x6:
      let range = try content(at: offset, low, width: 2)
      let units = stride(from: range.lowerBound, to: range.upperBound, by: 2)
        .map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
      // Foundation writes strings with lone surrogates too.
      return Value(list: .string(String(decoding: units, as: UTF16.self)), size: 1)
    case 0x8:
      guard low < 8 else { break }
      try check(offset + 1, low + 1)
      let number = bytes[offset + 1..<offset + 2 + low].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Value(list: .uid(number), size: 1)
    case 0xa:
      let (list, size) = try elements(at: offset, low, depth)
      return Value(list: .array(list), size: size)
    case 0xb, 0xc:
      let (list, size) = try elements(at: offset, low, depth)
      return Value(list: .set(list), size: size)
    case 0xd: return try dictionary(at: offset, low, depth)
    default: break
    }
    throw ArchiveError("an object is of no known kind", at: offset)
  }

  // MARK: Containers

  private mutating func elements(
    at offset: Int, _ low: Int, _ depth: Int
  ) throws(ArchiveError) -> ([PropertyList], Int) {
    let range = try content(at: offset, low, width: referenceSize)
    var list: [PropertyList] = []
    list.reserveCapacity(range.count / referenceSize)
    var size = 1
    for place in stride(from: range.lowerBound, to: range.upperBound, by: referenceSize) {
      list.append(try element(at: place, depth, &size))
    }
    return (list, size)
  }

  private mutating func dictionary(at offset: Int, _ low: Int, _ depth: Int) throws(ArchiveError) -> Value {
    let range = try content(at: offset, low, width: 2 * referenceSize)
    let middle = range.lowerBound + range.count / 2
    var list: [String: PropertyList] = [:]
    list.reserveCapacity(range.count / 2 / referenceSize)
    var size = 1
    for place in stride(from: range.lowerBound, to: middle, by: referenceSize) {
      guard case .string(let key) = try element(at: place, depth, &size) else {
        throw ArchiveError("a key of a dictionary is no string", at: place)
      }
      let value = try element(at: place + range.count / 2, depth, &size)
      guard list.updateValue(value, forKey: key) == nil else {
        throw ArchiveError("a dictionary has the key \"\(key.prefix(80))\" twice", at: place)
      }
    }
    return Value(list: .dictionary(list), size: size)
  }

  private mutating func element(
    at place: Int, _ depth: Int, _ size: inout Int
  ) throws(ArchiveError) -> PropertyList {
    let object = try number(place, referenceSize)
    guard object < count else { throw ArchiveError("there is no object \(object)", at: place) }
    let value = try value(of: object, depth: depth + 1)
    size += value.size
    // Values alone are shared in every list; a list that is shared over and over is no honest one.
    guard size <= 1 << 20 + 16 * bytes.count else {
      throw ArchiveError("the objects refer to each other so often that the list has no bounds", at: place)
    }
    return value.list
  }

  // MARK: Bytes

  private func check(_ offset: Int, _ length: Int) throws(ArchiveError) {
    guard length >= 0, length <= table - offset else {
      throw ArchiveError("an object ends after the objects", at: offset)
    }
  }

  /// Where the content of an object is: as many units of a width as its low bits, or the integer after it, say.
  private func content(at offset: Int, _ low: Int, width: Int) throws(ArchiveError) -> Range<Int> {
    var start = offset + 1
    var units = low
    if low == 15 {
      try check(start, 1)
      guard bytes[start] >> 4 == 1, bytes[start] & 0x0f <= 3 else {
        throw ArchiveError("the length of an object is no integer", at: start)
      }
      let size = 1 << Int(bytes[start] & 0x0f)
      units = try number(start + 1, size)
      start += 1 + size
    }
    guard start <= table, units <= (table - start) / width else {
      throw ArchiveError("an object ends after the objects", at: offset)
    }
    return start..<start + units * width
  }

  /// A number that is not negative, of 1 to 8 bytes.
  private func number(_ offset: Int, _ size: Int) throws(ArchiveError) -> Int {
    guard size <= bytes.count - 32 - offset else { throw ArchiveError("a number ends too late", at: offset) }
    let number = bytes[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    // One that is too great for an offset is beyond each bound it is compared with.
    return Int(exactly: number) ?? .max
  }

  private func integer(at offset: Int, _ low: Int) throws(ArchiveError) -> PropertyList {
    guard low <= 4 else { throw ArchiveError("an integer has a size that is none", at: offset) }
    let size = 1 << low
    try check(offset + 1, size)
    let digits = bytes[offset + 1..<offset + 1 + size]
    let number = digits.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    // Eight bytes have a sign, fewer have none; sixteen are written for numbers beyond those.
    guard size == 16 else { return .integer(Int64(bitPattern: number)) }
    let high = digits.prefix(8)
    if high.allSatisfy({ $0 == 0 }) {
      return Int64(exactly: number).map(PropertyList.integer) ?? .unsignedInteger(number)
    }
    guard high.allSatisfy({ $0 == 0xff }), number >> 63 == 1 else {
      throw ArchiveError("an integer has more than 64 bits", at: offset)
    }
    return .integer(Int64(bitPattern: number))
  }

  private func real(at offset: Int, _ low: Int) throws(ArchiveError) -> Double {
    guard low == 2 || low == 3 else {
      throw ArchiveError("a real number has a size that is none", at: offset)
    }
    try check(offset + 1, 1 << low)
    let number = bytes[offset + 1..<offset + 1 + 1 << low].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return low == 3
      ? Double(bitPattern: number) : Double(Float(bitPattern: UInt32(truncatingIfNeeded: number)))
  }
}
