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
        return .data(try required("NS.data", fields["NS.data"]?.data ?? fields["NS.bytes"]?.data))
      case "NSDate":
        return .date(Date(timeIntervalSinceReferenceDate: try required("NS.time", fields["NS.time"]?.real)))
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

  // MARK: Collections

  /// Elements under one key, or, as older versions wrote them, each under a key of its own.
  private func elements() throws(ArchiveError) -> ArchivedList {
    ArchivedList(archive: archive, fields: try fields("NS.objects", numbered: "NS.object."))
  }

  private func fields(_ key: String, numbered prefix: String) throws(ArchiveError) -> [PropertyList] {
    if let field = fields[key] {
      switch field {
      case .array(let list): return list
      case .uid(let number):
        // The list can be an object without a class.
        guard number < UInt64(archive.objects.count), let list = archive.objects[Int(number)].array else {
          break
        }
        return list
      default: break
      }
      throw damaged(key)
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
    var keys: ArchivedList?
    var values: ArchivedList?
    for key in self.keys {
      switch try value(key) {
      case .object(let strategy) where strategy.isKind(of: "NSKnownKeysMappingStrategy1"):
        for key in strategy.keys where keys == nil { keys = try strategy.list(key) }
      case .array(let list): values = list
      default: break
      }
    }
    guard let keys, let values, keys.count == values.count else { throw damaged("keys") }
    // What is at a key that has no value.
    guard let token = fields["emptyToken"], token.uid != nil, token != .uid(0) else {
      return .dictionary(ArchivedEntries(keys: keys, values: values))
    }
    let places = values.fields.indices.filter { values.fields[$0] != token }
    return .dictionary(
      ArchivedEntries(
        keys: ArchivedList(archive: archive, fields: places.map { keys.fields[$0] }),
        values: ArchivedList(archive: archive, fields: places.map { values.fields[$0] })))
  }

  // MARK: Values

  private func text(_ key: String = "NS.string") throws(ArchiveError) -> String {
    if let field = fields[key] ?? fields["NS.string"] {
      // A mutable string's text is in the object, another's may be one of its own.
      if case .string(let text) = field { return text }
      guard field.uid != UInt64(exactly: number ?? -1) else { throw damaged(key) }
      if case .uid(let place) = field, place < UInt64(archive.objects.count) {
        switch archive.objects[Int(place)] {
        case .string(let text): return text
        case .dictionary(let fields):
          if case .string(let text)? = fields["NS.string"] { return text }
        default: break
        }
      }
    }
    if let data = fields["NS.bytes"]?.data, let text = String(validating: data, as: UTF8.self) { return text }
    throw damaged(key)
  }

  private func uuid() throws(ArchiveError) -> UUID {
    let data = try required("NS.uuidbytes", fields["NS.uuidbytes"]?.data)
    guard data.count == 16 else { throw damaged("NS.uuidbytes") }
    let b = [UInt8](data)
    return UUID(
      uuid: (
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
      ))
  }

  private func url() throws(ArchiveError) -> String {
    guard let relative = try string("NS.relative") else { throw damaged("NS.relative") }
    // A base is a URL too, but has no base itself.
    guard case .uid(let place)? = fields["NS.base"], place < UInt64(archive.objects.count),
      let base = archive.objects[Int(place)].dictionary?["NS.relative"],
      case .uid(let text) = base, text < UInt64(archive.objects.count),
      let text = archive.objects[Int(text)].string
    else { return relative }
    return URL(string: relative, relativeTo: URL(string: text))?.absoluteString ?? text + relative
  }

  private func plainNumber() -> ArchivedValue? {
    if let number = fields["NS.intval"]?.integer { return .integer(number) }
    if let number = fields["NS.dblval"]?.real { return .real(number) }
    if let flag = fields["NS.boolval"]?.bool { return .bool(flag) }
    return nil
  }

  private func indexes() throws(ArchiveError) -> [Range<Int>] {
    switch try integer("NSRangeCount") ?? 0 {
    case 0: return []
    case 1:
      let start = try required("NSLocation", integer("NSLocation").flatMap { Int(exactly: $0) })
      let count = try integer("NSLength").flatMap { Int(exactly: $0) } ?? 1
      return [try range(start, count)]
    default:
      // Pairs of numbers of seven bits each, the lowest first.
      let data = try required("NSRangeData", value("NSRangeData").data)
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
