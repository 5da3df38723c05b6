import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

/// A type that the model names in its user info.
enum Grade: Int16, AttributeValue {
  case low = 1
  case middle = 2
  case high = 3
}

/// A class that is written by hand, whose properties are made as an extension.
final class Picker: ManagedObject {}

@Suite struct `Classes of a model` {
  private static let model = Fixture.path("Orchard/Sources/Orchard/Orchard.xcdatamodeld")
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  // GEN-01, GEN-03
  /// Run with HEARTWOOD_GENERATE set, it makes the files again.
  @Test func `the classes that are compiled here are those that are generated of the model`() throws {
    let files = ["OldTree", "Tree", "Fruit", "Picker+Properties"].map { $0 + ".swift" }
    let temporary = try TemporaryFolder()
    let made = CommandRun("generate", Self.model, "--mode", "model", "--output", temporary.path("made"))
    #expect(made.status == .success && made.notes == "")
    let names = try FileManager.default.contentsOfDirectory(atPath: temporary.path("made"))
    #expect(names.sorted() == files.sorted())
    for name in names {
      let text = try String(contentsOfFile: temporary.path("made") + "/" + name, encoding: .utf8)
      let compiled = Self.folder.appending(path: "Generated/" + name)
      if ProcessInfo.processInfo.environment["HEARTWOOD_GENERATE"] != nil {
        try Data(text.utf8).write(to: compiled)
      }
      #expect(try String(contentsOf: compiled, encoding: .utf8) == text, "\(name)")
    }
  }

  @Test func `classes with the names of keywords are escaped, and names of storage are left out`() throws {
    let temporary = try TemporaryFolder()
    let model: [String: Any] = [
      "entities": [
        "class": [
          "attributes": [
            "x": ["type": "string", "optional": true], "_x": ["type": "string", "optional": true],
            "precedencegroup": ["type": "string", "optional": true],
            "_": ["type": "string", "optional": true],
          ],
          "relationships": ["many": ["destination": "Any", "toMany": true, "inverse": "one"]],
        ],
        "Any": ["relationships": ["one": ["destination": "class", "inverse": "many"]]],
        "below": ["superentity": "class"],
        "any": ["relationships": ["some": ["destination": "_", "toMany": true, "inverse": "each"]]],
        "_": ["relationships": ["each": ["destination": "any", "inverse": "some"]]],
      ]
    ]
    try JSONSerialization.data(withJSONObject: model).write(to: URL(filePath: temporary.path("model.json")))
    let run = CommandRun("generate", temporary.path("model.json"), "--output", temporary.path("made"))
    #expect(run.status == .success)
    #expect(run.notes.contains("class._x is left out: Swift has the name for the storage of class.x"))
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: temporary.path("made") + "/\(name).swift", encoding: .utf8)
    }
    let made = try text("class")
    for line in [
      "class `class`: ManagedObject {", "var `precedencegroup`: String?", "var many: Set<`Any`>",
      "extension `class` {", "func addToMany(_ object: `Any`)",
    ] {
      #expect(made.contains(line), "\(line)")
    }
    #expect(!made.contains("_x:"))
    #expect(try text("Any").contains("final class `Any`: ManagedObject {"))
    #expect(made.contains("var `_`: String?"))
    #expect(try text("_").contains("inverse: { $0.`some` }) var `each`: `any`?"))
    #expect(try text("any").contains("inverse: { $0.`each` }) var `some`: Set<`_`>"))
    #expect(try text("below").contains("final class below: `class` {"))
  }

  // GEN-02, GEN-04, GEN-05
  @Test func `generated classes and the model of the file work together, and say the same`() throws {
    let types: [ManagedObject.Type] = [Tree.self, OldTree.self, Fruit.self, Picker.self]
    let model = try ManagedObjectModel(contentsOf: URL(filePath: Self.model), classes: types)
    let container = PersistentContainer(name: "Orchard", managedObjectModel: model)
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: URL(filePath: "/dev/null"))]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let (tree, fruit, picker) = (OldTree(context: context), Fruit(context: context), Picker(context: context))
    (tree.kind, tree.tag, tree.row, tree.class) = ("Apple", "a", 3, "I")
    (fruit.tree, fruit.weight) = (tree, 0.2)
    picker.name = "Ada"
    tree.picker = picker
    tree.addToNeighbours(tree)
    picker.addToFavourites(fruit)
    try context.save()
    try expectRelationshipsOfExtension(picker, tree, fruit, context)
    #expect(fruit.grade == .middle && fruit.price == Decimal(string: "0.5") && !fruit.ripe)
    #expect(tree.fruitCount == 1)
    #expect(tree.fruits == [fruit] && picker.trees.map(\.objectID) == [tree.objectID])
    #expect(try context.fetch(Tree.self, where: { $0.kind == "Apple" && $0.picker != nil }).count == 1)
    fruit.weight = 11
    #expect(throws: HeartwoodError.self) { try context.save() }
    for entity in ["Tree", "Fruit", "OldTree"] {
      let (written, declared) = (
        try #require(model.entitiesByName[entity]),
        try #require(
          try ManagedObjectModel(types: [Tree.self, OldTree.self, Fruit.self, Picker.self]).entitiesByName[
            entity])
      )
      #expect(Set(written.attributesByName.keys) == Set(declared.attributesByName.keys))
      #expect(Set(written.uniquenessConstraints) == Set(declared.uniquenessConstraints))
      #expect(
        Set(written.indexes.map { $0.elements.map(\.property.name) })
          == Set(declared.indexes.map { $0.elements.map(\.property.name) }))
      for (name, attribute) in written.attributesByName {
        let other = try #require(declared.attributesByName[name])
        #expect(attribute.type == other.type && attribute.isOptional == other.isOptional, "\(entity).\(name)")
        #expect(
          attribute.renamingIdentifier == other.renamingIdentifier
            && attribute.isTransient == other.isTransient)
        #expect(Set(attribute.validationRules) == Set(other.validationRules), "\(entity).\(name)")
      }
    }
  }

  /// The relationships to many of an extension have the types and methods of those of a class.
  private func expectRelationshipsOfExtension(
    _ picker: Picker, _ tree: OldTree, _ fruit: Fruit, _ context: ManagedObjectContext
  ) throws {
    #expect(picker.trees == [tree] && picker.favourites == [fruit])
    let other = Tree(context: context)
    (other.kind, other.tag, other.row) = ("Pear", "b", 4)
    picker.addToTrees(other)
    #expect(picker.trees == [tree, other] && other.picker === picker)
    picker.trees = [other, tree]
    #expect(picker.trees == [other, tree])
    picker.removeFromTrees(other)
    #expect(picker.trees == [tree] && other.picker == nil)
    let second = Fruit(context: context)
    second.tree = tree
    picker.favourites.insert(second)
    #expect(picker.favourites == [fruit, second])
    picker.removeFromFavourites(fruit)
    picker.favourites.formUnion([])
    #expect(picker.favourites == [second])
    try context.save()
    context.refreshAllObjects()
    #expect(picker.trees == [tree] && picker.favourites == [second])
    picker.favourites = []
    context.delete(second)
    context.delete(other)
    try context.save()
  }

  @Test func `an extension names types of libraries with their modules, and what has no class`() throws {
    let folder = try TemporaryFolder()
    let model = folder.path("M.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    let text = """
      <model><entity name="Set" representedClassName="Set">
      <attribute name="size" attributeType="Double" defaultValueString="nan"/>
      <attribute name="exact" attributeType="Decimal" defaultValueString="NaN" minValueString="NaN"/>
      <attribute name="most" attributeType="Float" defaultValueString="inf"/>
      <attribute name="day" attributeType="Date" defaultDateTimeInterval="-inf"/>
      <relationship name="sets" optional="YES" toMany="YES" destinationEntity="Set"/>
      <relationship name="list" optional="YES" toMany="YES" ordered="YES" destinationEntity="Set"/>
      <relationship name="plain" optional="YES" toMany="YES" destinationEntity="P"/></entity>
      <entity name="P"/></model>
      """
    try Data(text.utf8).write(to: URL(filePath: model + "/contents"))
    let made = CommandRun("generate", model, "--mode", "category", "--public")
    #expect(made.status == .success, "\(made.notes)")
    for line in [
      "public var sets: Swift.Set<Set> {",
      "get { Swift.Set(mutableSetValue(forKey: \"sets\").compactMap { $0 as? Set }) }",
      "public var list: [Set] {",
      "public func addToSets(_ object: Set) {", "public func removeFromList(_ object: Set) {",
    ] {
      #expect(made.output.contains(line), "\(line) in \(made.output)")
    }
    #expect(made.notes.contains("Set.plain is left out: its destinations have no class"))
    let classes = CommandRun("generate", model).output
    for line in [
      "size: Double = .nan", "exact: Decimal = .nan", "most: Float = .infinity",
      "day: Date = Date(timeIntervalSinceReferenceDate: -.infinity)",
    ] {
      #expect(classes.contains(line), "\(line) in \(classes)")
    }
    // NaN is no limit.
    #expect(classes.contains("@Attribute var exact"))
  }

  @Test func `composite attributes have the defaults, rules and former names of their elements`() throws {
    let folder = try TemporaryFolder()
    func spot(_ x: String, _ more: String = "") -> String {
      #"{"type": "composite"\#(more), "elements": {"x": {"type": "double", "default": \#(x), "renamed": "left", "#
        + #""validationRules": [{"kind": "number", "greatest": "9"}]}, "#
        + #""raw": {"type": "data", "default": "AAEC"}, "link": {"type": "uri"}}}"#
    }
    let model = #"""
      {"entities": {
        "A": {"attributes": {"spot": \#(spot("3.5"))}},
        "B": {"attributes": {"spot": \#(spot("4.5"))}},
        "C": {"attributes": {"spot": \#(spot("5.5", #", "optional": true"#)), "own": \#(spot("0", #", "valueClass": "Own""#))}}}}
      """#
    let store = folder.path("a")
    let file = try folder.file("a.json", #"{"model": \#(model), "objects": []}"#)
    #expect(CommandRun("import", store, file).status == .success)
    let run = CommandRun("generate", store)
    for line in [
      "  @Attribute var spot: Spot = Spot()",
      "  @Attribute var spot: Spot = { var value = Spot(); value.x = 4.5; return value }()",
      "  @Attribute var spot: Spot?",
      "  @Attribute var own: Own = { var value = Own(); value.x = 0.0; value.raw = Data(base64Encoded: \"AAEC\")!; return value }()",
      "  var x: Double = 3.5", "  var raw: Data = Data(base64Encoded: \"AAEC\")!", "  var link: URL?",
      "    CompositeElement(\"x\", \\Spot.x, renamed: \"left\", validated: .number(atMost: Decimal(string: \"9\")!)),",
    ] {
      #expect(run.output.contains(line + "\n"), "\(line) in \(run.output)")
    }
    #expect(run.notes.contains("A.spot.link is optional in Swift"), "\(run.notes)")
    #expect(
      run.notes.contains("C.spot has other defaults of its elements than the type Spot"), "\(run.notes)")
  }

  @Test func `a composite of a model file has its defaults, and a name that is not taken`() throws {
    let folder = try TemporaryFolder()
    let model = """
      {"entities": {"Address": {"attributes": {"street": {"type": "string"}}}, "AddressValue": {},
        "Person": {"attributes": {
          "address": {"type": "composite", "elements": {"zip": {"type": "string", "default": "Z0"}}},
          "data": {"type": "composite", "optional": true, "elements": {"bytes": {"type": "data", "default": "AQID"},
            "o": {"type": "double", "optional": true, "default": 1.5}}}}}}}
      """
    let run = CommandRun("generate", try folder.file("m.json", model))
    #expect(run.status == .success)
    for line in [
      "  @Attribute var address: AddressValueValue = AddressValueValue()",
      "  @Attribute var data: DataValue?",
      "struct AddressValueValue: CompositeValue {", "  var zip: String = \"Z0\"",
      "    CompositeElement(\"bytes\", \\DataValue.bytes),", "  var o: Double? = 1.5",
      "  var bytes: Data = Data(base64Encoded: \"AQID\")!",
    ] {
      #expect(run.output.contains(line + "\n"), "\(line) in \(run.output)")
    }
    for note in [
      "Person.address has the type AddressValueValue: Address is", "Person.data has the type DataValue",
    ] {
      #expect(run.notes.contains(note), "\(run.notes)")
    }
  }

  @Test func `classes of a store are written as text, all or public ones`() throws {
    let world = try SmallWorld()
    let text = CommandRun("generate", world.path)
    #expect(text.status == .success)
    #expect(text.output.contains("final class Country: ManagedObject {"))
    #expect(
      text.output.contains(
        "@Attribute([.unique, .preservesValueInHistoryOnDeletion]) var code: String = \"\""))
    #expect(
      text.output.contains(
        "@Relationship(inverse: { $0.country }, deleteRule: .cascade) var cities: Set<City>"))
    #expect(
      CommandRun("generate", world.path, "--public").output.contains(
        "public func addToCities(_ object: City)"))
  }

  @Test func `classes that are called as types of a library leave those to be named with their modules`()
    throws
  {
    let folder = try TemporaryFolder()
    let model = folder.path("M.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    let text = """
      <model><entity name="Set" representedClassName="Set"><attribute name="Type" optional="YES" attributeType="String"/>
      <attribute name="day" attributeType="Date"/>
      <attribute name="tags" optional="YES" attributeType="Transformable" customClassName="[String]"/>
      <relationship name="dates" optional="YES" toMany="YES" destinationEntity="Date"/></entity>
      <entity name="Date" representedClassName="Date"/><entity name="Attribute" representedClassName="Attribute"/></model>
      """
    try Data(text.utf8).write(to: URL(filePath: model + "/contents"))
    let made = CommandRun("generate", model)
    #expect(made.status == .success)
    for line in [
      "@Heartwood.Attribute var `Type`: String?", "var day: Foundation.Date = Foundation.Date()",
      "@Relationship var dates: Swift.Set<Date>", "final class Attribute: ManagedObject {",
    ] {
      #expect(made.output.contains(line), "\(line) in \(made.output)")
    }
    #expect(made.notes.contains("Set.tags names no transformer: it is read with NSSecureUnarchiveFromData"))
    #expect(made.notes.contains("Set.tags holds [String], which is no TransformableValue"))
  }

  @Test func `a class that hides the module of a type is named`() throws {
    let folder = try TemporaryFolder()
    func generate(_ names: String...) throws -> String {
      let entities = names.map { #""\#($0)": {"attributes": {"x": {"type": "date", "optional": true}}}"# }
      let model = try folder.file("m.json", #"{"entities": {\#(entities.joined(separator: ", "))}}"#)
      return CommandRun("generate", model).notes
    }
    #expect(
      try generate("Foundation", "Date", "UUID").contains(
        "the class Foundation hides the module of this name, by which the library's Date, UUID would be told")
    )
    #expect(try generate("Swift", "Set").contains("the class Swift hides the module"))
    #expect(try generate("Heartwood", "CompositeValue").contains("the class Heartwood hides the module"))
    #expect(!(try generate("Heartwood", "Swift", "Date").contains("hides")))
  }

  @Test func `what has no form in Swift is named, and a file that has not changed is not written`() throws {
    let folder = try TemporaryFolder()
    let model = folder.path("M.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    let text = """
      <model><entity name="E" representedClassName="E"><attribute name="link" attributeType="URI"/>
      <attribute name="any" transient="YES" attributeType="Undefined"/>
      <relationship name="other" optional="YES" destinationEntity="P"/></entity><entity name="P"/></model>
      """
    try Data(text.utf8).write(to: URL(filePath: model + "/contents"))
    let run = CommandRun("generate", model, "--output", folder.path("made"))
    #expect(run.notes.contains("E.link is optional in Swift"))
    #expect(run.notes.contains("E.any is left out") && run.notes.contains("E.other is left out"))
    let file = folder.path("made") + "/E.swift"
    let date = Date(timeIntervalSince1970: 1_000_000)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
    #expect(CommandRun("generate", model, "--output", folder.path("made")).status == .success)
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date == date)
  }
}
