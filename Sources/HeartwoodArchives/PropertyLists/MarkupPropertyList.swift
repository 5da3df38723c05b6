import Foundation

/// Reads the XML form of property lists: the elements of Apple's document type, in UTF-8. A document's own entities are not read.
struct MarkupPropertyList {
  private var text: MarkupScanner

  private static let deepest = 128

  /// Whether bytes may be a document: the first that is no space opens an element.
  static func mayBegin(_ bytes: [UInt8]) -> Bool {
    let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    let first = bytes[start...].first { !MarkupScanner.isSpace($0) }
    return first == UInt8(ascii: "<")
  }

  static func value(_ bytes: [UInt8]) throws(ArchiveError) -> PropertyList {
    // The list itself is an element, too.
    var reader = MarkupPropertyList(
      text: MarkupScanner(bytes, deepest: deepest + 1, documentTypes: .named))
    return try reader.document()
  }

  private mutating func document() throws(ArchiveError) -> PropertyList {
    guard case .start("plist", _)? = try text.nextElement() else {
      throw ArchiveError("the document has no element plist", at: text.position)
    }
    guard let value = try value(depth: 0) else {
      throw ArchiveError("the element plist has no value", at: text.position)
    }
    guard case .end? = try text.nextElement() else {
      throw ArchiveError("the element plist has more than one value", at: text.position)
    }
    guard try text.nextElement() == nil else {
      throw ArchiveError("the document has more than one element", at: text.position)
    }
    return value
  }

  /// The value of the next element. Nil at the end of the element around it, which stays to be read.
  private mutating func value(depth: Int) throws(ArchiveError) -> PropertyList? {
    guard depth < Self.deepest else {
      throw ArchiveError("more than \(Self.deepest) elements are within each other", at: text.position)
    }
    let before = text
    guard case .start(let name, _)? = try text.nextElement() else {
      text = before
      return nil
    }
    switch name {
    case "dict": return try dictionary(depth)
    case "array":
      var list: [PropertyList] = []
      while let element = try value(depth: depth + 1) { list.append(element) }
      _ = try text.nextElement()
      return .array(list)
    default: break
    }
    let offset = text.position
    guard let value = Self.value(name, try text.text()) else {
      throw ArchiveError("the content of <\(name.prefix(80))> is no value of its kind", at: offset)
    }
    return value
  }

  private mutating func dictionary(_ depth: Int) throws(ArchiveError) -> PropertyList {
    var list: [String: PropertyList] = [:]
    while case .start(let name, _)? = try text.nextElement() {
      guard name == "key" else {
        throw ArchiveError("a dictionary has a value without a key", at: text.position)
      }
      let key = try text.text()
      guard let value = try value(depth: depth + 1) else {
        throw ArchiveError("the key \"\(key.prefix(80))\" has no value", at: text.position)
      }
      guard list.updateValue(value, forKey: key) == nil else {
        throw ArchiveError("a dictionary has the key \"\(key.prefix(80))\" twice", at: text.position)
      }
    }
    // How XML has the references of keyed archives.
    if list.count == 1, case .integer(let number)? = list["CF$UID"], let uid = UInt64(exactly: number) {
      return .uid(uid)
    }
    return .dictionary(list)
  }

  /// The value of an element without elements. Nil if its content is no such value.
  private static func value(_ name: String, _ content: String) -> PropertyList? {
    let trimmed = content.trimmingCharacters(in: .whitespacesAndNewlines)
    switch name {
    case "string": return .string(content)
    case "true": return trimmed.isEmpty ? .bool(true) : nil
    case "false": return trimmed.isEmpty ? .bool(false) : nil
    case "integer": return integer(trimmed)
    case "real": return real(trimmed)
    case "date": return date(trimmed).map(PropertyList.date)
    case "data":
      return Data(base64Encoded: String(content.filter { !$0.isWhitespace })).map(PropertyList.data)
    default: return nil
    }
  }

  private static func integer(_ text: String) -> PropertyList? {
    var digits = Substring(text)
    let isNegative = digits.hasPrefix("-")
    if isNegative || digits.hasPrefix("+") { digits = digits.dropFirst() }
    let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    if isHexadecimal { digits = digits.dropFirst(2) }
    guard let first = digits.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else {
      return nil
    }
    guard let number = UInt64(digits, radix: isHexadecimal ? 16 : 10) else { return nil }
    if isNegative {
      return number <= Int64.min.magnitude ? .integer(Int64(truncatingIfNeeded: 0 &- number)) : nil
    }
    return Int64(exactly: number).map(PropertyList.integer) ?? .unsignedInteger(number)
  }

  private static func real(_ text: String) -> PropertyList? {
    switch text.lowercased() {
    case "nan": .real(.nan)
    case "inf", "+inf", "infinity", "+infinity": .real(.infinity)
    case "-inf", "-infinity": .real(-.infinity)
    default: Double(text).map(PropertyList.real)
    }
  }

  /// A date as `2024-01-31T12:00:00Z`.
  private static func date(_ text: String) -> Date? {
    guard text.hasSuffix("Z") else { return nil }
    let halves = text.dropLast().split(separator: "T", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let isBefore = halves[0].hasPrefix("-")
    let days = halves[0].dropFirst(isBefore ? 1 : 0).split(separator: "-", omittingEmptySubsequences: false)
      .map { $0.count <= 6 ? UInt32($0).map(Int.init) : nil }
    let times = halves[1].split(separator: ":", omittingEmptySubsequences: false)
      .map { $0.count == 2 ? UInt32($0).map(Int.init) : nil }
    guard days.count == 3, times.count == 3, let y = days[0], let month = days[1], let day = days[2],
      let hour = times[0], let minute = times[1], let second = times[2],
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    // The number of the day in the Gregorian calendar, the years beginning in March.
    let year = (isBefore ? -y : y) - (month <= 2 ? 1 : 0)
    let era = (year >= 0 ? year : year - 399) / 400
    let ofEra = year - era * 400
    let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let number = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    let seconds = number * 86_400 + hour * 3600 + minute * 60 + second
    return Date(timeIntervalSince1970: Double(seconds))
  }
}
