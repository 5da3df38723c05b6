import Foundation
import HeartwoodBytes

/// The file of a change set, which <doc:StoreFormat> describes.
extension ChangeSet {
  private static let magic: UInt64 = 0x5445_5347_4843_5748
  private static let version: UInt32 = 1
  private static let seed: UInt64 = 0x4368_616E_6765_5365
  private static let noTime = Int64.min

  /// The bytes of a file, with a version and a checksum.
  ///
  /// - Complexity: Linear in the changes, which are all in memory.
  public func encoded() -> Data {
    var writer = ByteWriter()
    writer.append(Self.magic)
    writer.append(Self.version)
    writer.append(lineage)
    writer.append(UInt8(generations == nil ? 0 : 1))
    writer.appendVarint(generations?.lowerBound ?? 0)
    writer.appendVarint(generations?.upperBound ?? 0)
    writer.append(endTime ?? Self.noTime)
    writer.appendText(modelChecksum)
    for numbers in [needed, known] {
      writer.appendVarint(UInt64(numbers.count))
      for (lineage, number) in numbers.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
        writer.append(lineage)
        writer.appendVarint(number)
      }
    }
    var encoder = Encoder()
    encoder.writer.appendVarint(UInt64(changes.count))
    for change in changes { encoder.append(change) }
    writer.appendVarint(UInt64(encoder.names.list.count))
    for name in encoder.names.list { writer.appendText(name) }
    writer.appendVarint(UInt64(encoder.lineages.list.count))
    for lineage in encoder.lineages.list { writer.append(lineage) }
    encoder.writer.withUnsafeBytes { writer.append($0) }
    let checksum = writer.withUnsafeBytes { XXH64.hash($0, seed: Self.seed) }
    writer.append(checksum)
    return writer.withUnsafeBytes { Data($0) }
  }

  /// Reads the bytes of a file.
  ///
  /// - Throws: `.persistentStoreOpen` if they are no change set, damaged, or of a newer version.
  public init(decoding data: Data) throws {
    self = try Array(data).withUnsafeBytes { bytes in
      let end = bytes.count - 8
      guard end >= 20, bytes.loadUnaligned(as: UInt64.self).littleEndian == Self.magic else {
        throw Self.unreadable("it is no change set")
      }
      guard bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self).littleEndian == Self.version else {
        throw Self.unreadable("it is of a newer version")
      }
      let body = UnsafeRawBufferPointer(rebasing: bytes[..<end])
      guard
        bytes.loadUnaligned(fromByteOffset: end, as: UInt64.self).littleEndian
          == XXH64.hash(body, seed: Self.seed)
      else { throw Self.unreadable("its bytes are not what was written") }
      do {
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: body[12...]))
        return try ChangeSet(&reader)
      } catch is ByteReader.ShortInput {
        throw Self.unreadable("it ends too early")
      }
    }
  }

  private init(_ reader: inout ByteReader) throws {
    lineage = try reader.readUUID()
    let hasGenerations = try reader.readUInt8() != 0
    let (from, to) = (try reader.readVarint(), try reader.readVarint())
    guard from <= to else { throw Self.unreadable("its generations are not in order") }
    generations = hasGenerations ? from...to : nil
    let time = try reader.readInt64()
    endTime = time == Self.noTime ? nil : time
    guard let checksum = try reader.readText() else { throw Self.unreadable("a text is not valid") }
    modelChecksum = checksum
    func numbers(_ reader: inout ByteReader) throws -> [UUID: UInt64] {
      var numbers: [UUID: UInt64] = [:]
      for _ in 0..<(try reader.readVarint()) { numbers[try reader.readUUID()] = try reader.readVarint() }
      return numbers
    }
    needed = try numbers(&reader)
    known = try numbers(&reader)
    var decoder = Decoder()
    for _ in 0..<(try reader.readVarint()) {
      guard let name = try reader.readText() else { throw Self.unreadable("a text is not valid") }
      decoder.names.append(name)
    }
    for _ in 0..<(try reader.readVarint()) { decoder.lineages.append(try reader.readUUID()) }
    changes = []
    for _ in 0..<(try reader.readVarint()) { changes.append(try decoder.change(&reader)) }
    guard reader.remaining == 0 else { throw Self.unreadable("it has extra bytes at its end") }
  }

  fileprivate static func unreadable(_ reason: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen, "the change set cannot be read: \(reason); get it once more from where it came")
  }
}

/// Texts and lineages that occur often, by their places.
private struct PlaceTable<Element: Hashable> {
  private(set) var list: [Element] = []
  private var places: [Element: Int] = [:]

  mutating func place(of element: Element) -> UInt64 {
    if let place = places[element] { return UInt64(place) }
    places[element] = list.count
    list.append(element)
    return UInt64(list.count - 1)
  }
}

private struct Encoder: ~Copyable {
  var writer = ByteWriter()
  var names = PlaceTable<String>()
  var lineages = PlaceTable<UUID>()

  mutating func append(_ change: ChangeSet.Change) {
    append(change.identity)
    writer.appendVarint(names.place(of: change.entity))
    writer.append(UInt8(change.isReturn ? 4 : change.kind == .inserted ? 1 : change.kind == .updated ? 2 : 3))
    append(change.stamp)
    writer.appendVarint(UInt64(change.cells.count))
    for (name, cell) in change.cells.sorted(by: { $0.key < $1.key }) {
      writer.appendVarint(names.place(of: name))
      append(cell.former)
      append(cell.value)
      append(cell.stamp)
    }
    writer.appendVarint(UInt64(change.links.count))
    for (name, links) in change.links.sorted(by: { $0.key < $1.key }) {
      writer.appendVarint(names.place(of: name))
      writer.appendVarint(UInt64(links.count))
      for link in links {
        append(link.destination)
        writer.append(UInt8((link.isAdded ? 1 : 0) | (link.isUnchanged ? 2 : 0)))
        append(link.stamp)
      }
    }
    writer.appendVarint(UInt64(change.orders.count))
    for (name, order) in change.orders.sorted(by: { $0.key < $1.key }) {
      writer.appendVarint(names.place(of: name))
      for list in [order.former, order.value] {
        writer.appendVarint(UInt64(list.count))
        for identity in list { append(identity) }
      }
      append(order.stamp)
    }
  }

  private mutating func append(_ identity: ChangeSet.Identity) {
    writer.appendVarint(lineages.place(of: identity.lineage))
    writer.appendVarint(names.place(of: identity.root))
    writer.appendVarint(identity.key)
  }

  private mutating func append(_ cell: ChangeSet.Cell) {
    switch cell {
    case .value(let value):
      writer.append(UInt8(0))
      ValueCoding.append(value, to: &writer)
    case .object(let identity):
      writer.append(UInt8(1))
      append(identity)
    }
  }

  private mutating func append(_ stamp: ChangeStamp?) {
    writer.append(UInt8(stamp == nil ? 0 : 1))
    guard let stamp else { return }
    writer.append(stamp.nanoseconds)
    writer.appendVarint(lineages.place(of: stamp.lineage))
    writer.appendVarint(stamp.number)
  }
}

private struct Decoder {
  var names: [String] = []
  var lineages: [UUID] = []

  func change(_ reader: inout ByteReader) throws -> ChangeSet.Change {
    let identity = try identity(&reader)
    let entity = try name(&reader)
    let kinds: [UInt8: ObjectDifference.Kind] = [1: .inserted, 2: .updated, 3: .deleted, 4: .inserted]
    let number = try reader.readUInt8()
    guard let kind = kinds[number] else { throw ChangeSet.unreadable("a change has no kind") }
    var change = ChangeSet.Change(identity: identity, entity: entity, kind: kind, stamp: try stamp(&reader))
    change.isReturn = number == 4
    for _ in 0..<(try reader.readVarint()) {
      let name = try name(&reader)
      let (former, value) = (try cell(&reader), try cell(&reader))
      change.cells[name] = ChangeSet.CellChange(former: former, value: value, stamp: try stamp(&reader))
    }
    for _ in 0..<(try reader.readVarint()) {
      let name = try name(&reader)
      var links: [ChangeSet.LinkChange] = []
      for _ in 0..<(try reader.readVarint()) {
        let destination = try self.identity(&reader)
        let flags = try reader.readUInt8()
        guard flags < 4 else { throw ChangeSet.unreadable("a link has unknown flags") }
        links.append(
          ChangeSet.LinkChange(
            destination: destination, isAdded: flags & 1 != 0, isUnchanged: flags & 2 != 0,
            stamp: try stamp(&reader)))
      }
      change.links[name] = links
    }
    for _ in 0..<(try reader.readVarint()) {
      let name = try name(&reader)
      let (former, value) = (try identities(&reader), try identities(&reader))
      change.orders[name] = ChangeSet.OrderChange(former: former, value: value, stamp: try stamp(&reader))
    }
    return change
  }

  private func name(_ reader: inout ByteReader) throws -> String {
    let place = try reader.readVarint()
    guard place < names.count else { throw ChangeSet.unreadable("a name is missing") }
    return names[Int(place)]
  }

  private func lineage(_ reader: inout ByteReader) throws -> UUID {
    let place = try reader.readVarint()
    guard place < lineages.count else { throw ChangeSet.unreadable("a lineage is missing") }
    return lineages[Int(place)]
  }

  private func identity(_ reader: inout ByteReader) throws -> ChangeSet.Identity {
    let lineage = try lineage(&reader)
    let root = try name(&reader)
    let key = try reader.readVarint()
    guard key.isPermanentKey else { throw ChangeSet.unreadable("an object has no number of a store") }
    return ChangeSet.Identity(lineage: lineage, root: root, key: key)
  }

  private func identities(_ reader: inout ByteReader) throws -> [ChangeSet.Identity] {
    var list: [ChangeSet.Identity] = []
    for _ in 0..<(try reader.readVarint()) { list.append(try identity(&reader)) }
    return list
  }

  private func cell(_ reader: inout ByteReader) throws -> ChangeSet.Cell {
    if try reader.readUInt8() == 1 { return .object(try identity(&reader)) }
    guard let value = try ValueCoding.read(&reader) else {
      throw ChangeSet.unreadable("a value is not valid")
    }
    return .value(value)
  }

  private func stamp(_ reader: inout ByteReader) throws -> ChangeStamp? {
    guard try reader.readUInt8() == 1 else { return nil }
    let time = try reader.readInt64()
    // A store's clock goes on from the latest time.
    guard time < .max - 1 << 40 else { throw ChangeSet.unreadable("a time is not valid") }
    let lineage = try lineage(&reader)
    return ChangeStamp(nanoseconds: time, lineage: lineage, number: try reader.readVarint())
  }
}

extension ByteWriter {
  fileprivate mutating func append(_ identifier: UUID) {
    let bytes = Swift.withUnsafeBytes(of: identifier.uuid) { Array($0) }
    append(bytes)
  }
}

extension ByteReader {
  fileprivate mutating func readUUID() throws(ShortInput) -> UUID {
    UUID(uuid: try readBytes(16).loadUnaligned(as: uuid_t.self))
  }
}
