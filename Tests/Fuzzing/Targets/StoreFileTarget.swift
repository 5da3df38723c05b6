import Foundation
import HeartwoodBytes
import HeartwoodEngine
import HeartwoodFiles

@testable import Heartwood

/// A store of one file: read into memory, checked, written and read again.
///
/// The first byte of a binary file is not of the file: if it is odd, the checksums are calculated again.
enum StoreFileTarget {
  private static let files = Result { try SmallStoreFiles() }
  private static let path = "/d/store"

  static func finding(_ bytes: [UInt8], _ format: StoreFileFormat) -> String? {
    let isSealed = format == .binary && (bytes.first ?? 0) & 1 == 1
    let contents = format == .binary ? Array(bytes.dropFirst()) : bytes
    do {
      return try use(isSealed ? BinarySealing.sealed(contents) : contents, format)
    } catch let error as HeartwoodError {
      return error.message.isEmpty ? "an error without a message" : nil
    } catch let error as EngineError {
      return "\(format): an error of the engine is not explained: \(error.message)"
    } catch {
      return "\(format): \(error)"
    }
  }

  private static func use(_ bytes: [UInt8], _ format: StoreFileFormat) throws -> String? {
    guard let (engine, _) = try loaded(bytes, format) else { return nil }
    defer { try? engine.close() }
    guard let findings = try verified(engine) else { return nil }
    guard format == .binary || findings.isEmpty else {
      return "a readable store has findings: \(findings[0])"
    }
    guard findings.isEmpty else { return nil }
    return try rewritten(engine, format)
  }

  private static func loaded(_ bytes: [UInt8], _ format: StoreFileFormat) throws -> (Engine, StoreFile)? {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory("/d")
    let file = try fileSystem.openDirectory("/d").open("store", .createNew)
    try bytes.withUnsafeBytes { try file.writeFully($0, at: 0) }
    try file.close()
    var options = LogStoreOptions(createsStore: false)
    options.fileSystem = fileSystem
    return try StoreFile.load(format, at: path, options)
  }

  /// The findings of a check of rows against entries; nil if the store has no model that can be read.
  private static func verified(_ engine: Engine) throws -> [String]? {
    let snapshot = try engine.snapshot()
    guard let bytes = try snapshot.get(KeySpace.schemaKey) else { return nil }
    let record = try bytes.withUnsafeBytes { try SchemaRecord(decoding: $0) }
    let model = try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    let schema = try StoreSchema(model, record)
    return try StoreVerifier(LogStoreView(snapshot, schema)).run()
  }

  /// Checks that what was read can be written in the form that people read, and read again.
  private static func rewritten(_ engine: Engine, _ format: StoreFileFormat) throws -> String? {
    let fileSystem = MemoryFileSystem()
    try fileSystem.createDirectory("/d")
    var options = LogStoreOptions()
    options.fileSystem = fileSystem
    let file = try StoreFile.toCreate(format, at: path, options)
    let snapshot = try engine.snapshot()
    guard let bytes = try snapshot.get(KeySpace.schemaKey) else { return nil }
    let record = try bytes.withUnsafeBytes { try SchemaRecord(decoding: $0) }
    let model = try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    let view = LogStoreView(snapshot, try StoreSchema(model, record))
    try file.save(contents: view, StoreIdentifier(low: 1, high: 2))
    do {
      let (again, _) = try StoreFile.load(format, at: path, options)
      defer { try? again.close() }
      return try again.snapshot().count == snapshot.count
        ? nil
        : "a \(format) store that was written again has \(try again.snapshot().count) entries, not \(snapshot.count)"
    } catch {
      return "a \(format) store that was read is not read again: \(error)"
    }
  }

  static func seeds(_ format: StoreFileFormat) -> [[UInt8]] {
    guard let files = try? files.get(), let bytes = files.bytes[format] else { return [] }
    return format == .binary ? [[0] + bytes, [1] + bytes] : [bytes]
  }
}

/// A small store with all kinds of properties, as each kind of file.
private struct SmallStoreFiles: Sendable {
  var bytes: [StoreFileFormat: [UInt8]] = [:]

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (format, type) in [
      (StoreFileFormat.binary, PersistentStore.StoreType.binary), (.json, .json), (.xml, .xml),
    ] {
      let url = folder.appending(path: format.rawValue)
      try Self.write(to: url, type)
      bytes[format] = [UInt8](try Data(contentsOf: url))
    }
  }

  private static func write(to url: URL, _ type: PersistentStore.StoreType) throws {
    let container = PersistentContainer(name: "Small", managedObjectModel: model())
    let description = PersistentStoreDescription(url: url)
    description.type = type
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    func made(_ name: String) throws -> ManagedObject {
      guard let entity = container.managedObjectModel.entitiesByName[name] else {
        throw CocoaError(.coderInvalidValue)
      }
      return ManagedObject(entity: entity, insertInto: context)
    }
    let team = try made("Team")
    team.setValue("Nord", forKey: "name")
    let values: [String: Any] = [
      "small": Int16(-3), "medium": Int32(70_000), "large": Int64(1) << 60, "half": Float(0.5), "double": 2.5,
      "exact": Decimal(string: "12.50") ?? 0, "isOld": true, "name": "a & b <c> \"d\" \u{1F600}",
      "born": Date(timeIntervalSinceReferenceDate: 12.25), "data": Data([0, 1, 255]), "tag": UUID(),
      "page": URL(string: "https://example.org/?a=b") ?? url,
    ]
    var members: [ManagedObject] = []
    for number in 0..<3 {
      let member = try made(number == 0 ? "Captain" : "Member")
      for (key, value) in values where number < 2 { member.setValue(value, forKey: key) }
      member.setValue(Int64(number), forKey: "number")
      members.append(member)
    }
    team.setValue(members, forKey: "order")
    team.setValue(Set(members.prefix(2)), forKey: "friends")
    members[1].setValue(team, forKey: "home")
    try context.save()
    try container.persistentStoreCoordinator.close()
  }

  private static func model() -> ManagedObjectModel {
    let types: [(String, AttributeType)] = [
      ("small", .integer16), ("medium", .integer32), ("large", .integer64), ("half", .float),
      ("double", .double),
      ("exact", .decimal), ("isOld", .boolean), ("name", .string), ("born", .date), ("data", .binaryData),
      ("tag", .uuid), ("page", .uri), ("number", .integer64),
    ]
    let member = EntityDescription(
      name: "Member", properties: types.map { AttributeDescription(name: $0, type: $1, isOptional: true) })
    let team = EntityDescription(
      name: "Team", properties: [AttributeDescription(name: "name", type: .string, isOptional: true)])
    let captain = EntityDescription(name: "Captain")
    member.subentities = [captain]
    func related(
      _ name: String, _ destination: EntityDescription, _ isToMany: Bool, isOrdered: Bool = false
    ) -> RelationshipDescription {
      RelationshipDescription(name: name, destination: destination, isToMany: isToMany, isOrdered: isOrdered)
    }
    let (order, orderOf) = (related("order", member, true, isOrdered: true), related("orderOf", team, false))
    let (friends, friendsOf) = (related("friends", member, true), related("friendsOf", team, true))
    let (home, guests) = (related("home", team, false), related("guests", member, true))
    for (one, other) in [(order, orderOf), (friends, friendsOf), (home, guests)] {
      (one.inverseRelationship, other.inverseRelationship) = (other, one)
    }
    member.ownProperties += [orderOf, friendsOf, home]
    team.ownProperties += [order, friends, guests]
    member.uniquenessConstraints = [["number"]]
    if let name = member.propertiesByName["name"] {
      member.indexes = [
        FetchIndexDescription(name: "byName", elements: [FetchIndexElementDescription(property: name)])
      ]
    }
    return ManagedObjectModel(entities: [member, captain, team])
  }
}

/// Calculates the checksums of a binary store again.
private enum BinarySealing {
  static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let header = BinaryStoreFile.headerBytes
    guard bytes.count >= header else { return bytes }
    let seed = hash(bytes[..<(header - 8)], 0)
    bytes.replaceSubrange(header - 8..<header, with: littleEndian(seed))
    var (place, number) = (header, UInt64(0))
    while place + BinaryStoreFile.blockHeaderBytes <= bytes.count {
      let count = Int(bytes.number(place, 4))
      let start = place + BinaryStoreFile.blockHeaderBytes
      let end = start + (count == 0 ? 8 : count)
      guard end <= bytes.count else { break }
      bytes.replaceSubrange(place + 4..<start, with: littleEndian(hash(bytes[start..<end], seed &+ number)))
      if count == 0 { break }
      (place, number) = (end, number + 1)
    }
    return bytes
  }

  private static func hash(_ bytes: ArraySlice<UInt8>, _ seed: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { XXH3.hash($0, seed: seed) }
  }

  private static func littleEndian(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }
}
