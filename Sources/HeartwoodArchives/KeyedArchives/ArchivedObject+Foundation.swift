import Foundation

extension ArchivedObject {
  /// The value that an object of a class of Foundation is; itself for other classes.
  ///
  /// - Throws: `ArchiveError` if its fields are not those of its class.
  func unpacked() throws(ArchiveError) -> ArchivedValue {
    for name in classNames {
      switch name {
      case "NSNull": return .null
      case "NSArray": return .array(try elements())
      case "NSSet": return .set(try elements())
      case "NSOrderedSet": return .orderedSet(try elements())
      case "NSKnownKeysDictionary1": return try knownKeys()
      case "NSDictionary": return try entries()
      case "NSString": return .string(try text())
      case "NSAttributedString": return .attributedString(try text("NSString"))
      case "NSData":
        return .data(try required("NS.data", rawData("NS.data") ?? rawData("NS.bytes")))
      case "NSDate":
        return .date(Date(timeIntervalSinceReferenceDate: try required("NS.time", raw("NS.time")?.real)))
      case "NSUUID": return .uuid(try uuid())
      case "NSURL": return .url(try url())
      case "NSIndexSet": return .indexes(try indexes())
      case "NSDecimalNumber": return .decimal(try decimal())
      case "NSDecimalNumberPlaceholder": return .decimal(try decimal())
      case "NSNumber": if let number = plainNumber() { return number }
      default: break
      }
    }
    return .object(self)
  }

  private func damaged(_ key: String) -> ArchiveError {
    ArchiveError(
      "object \(number ?? 0) of the archive, of the class \(className.prefix(80)), has no valid \(key)")
  }

  private func required<Value>(_ key: String, _ value: Value?) throws(ArchiveError) -> Value {
    guard let value else { throw damaged(key) }
    return value
  }

  // MARK: Fields

  /// The value that a field refers to, as it is in the archive: an object is not unpacked, so that one that is within itself has an
  /// end.
  private func raw(_ key: String) -> PropertyList? { fields[key].flatMap(archive.raw) }

  /// A text, or that of a string that is an object.
  private func rawText(_ key: String) -> String? {
    switch raw(key) {
    case .string(let text): return text
    case .dictionary(let string): return string["NS.string"].flatMap(archive.raw)?.string
    default: return nil
    }
  }

  private func rawData(_ key: String) -> Data? {
    switch raw(key) {
    case .data(let data): return data
    case .dictionary(let object): return (object["NS.data"] ?? object["NS.bytes"])?.data
    default: return nil
    }
  }

  // MARK: Collections

  /// Elements under one key, or, as older versions wrote them, each under a key of its own.
  private func elements() throws(ArchiveError) -> ArchivedList {
    ArchivedList(archive: archive, fields: try fields("NS.objects", numbered: "NS.object."))
  }

  private func fields(_ key: String, numbered prefix: String) throws(ArchiveError) -> [PropertyList] {
    guard fields[key] == nil else {
      // The list can be an object without a class.
      guard let list = raw(key)?.array else { throw damaged(key) }
      return list
    }
    var list: [PropertyList] = []
    while let field = fields["\(prefix)\(list.count)"] { list.append(field) }
    return list
  }

  private func entries() throws(ArchiveError) -> ArchivedValue {
    let keys = try fields("NS.keys", numbered: "NS.key.")
    let values = try fields("NS.objects", numbered: "NS.object.")
    guard keys.count == values.count else { throw damaged("NS.keys") }
    return .dictionary(
      ArchivedEntries(
        keys: ArchivedList(archive: archive, fields: keys),
        values: ArchivedList(archive: archive, fields: values)))
  }

  /// Core Data's own dictionary: values in the order of keys that a strategy has, which several dictionaries share.
  ///
  /// The fields have been seen under several names; what counts is that one is the strategy, and one has a value for each of its keys.
  private func knownKeys() throws(ArchiveError) -> ArchivedValue {
    func list(_ field: PropertyList?) -> [PropertyList]? {
      switch field.flatMap(archive.raw) {
      case .array(let list): list
      case .dictionary(let object): object["NS.objects"]?.array
      default: nil
      }
    }
    var keys: [PropertyList]?
    var values: [PropertyList]?
    for key in self.keys {
      guard let object = raw(key)?.dictionary else { continue }
      if try archive.classNames(of: object).contains("NSKnownKeysMappingStrategy1") {
        keys =
          object.sorted { $0.key < $1.key }.lazy.filter { $0.key != "$class" }.compactMap { list($0.value) }
          .first
      } else {
        values = list(fields[key]) ?? values
      }
    }
    guard let keys, let values, keys.count == values.count else { throw damaged("keys") }
    // The mark at a key that has no value.
    let token = fields["emptyToken"].flatMap { $0.uid == nil || $0 == .uid(0) ? nil : $0 }
    let places = values.indices.filter { values[$0] != token }
    return .dictionary(
      ArchivedEntries(
        keys: ArchivedList(archive: archive, fields: places.map { keys[$0] }),
        values: ArchivedList(archive: archive, fields: places.map { values[$0] })))
  }

  // MARK: Values

  private func text(_ key: String = "NS.string") throws(ArchiveError) -> String {
    if let text = rawText(key) ?? rawText("NS.string") { return text }
    if let data = rawData("NS.bytes"), let text = String(validating: data, as: UTF8.self) { return text }
    throw damaged(key)
  }

  private func uuid() throws(ArchiveError) -> UUID {
    let data = try required("NS.uuidbytes", rawData("NS.uuidbytes"))
    guard data.count == 16 else { throw damaged("NS.uuidbytes") }
    let b = [UInt8](data)
    return UUID(
      uuid: (
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
      ))
  }

  private func url() throws(ArchiveError) -> String {
    let relative = try required("NS.relative", rawText("NS.relative"))
    // A base is a URL too, but has no base itself.
    guard let base = raw("NS.base")?.dictionary?["NS.relative"].flatMap(archive.raw)?.string else {
      return relative
    }
    return URL(string: relative, relativeTo: URL(string: base))?.absoluteString ?? base + relative
  }

  private func plainNumber() -> ArchivedValue? {
    if let number = fields["NS.intval"]?.integer { return .integer(number) }
    if let number = fields["NS.dblval"]?.real { return .real(number) }
    if let flag = fields["NS.boolval"]?.bool { return .bool(flag) }
    return nil
  }

  private func indexes() throws(ArchiveError) -> [Range<Int>] {
    switch raw("NSRangeCount")?.integer ?? 0 {
    case 0: return []
    case 1:
      let start = try required("NSLocation", raw("NSLocation")?.integer.flatMap { Int(exactly: $0) })
      let count = raw("NSLength")?.integer.flatMap { Int(exactly: $0) } ?? 1
      return [try range(start, count)]
    default:
      // Pairs of numbers of seven bits each, the lowest first.
      let data = try required("NSRangeData", rawData("NSRangeData"))
      var numbers: [Int] = []
      var number = 0
      var shift = 0
      for byte in data {
        guard shift < 63 else { throw damaged("NSRangeData") }
        number |= Int(byte & 0x7f) << shift
        shift += 7
        if byte & 0x80 == 0 {
          numbers.append(number)
          (number, shift) = (0, 0)
        }
      }
      guard shift == 0, numbers.count % 2 == 0 else { throw damaged("NSRangeData") }
      var ranges: [Range<Int>] = []
      for place in stride(from: 0, to: numbers.count, by: 2) {
        ranges.append(try range(numbers[place], numbers[place + 1]))
      }
      return ranges
    }
  }

  private func range(_ start: Int, _ count: Int) throws(ArchiveError) -> Range<Int> {
    guard start >= 0, count >= 0, start <= Int.max - count else { throw damaged("NSRangeData") }
    return start..<start + count
  }

  /// A number of up to eight units of 16 bits, times a power of ten.
  private func decimal() throws(ArchiveError) -> Decimal {
    let exponent = try required("NS.exponent", fields["NS.exponent"]?.integer)
    let length = try required("NS.length", fields["NS.length"]?.integer)
    let isNegative = fields["NS.negative"]?.bool ?? false
    // Not a number: without units, but negative.
    guard length > 0 else { return isNegative ? .nan : 0 }
    let data = [UInt8](try required("NS.mantissa", fields["NS.mantissa"]?.data))
    guard length <= 8, data.count >= length * 2, (-128...127).contains(exponent) else {
      throw damaged("NS.mantissa")
    }
    // The archive says in which order the bytes of a unit are: 1 is the lowest first.
    let isLittle = (fields["NS.mantissa.bo"]?.integer ?? 1) != 2
    let units = (0..<Int(length)).map { unit in
      let (first, second) = (UInt16(data[2 * unit]), UInt16(data[2 * unit + 1]))
      return isLittle ? second << 8 | first : first << 8 | second
    }
    var digits = Decimal(0)
    for unit in units.reversed() { digits = digits * 65536 + Decimal(unit) }
    let value = Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: digits)
    return value
  }
}
