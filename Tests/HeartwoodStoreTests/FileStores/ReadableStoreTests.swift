import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

#if canImport(FoundationXML)
  import FoundationXML
#endif

private struct Spot: CompositeValue {
  var room = ""
  var floor: Int32?
  static let elements = [CompositeElement("room", \Spot.room), CompositeElement("floor", \Spot.floor)]
}

private final class Shelf: ManagedObject {
  @Attribute var label = ""
  @Attribute var price: Decimal?
  @Attribute var place: Spot?
  @Attribute(derived: "length:(label)") var size: Int64 = 0
}

@Suite struct `Readable stores that are edited or read elsewhere` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fill(_ kind: StoreKind) throws -> String {
    let container = try kind.open([Shelf.self], at: folder.store)
    let context = container.newBackgroundContext()
    let shelf = Shelf(context: context)
    (shelf.label, shelf.price, shelf.place) = ("x", 77, Spot(room: "hall", floor: 2))
    try context.save()
    try container.close()
    return try String(contentsOf: folder.store, encoding: .utf8)
  }

  /// The error of opening a store after a change of its text.
  private func message(_ text: String, _ old: String, _ new: String, _ kind: StoreKind) throws -> String {
    let place = try #require(text.range(of: old, options: .backwards), "\(old) in \(text)")
    try Data(text.replacingCharacters(in: place, with: new).utf8).write(to: folder.store)
    return heartwoodMessage { try kind.open([Shelf.self], at: folder.store).close() } ?? "no error"
  }

  // STO-04
  @Test(arguments: [
    "1.5abc", "1,5", "1.5.5", "1e", "e5", "--1", "1-5", "", " 1", "+", ".", "1e400", "nan", "Infinity",
    "12345678901234567890123456789012345678901234567890",
  ])
  func `a decimal that is none is named, in JSON and in XML`(value: String) throws {
    let json = try fill(.json)
    let inJSON = try message(json, "\"price\": \"77\"", "\"price\": \"\(value)\"", .json)
    #expect(
      inJSON.contains("\(folder.store.path) ") && inJSON.contains("Shelf 1, price: \"\(value.prefix(37))"),
      "\(inJSON)")
    try FileManager.default.removeItem(at: folder.store)
    let xml = try fill(.xml)
    let inXML = try message(xml, ">77<", ">\(value)<", .xml)
    #expect(inXML.contains("Shelf 1, price: \"\(value.prefix(37))"), "\(inXML)")
  }

  // STO-04
  @Test(arguments: [
    ("\"place\": true", "\"place\": 5", "Shelf 1, place: 5 is no value"),
    ("\"place\": true", "\"place\": \"true\"", "Shelf 1, place: \"true\" is no value"),
    ("\"place\": true", "\"place\": {\"room\": \"attic\"}", "Shelf 1, place: an object is no value"),
    ("\"place\": true", "\"place\": false", "Shelf 1, place.floor has a value, but place has none"),
    ("\"place\": true", "\"place\": null", "Shelf 1, place.floor has a value, but place has none"),
    ("\"place\": true, ", "", "Shelf 1, place.floor has a value, but place has none"),
    ("\"place.floor\": 2", "\"place.floor\": 2.5", "Shelf 1, place.floor: 2.5 is no value"),
    ("\"place.floor\": 2", "\"place.floor\": 3000000000", "Shelf 1, place.floor: 3000000000 is no value"),
    ("\"place.room\": \"hall\"", "\"place.room\": 7", "Shelf 1, place.room: 7 is no value"),
    ("\"place.room\": \"hall\"", "\"place.rooms\": \"hall\"", "no stored property place.rooms"),
    ("\"size\": 1", "\"size\": \"1\"", "Shelf 1, size: \"1\" is no value"),
    ("\"size\": 1", "\"size\": 1.5", "Shelf 1, size: 1.5 is no value"),
    ("\"size\": 1", "\"size\": [1]", "Shelf 1, size: a list is no value"),
    ("\"size\": 1", "\"size\": true", "Shelf 1, size: true is no value"),
  ])
  func `a value of a composite or a derived attribute that does not fit is named with file and object`(
    old: String, new: String, reason: String
  ) throws {
    let text = try fill(.json)
    let found = try message(text, old, new, .json)
    #expect(found.contains(reason) && found.contains("the store at \(folder.store.path) "), "\(found)")
    // The file is as it was edited.
    #expect(try String(contentsOf: folder.store, encoding: .utf8).contains(new) || new.isEmpty)
  }

  // STO-02
  @Test func `a composite attribute without a value is one whose elements have none`() throws {
    let text = try fill(.json)
    let none = text.replacing(
      "\"place\": true, \"place.floor\": 2, \"place.room\": \"hall\"", with: "\"place\": null")
    try Data(none.utf8).write(to: folder.store)
    let container = try StoreKind.json.open([Shelf.self], at: folder.store)
    #expect(try container.newBackgroundContext().fetch(Shelf.self).map(\.place) == [nil])
    try container.close()
  }

  // STO-02
  @Test func `an XML store is XML, and reads what it wrote, with every character that XML does not have`()
    throws
  {
    let scalars = (Array(0...0x20) + [0x7F, 0x85, 0xFFFD, 0xFFFE, 0xFFFF, 0x1FFFE]).compactMap {
      Unicode.Scalar($0 as UInt32)
    }
    let labels = scalars.map { "a\($0)]]>b" } + [scalars.map { String($0) }.joined()]
    let entity = EntityDescription(name: "Note")
    entity.properties = [AttributeDescription(name: "label", type: .string, defaultValue: "\u{FFFE}")]
    entity.userInfo = ["all \u{FFFE}": labels[labels.count - 1]]
    let model = ManagedObjectModel(entities: [entity])
    model.versionIdentifiers = ["\u{FFFF}"]
    func open() throws -> PersistentContainer {
      let container = PersistentContainer(name: "Test", managedObjectModel: model)
      try container.persistentStoreCoordinator.addPersistentStore(type: .xml, at: folder.store)
      return container
    }
    let first = try open()
    let context = first.newBackgroundContext()
    for label in labels {
      ManagedObject(entity: entity, insertInto: context).setValue(label, forKey: "label")
    }
    try first.persistentStoreCoordinator.setMetadata(
      ["note": "\u{FFFE}\u{1}"], for: try #require(first.persistentStoreCoordinator.persistentStores.first))
    try context.save()
    try first.close()
    let text = try String(contentsOf: folder.store, encoding: .utf8)
    #expect(
      text.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && $0.value != 0xFFFE && $0.value != 0xFFFF || "\t\n\r".unicodeScalars.contains($0)
      })
    #expect(XMLParser(data: Data(text.utf8)).parse())
    let second = try open()
    let notes = try second.newBackgroundContext().fetch(FetchRequest<ManagedObject>(entityName: "Note"))
    #expect(
      notes.sorted { $0.objectID.key < $1.objectID.key }.map { $0.value(forKey: "label") as? String }
        == labels)
    let store = try #require(second.persistentStoreCoordinator.persistentStores.first)
    #expect(try second.persistentStoreCoordinator.metadata(for: store)["note"] as? String == "\u{FFFE}\u{1}")
    try second.close()
    let stored = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    #expect(stored.entities[0].userInfo == entity.userInfo)
    #expect(stored.versionIdentifiers == ["\u{FFFF}"])
  }
}
