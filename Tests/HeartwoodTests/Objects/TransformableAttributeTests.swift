import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

private struct Shades: Codable, TransformableValue {
  var colours: [String] = []
  var gamma = 1.0
  var tags: Set<String> = []
}

/// Encodes as a property list, under a name of its own.
private struct Curve: Codable, TransformableValue {
  var points: [Double] = []
  static var valueTransformer: CodableTransformer<Curve> { CodableTransformer(.propertyList) }
  static var valueTransformerName: String { "curve" }
}

/// A value whose transformer has no bytes for zero.
private struct Fragile: TransformableValue {
  var number = 1
  struct Zero: Error {}
  struct Numbers: ValueTransforming {
    func bytes(of value: Fragile) throws -> Data {
      guard value.number != 0 else { throw Zero() }
      return Data("\(value.number)".utf8)
    }
    func value(of bytes: Data) throws -> Fragile {
      guard let number = Int(String(decoding: bytes, as: UTF8.self)) else { throw Zero() }
      return Fragile(number: number)
    }
  }
  static var valueTransformer: Numbers { Numbers() }
}

private final class Painting: ManagedObject {
  @Attribute var title = ""
  @Attribute var palette = Shades(colours: ["white"])
  @Attribute var curve: Curve?
  @Attribute var fragile = Fragile()
}

private final class SortedByShades: ManagedObject {
  @Attribute(.indexed) var palette = Shades()
}

@Suite struct `Transformable attributes` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeContext() throws -> ManagedObjectContext {
    try PersistentContainer(name: "Paintings", types: [Painting.self], at: folder.store)
      .newBackgroundContext()
  }

  // MOD-39, MOD-44
  @Test func `a Codable value is stored by its transformer and read after reopening`() throws {
    do {
      let context = try makeContext()
      let painting = Painting(context: context)
      #expect(painting.palette == Shades(colours: ["white"]) && painting.curve == nil)
      painting.palette = Shades(colours: ["red", "blue"], gamma: .infinity, tags: ["a", "b", "c"])
      painting.curve = Curve(points: [1, 2.5])
      try context.save()
      try context.persistentStoreCoordinator?.close()
    }
    let context = try makeContext()
    let painting = try #require(try context.fetch(Painting.self).first)
    #expect(painting.palette == Shades(colours: ["red", "blue"], gamma: .infinity, tags: ["a", "b", "c"]))
    #expect(painting.curve == Curve(points: [1, 2.5]))
    #expect(painting.value(forKey: "curve") as? Curve == Curve(points: [1, 2.5]))
    painting.setValue(nil, forKey: "curve")
    painting.setValue(Shades(colours: ["green"]), forKey: "palette")
    try context.save()
    #expect(painting.curve == nil && painting.palette.colours == ["green"])
    let attribute = try #require(painting.entity.attributesByName["curve"])
    #expect(attribute.valueTransformerName == "curve" && attribute.attributeType == .transformable)
    #expect(attribute.attributeValueClassName?.hasSuffix("Curve") == true)
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
  }

  // MOD-46, T12
  @Test func `a change inside of a value is a change of the object, and is saved and undone`() throws {
    let context = try makeContext()
    let painting = Painting(context: context)
    try context.save()
    context.undoManager = UndoStack()
    painting.palette.colours.append("red")
    #expect(painting.hasPersistentChangedValues)
    #expect(painting.changedValues()["palette"] as? Shades == Shades(colours: ["white", "red"]))
    #expect(
      painting.committedValues(forKeys: ["palette"])["palette"] as? Shades == Shades(colours: ["white"]))
    context.undo()
    #expect(painting.palette.colours == ["white"])
    context.redo()
    try context.save()
    let other = try makeContext()
    #expect(try other.fetch(Painting.self).first?.palette.colours == ["white", "red"])
  }

  // MOD-46
  @Test func `an equal value with other bytes is no change`() throws {
    let context = try makeContext()
    let painting = Painting(context: context)
    let tags = Set((0..<40).map { "tag \($0)" })
    painting.palette.tags = tags
    try context.save()
    // A set with another capacity has another order.
    var grown = Set<String>(minimumCapacity: 4000)
    for tag in tags.sorted() { grown.insert(tag) }
    painting.palette.tags = grown
    #expect(!painting.hasPersistentChangedValues)
    let version = painting.rowVersion
    try context.save()
    #expect(painting.rowVersion == version)
  }

  // MOD-45
  @Test func `bytes that are no value make the object unreadable and nothing traps`() throws {
    let context = try makeContext()
    let painting = Painting(context: context)
    painting.title = "Lake"
    try context.save()
    let slot = try #require(painting.entity.slot(named: "palette"))
    painting.setEdit(slot, .data(Data("not JSON".utf8)))
    painting.setEdit(try #require(painting.entity.slot(named: "fragile")), .data(Data("x".utf8)))
    painting.title = "Sea"
    let row = painting.encodedRow(version: painting.rowVersion) { $0 }
    context.reset()
    let fault = try #require(try context.fetch(Painting.self).first)
    try row.withUnsafeBytes { try fault.adopt(row: $0) }
    #expect(fault.title == "Sea")
    #expect(fault.palette == Shades(colours: ["white"]))
    fault.title = "River"
    let error = heartwoodError { try context.save() }
    #expect(error?.message.contains("Painting.palette") == true)
    context.refresh(fault, mergeChanges: false)
    try context.save()
    #expect(fault.palette == Shades(colours: ["white"]) && fault.title == "Lake")
  }

  // MOD-44
  @Test func `a value that its transformer refuses is kept in memory and refused by the save`() throws {
    let context = try makeContext()
    let painting = Painting(context: context)
    painting.fragile = Fragile(number: 0)
    #expect(painting.fragile == Fragile(number: 0))
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectValidation && error?.property == "fragile")
    painting.fragile.number = 2
    try context.save()
    #expect(painting.fragile.number == 2)
  }

  // MOD-44, MOD-45
  @Test func `a description names its transformer, which must be registered before a store opens`() throws {
    let attribute = AttributeDescription(name: "palette", type: .transformable)
    attribute.valueTransformerName = "palette of descriptions"
    let entity = EntityDescription(name: "Picture", properties: [attribute])
    let model = ManagedObjectModel(entities: [entity])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let description = PersistentStoreDescription(url: folder.store)
    let error = heartwoodError { try coordinator.addPersistentStore(with: description) }
    #expect(error?.code.rawValue == 134060)
    #expect(error?.message.contains("Picture.palette") == true)
    ValueTransformers.register(CodableTransformer<[String: Int]>(), as: "palette of descriptions")
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let picture = EntityDescription.insertNewObject(forEntityName: "Picture", into: context)
    picture.setValue(["red": 1], forKey: "palette")
    #expect(heartwoodError { try picture.assign("red", forKey: "palette") }?.property == "palette")
    try context.save()
    #expect(picture.value(forKey: "palette") as? [String: Int] == ["red": 1])
    let nameless = AttributeDescription(name: "palette", type: .transformable)
    let broken = ManagedObjectModel(entities: [EntityDescription(name: "Picture", properties: [nameless])])
    #expect(
      heartwoodMessage { _ = try PersistentStoreCoordinator(checking: broken) }?
        .contains("valueTransformerName") == true)
  }

  // MOD-44
  @Test func `transformable values are compared for equality only`() throws {
    let context = try makeContext()
    let painting = Painting(context: context)
    painting.palette = Shades(colours: ["red"])
    try context.save()
    #expect(
      try context.fetch(Painting.self, where: { $0.palette == Shades(colours: ["red"]) }) == [painting])
    #expect(try context.fetch(Painting.self, where: { $0.curve == nil }) == [painting])
    #expect(
      heartwoodMessage { _ = try context.fetch(Painting.self, where: { $0.palette < Shades() }) }?
        .contains("Painting.palette is transformable") == true)
    #expect(
      heartwoodMessage { _ = try context.fetch(Painting.self, sort: [.ascending(\.palette)]) }?
        .contains("transformable") == true)
    #expect(modelError([SortedByShades.self])?.contains("transformable") == true)
  }
}
