import Foundation

/// The objects of a keyed archive, which Foundation's archiver writes: a property list in the binary form, whose objects name each other by
/// number.
///
/// Only what it says is read; no class is looked up.
struct KeyedArchive {
  /// A value of a property list.
  indirect enum Part {
    case null
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case data(Data)
    /// The number of an object.
    case reference(Int)
    case list([Part])
    case fields([String: Part])
  }

  private let objects: [Part]
  private let top: Part

  /// - Throws: `.coreData` if the bytes are no keyed archive.
  init(_ data: Data) throws(HeartwoodError) {
    var reader = try BinaryPropertyList([UInt8](data))
    let whole = try reader.root()
    guard case .fields(let fields) = whole, case .list(let objects)? = fields["$objects"],
      case .fields(let top)? = fields["$top"], let root = top["root"] ?? top["$0"]
    else { throw .noArchive("it has no objects") }
    self.objects = objects
    self.top = root
  }

  /// The archived object.
  var root: Part { resolved(top) }

  /// What a reference is to; null for the object that stands for nil.
  func resolved(_ part: Part) -> Part {
    guard case .reference(let number) = part else { return part }
    guard objects.indices.contains(number), number > 0 else { return .null }
    // An object of the list is no reference itself.
    if case .reference = objects[number] { return .null }
    return objects[number]
  }

  /// The name of the class of an object.
  func className(of fields: [String: Part]) -> String? {
    guard case .fields(let described)? = fields["$class"].map(resolved),
      case .text(let name)? = described["$classname"]
    else { return nil }
    return name
  }

  /// The members of an archived array.
  func members(of part: Part) -> [Part]? {
    switch resolved(part) {
    case .list(let parts): return parts
    case .fields(let fields):
      guard case .list(let parts)? = fields["NS.objects"] else { return nil }
      return parts
    default: return nil
    }
  }

  /// An archived string, or the text of one.
  func text(_ part: Part?) -> String? {
    switch part.map(resolved) {
    case .text(let text): return text
    case .fields(let fields):
      guard case .text(let text)? = fields["NS.string"] else { return nil }
      return text
    default: return nil
    }
  }

  /// An archived dictionary of strings; nil if it is none.
  func texts(_ part: Part) -> [String: String]? {
    guard case .fields(let fields) = resolved(part), case .list(let keys)? = fields["NS.keys"],
      case .list(let values)? = fields["NS.objects"], keys.count == values.count
    else { return nil }
    var texts: [String: String] = [:]
    for (key, value) in zip(keys, values) {
      guard let key = text(key), let value = text(value) else { return nil }
      texts[key] = value
    }
    return texts
  }
}

/// Reads a property list in Apple's binary format.
private struct BinaryPropertyList {
  private static let deepest = 64
  /// Objects may be named many times: how many are read in total.
  private static let most = 100_000

  private let bytes: [UInt8]
  private let offsets: [Int]
  private let referenceSize: Int
  private let top: Int
  private var count = 0

  init(_ bytes: [UInt8]) throws(HeartwoodError) {
    guard bytes.starts(with: "bplist00".utf8) else {
      throw .noArchive("it is no property list in the binary form")
    }
    guard bytes.count >= 40 else { throw .noArchive("it is cut off") }
    self.bytes = bytes
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard let objectCount = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
      let table = Self.number(bytes, trailer + 24, 8), (1...8).contains(offsetSize),
      (1...8).contains(referenceSize), table <= trailer, objectCount <= (trailer - table) / offsetSize
    else { throw .noArchive("its table is damaged") }
    self.top = top
    var offsets: [Int] = []
    for number in 0..<objectCount {
      guard let offset = Self.number(bytes, table + number * offsetSize, offsetSize), offset < trailer else {
        throw .noArchive("its table is damaged")
      }
      offsets.append(offset)
    }
    self.offsets = offsets
  }

  mutating func root() throws(HeartwoodError) -> KeyedArchive.Part { try object(top, depth: 0) }

  private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard start >= 0, size <= 8, start <= bytes.count - size else { return nil }
    var number: UInt64 = 0
    for byte in bytes[start..<start + size] { number = number << 8 | UInt64(byte) }
    return Int(exactly: number)
  }

  private mutating func object(_ number: Int, depth: Int) throws(HeartwoodError) -> KeyedArchive.Part {
    count += 1
    guard offsets.indices.contains(number), depth < Self.deepest, count <= Self.most else {
      throw .noArchive("its objects name each other without end, or none")
    }
    let start = offsets[number]
    let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 15))
    switch kind {
    case 0: return low == 8 || low == 9 ? .flag(low == 9) : .null
    case 1: return .integer(Int64(truncatingIfNeeded: try integer(start + 1, min(low, 3), low)))
    case 2:
      let bits = UInt64(try raw(start + 1, 1 << min(low, 4)))
      return .real(
        low == 2 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits))
    case 8: return .reference(try place(start + 1, low + 1))
    default: break
    }
    let (length, content) = try length(low, start + 1)
    switch kind {
    case 4: return .data(Data(try slice(content, length)))
    case 5: return .text(String(decoding: try slice(content, length), as: UTF8.self))
    case 6:
      guard length <= bytes.count / 2 else { throw .noArchive("it is cut off") }
      let slice = Array(try slice(content, length * 2))
      return .text(
        String(
          decoding: stride(from: 0, to: slice.count, by: 2).map {
            UInt16(slice[$0]) << 8 | UInt16(slice[$0 + 1])
          },
          as: UTF16.self))
    case 10, 12: return .list(try objects(content, length, depth))
    case 13:
      guard length <= bytes.count else { throw .noArchive("it is cut off") }
      let keys = try objects(content, length, depth)
      let values = try objects(content + length * referenceSize, length, depth)
      var fields: [String: KeyedArchive.Part] = [:]
      for (key, value) in zip(keys, values) { if case .text(let key) = key { fields[key] = value } }
      return .fields(fields)
    default: return .null
    }
  }

  private mutating func objects(
    _ start: Int, _ length: Int, _ depth: Int
  ) throws(HeartwoodError) -> [KeyedArchive.Part] {
    guard length <= bytes.count else { throw .noArchive("it is cut off") }
    var parts: [KeyedArchive.Part] = []
    for member in 0..<length {
      parts.append(try object(try place(start + member * referenceSize, referenceSize), depth: depth + 1))
    }
    return parts
  }

  /// A length below 15, or an integer that follows, and where the content is.
  private func length(_ low: Int, _ start: Int) throws(HeartwoodError) -> (Int, Int) {
    guard low == 15 else { return (low, start) }
    guard start < bytes.count, bytes[start] >> 4 == 1 else { throw .noArchive("a length is damaged") }
    let size = 1 << Int(bytes[start] & 15)
    guard size <= 8 else { throw .noArchive("a length is damaged") }
    return (try place(start + 1, size), start + 1 + size)
  }

  private func place(_ start: Int, _ size: Int) throws(HeartwoodError) -> Int {
    guard let number = Self.number(bytes, start, size) else { throw .noArchive("it is cut off") }
    return number
  }

  private func raw(_ start: Int, _ size: Int) throws(HeartwoodError) -> UInt64 {
    var number: UInt64 = 0
    for byte in try slice(start, size) { number = number << 8 | UInt64(byte) }
    return number
  }

  /// An integer of a power of two of bytes, of which the last eight are read.
  private func integer(_ start: Int, _ power: Int, _ written: Int) throws(HeartwoodError) -> UInt64 {
    let size = 1 << min(written, 4)
    return try raw(start + size - (1 << power), 1 << power)
  }

  private func slice(_ start: Int, _ length: Int) throws(HeartwoodError) -> ArraySlice<UInt8> {
    guard start >= 0, length >= 0, start <= bytes.count, length <= bytes.count - start else {
      throw .noArchive("it is cut off")
    }
    return bytes[start..<start + length]
  }
}

extension HeartwoodError {
  fileprivate static func noArchive(_ reason: String) -> HeartwoodError {
    HeartwoodError(.coreData, "it is no keyed archive: \(reason)")
  }
}
