import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct `Models that Apple's tools have compiled` {
  private static let folder = PackageFolder.url.appending(path: "Fixtures/CompiledModels")

  /// The parts of a model, each as text; predicates as they are written once they are parsed.
  private static func parts(_ document: ModelDocument) throws -> [String: String] {
    var parts: [String: String] = [:]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    func text(_ value: some Encodable) throws -> String {
      String(decoding: try encoder.encode(value), as: UTF8.self)
    }
    func plain(_ property: ModelDocument.Property) throws -> ModelDocument.Property {
      var property = property
      property.modelFile = nil
      let elements = try property.attribute?.elements?.map(plain)
      property.attribute?.elements = elements
      property.fetched = try property.fetched.map(plain)
      return property
    }
    func plain(_ request: FetchRequestTemplate) throws -> FetchRequestTemplate {
      var request = request
      request.predicate = try request.predicate.map { try FormatPredicate($0).description }
      return request
    }
    for var entity in document.entities {
      entity.modelFile = nil
      for property in entity.properties {
        parts["\(entity.name).\(property.name)"] = try text(plain(property))
      }
      for index in entity.indexes { parts["\(entity.name) \(index.name)"] = try text(index) }
      (entity.properties, entity.indexes) = ([], [])
      parts[entity.name] = try text(entity)
    }
    for (name, request) in document.fetchRequests ?? [:] {
      parts["request \(name)"] = try text(plain(request))
    }
    for (name, members) in document.configurations ?? [:] { parts["configuration \(name)"] = "\(members)" }
    parts["versions"] = "\(document.versionIdentifiers)"
    return parts
  }

  // MOD-02
  @Test(arguments: [
    ("Library.momd/Library.mom", "Library.xcdatamodeld/Library.xcdatamodel"),
    ("Library.momd/Library 2.mom", "Library.xcdatamodeld/Library 2.xcdatamodel"),
    ("Library.momd", "Library.xcdatamodeld"), ("Library.cache", "Library.xcdatamodeld"),
  ])
  func `a compiled model is the one of its source, in a file, a folder or a store`(
    compiled: String, source: String
  ) throws {
    let (place, original) = (Self.folder.appending(path: compiled), Self.folder.appending(path: source))
    let file: (document: ModelDocument, notes: [String])
    if compiled.hasSuffix(".cache") {
      var reader = CompiledModelReader(file: place.path)
      let archive = try CompiledModelReader.archive(try Data(contentsOf: place), file: place.path)
      file = (try reader.document(of: archive), reader.notes)
    } else {
      let read = try ModelFile(place)
      file = (read.document, read.notes)
    }
    let expected = try ModelFile(original)
    #expect(file.notes == [] && expected.notes == [])
    let (left, right) = (try Self.parts(file.document), try Self.parts(expected.document))
    #expect(Set(left.keys) == Set(right.keys))
    for (name, part) in left { #expect(part == right[name], "\(name)") }
    // They open each other's stores.
    let model =
      compiled.hasSuffix(".cache")
      ? try ManagedObjectModel(compiled: Data(contentsOf: place), file: "the model of a store")
      : try ManagedObjectModel(contentsOf: place)
    #expect(try model.versionChecksum == ManagedObjectModel(contentsOf: original).versionChecksum)
  }

  @Test func `the versions of a folder are found by their names, and by the hashes that a store has`() throws
  {
    let bundle = try CompiledModelBundle(Self.folder.appending(path: "Library.momd"))
    #expect(bundle.versions.map(\.name) == ["Library", "Library 2"] && bundle.current.name == "Library 2")
    let first = bundle.versions[0]
    #expect(first.hashes.keys.sorted() == ["Author", "Volume"])
    #expect(bundle.version(withHashes: first.hashes)?.name == "Library")
    #expect(
      bundle.version(withHashes: ["Author": Data([1])]) == nil && bundle.version(withHashes: [:]) == nil)
    let models = try ManagedObjectModel.models(in: [Self.folder.appending(path: "Library.momd")])
    #expect(models.map { $0.entities.count } == [2, 3])
    #expect(
      try ManagedObjectModel.checksumsForVersionedModel(at: Self.folder.appending(path: "Library.momd"))
        == ManagedObjectModel.checksumsForVersionedModel(
          at: Self.folder.appending(path: "Library.xcdatamodeld")))
  }

  @Test func `what programs put into models is read, and what is not understood is in a note`() throws {
    let url = Self.folder.appending(path: "Changed.mom")
    var notes: [String] = []
    let model = try ManagedObjectModel(contentsOf: url) { notes.append($0) }
    let item = try #require(model.entitiesByName["Item"])
    #expect(item.managedObjectClassName == "App.Item" && item.userInfo == ["order": "3"])
    let title = try #require(item.attributesByName["title"])
    #expect(
      title.validationRules == [
        .length(3...50).orElse("between 3 and 50 characters"),
        .value("SELF CONTAINS[c] \"title\"").orElse("with a title"), .condition("number > 0"),
      ])
    #expect(item.attributesByName["total"]?.derivation == "parts.@sum.number")
    #expect(item.attributesByName["some"]?.derivation == nil)
    #expect(item.attributesByName["identity"]?.isTransient == true)
    let cover = try #require(item.attributesByName["cover"])
    #expect(cover.valueTransformerName == "CoverTransformer" && cover.attributeValueClassName == "Cover")
    #expect(item.relationshipsByName["parts"]?.inverseRelationship?.name == "whole")
    #expect(item.relationshipsByName["parts"]?.maxCount == 0)
    let others = try #require(item.propertiesByName["others"] as? FetchedPropertyDescription)
    #expect(others.template?.predicate == "title CONTAINS[c] \"great\"")
    #expect(
      others.template?.sort == [
        FetchRequestTemplate.Order(
          key: "title", isAscending: false, options: ComparisonOptions.localizedStandard.rawValue)
      ])
    let index = try #require(item.indexes.first)
    #expect(index.elements.map(\.path) == ["lowercase:(title)", "number"] && index.condition == "number > 3")
    for part in [
      "NSUnknown of Item.number is not known", "NSFlagsKey of Item.number is 64", "NSBlockPredicate",
      "Item.some is derived of those objects that a predicate selects", "identifiers of objects",
      "the default value of Item.cover, an object of the class App.Cover", "NSFetchRequestFlags",
      "data in the user info of the entity Item", "Item.identity has no type",
    ] {
      #expect(notes.filter { $0.contains(part) }.count == 1, "\(part)")
    }
    #expect(notes.count == 9, "\(notes)")
  }

  // MARK: Damage

  private func message(_ data: Data) -> String? {
    heartwoodMessage { _ = try ManagedObjectModel(compiled: data, file: "x.mom") }
  }

  @Test func `objects within themselves are an error, or left out`() throws {
    let url = Self.folder.appending(path: "Circular.mom")
    var reader = CompiledModelReader(file: "Circular.mom")
    let document = try reader.document(
      of: CompiledModelReader.archive(try Data(contentsOf: url), file: "Circular.mom"))
    #expect(document.entities.map(\.superentity) == [nil, "First"])
    #expect(reader.mistakes == ["Circular.mom: First inherits from itself"])
    #expect(reader.notes.contains { $0.contains("is a composite attribute of itself") })
    #expect(reader.notes.contains { $0.contains("nested too deep") })
    #expect(reader.notes.contains { $0.contains("it has too many parts") })
    #expect(
      heartwoodMessage { _ = try ManagedObjectModel(contentsOf: url) }?.contains("inherits from itself")
        == true)
  }

  /// Reads a model that may be damaged, as far as it can be read.
  private func read(_ bytes: [UInt8]) {
    do throws(HeartwoodError) {
      var reader = CompiledModelReader(file: "x")
      let document = try reader.document(of: CompiledModelReader.archive(Data(bytes), file: "x"))
      let model = ManagedObjectModel(entities: document.entities.map { EntityDescription(name: $0.name) })
      try document.fill(model.entities)
    } catch {
      #expect(!error.message.isEmpty)
    }
  }

  @Test func `a changed byte of a model is an error, or another model`() throws {
    let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: "Library.momd/Library.mom")))
    for place in bytes.indices.filter({ $0 % 2 == 0 }) {
      var changed = bytes
      changed[place] ^= [1, 0x10, 0xff][place / 2 % 3]
      read(changed)
    }
    for name in ["Library.momd/Library 2.mom", "Library.cache", "Changed.mom"] {
      let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: name)))
      for place in stride(from: 0, to: bytes.count, by: 97) {
        var changed = bytes
        changed[place] ^= 1 << UInt8(place % 8)
        read(changed)
        read(Array(bytes[..<place]))
      }
    }
  }

  @Test func `files that are no models say so`() throws {
    let folder = try TemporaryFolder()
    func message(_ name: String, _ data: Data) throws -> String? {
      let url = folder.url.appending(path: name)
      try data.write(to: url)
      return heartwoodMessage { _ = try ManagedObjectModel(contentsOf: url) }
    }
    #expect(
      try message("a.mom", Data("bplist00".utf8))?.contains("no model that Apple's tools have compiled")
        == true)
    #expect(try message("b.omo", Data("momv2$".utf8))?.contains("take the .mom beside it") == true)
    let mapping = try Data(contentsOf: Self.folder.appending(path: "Library.cdm"))
    #expect(
      try message("c.mom", mapping)?.contains("an object of the class NSMappingModel in place of a model")
        == true)
    #expect(
      try message("d.cdm", mapping)?.contains("it is a mapping model that Apple's tools have compiled")
        == true)
    let bundle = folder.url.appending(path: "E.momd")
    try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
    #expect(
      heartwoodMessage { _ = try ManagedObjectModel(contentsOf: bundle) }?.contains("has no version") == true)
    let model = try Data(contentsOf: Self.folder.appending(path: "Changed.mom"))
    let wrong = folder.url.appending(path: "f.cdm")
    try model.write(to: wrong)
    #expect(
      heartwoodMessage { _ = try MappingModel(contentsOf: wrong) }?.contains(
        "an object of the class NSManagedObjectModel in place of a mapping model") == true)
  }

  // MARK: Mapping models

  // GEN-07
  @Test func `a compiled mapping model is the one of its source`() throws {
    let policies = ["VolumePolicy": EntityMigrationPolicy()]
    let compiled = try MappingModel(
      contentsOf: Self.folder.appending(path: "Library.cdm"), policies: policies)
    let source = try MappingModel(
      contentsOf: Self.folder.appending(path: "Library.xcmappingmodel"), policies: policies)
    #expect(compiled.entityMappings.map(\.name) == ["AuthorToAuthor", "VolumeToBook"])
    for (left, right) in zip(compiled.entityMappings, source.entityMappings) {
      #expect(left.name == right.name && left.mappingType == right.mappingType)
      #expect(left.sourceEntityName == right.sourceEntityName)
      #expect(left.destinationEntityName == right.destinationEntityName)
      #expect(left.policyName == right.policyName)
      #expect(left.sourcePredicate.map { "\($0)" } == right.sourcePredicate.map { "\($0)" })
      func texts(_ mappings: [PropertyMapping]) throws -> [String] {
        try mappings.map { mapping in
          let text = mapping.valueExpression ?? mapping.sourceName.map { "$source.\($0)" } ?? "default"
          return "\(mapping.name) = \(try MappingExpression(text).root)"
        }
      }
      #expect(try texts(left.attributeMappings) == texts(right.attributeMappings))
      #expect(try texts(left.relationshipMappings) == texts(right.relationshipMappings))
    }
    let models = try ManagedObjectModel.models(in: [Self.folder.appending(path: "Library.momd")])
    #expect(compiled.isAbout(models[0], models[1]) && !compiled.isAbout(models[1], models[0]))
    #expect(
      MappingModel.mappingModel(
        from: [Self.folder], forSourceModel: models[0], destinationModel: models[1], policies: policies)
        != nil)
    #expect(
      heartwoodMessage { _ = try MappingModel(contentsOf: Self.folder.appending(path: "Library.cdm")) }?
        .contains(
          "has the policy Library.VolumePolicy, which is not given") == true)
  }

  @Test func `a changed byte of a mapping model is an error, or another one`() throws {
    let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: "Library.cdm")))
    for place in bytes.indices.filter({ $0 % 3 == 0 }) {
      var changed = bytes
      changed[place] ^= [1, 0x10, 0xff][place / 3 % 3]
      do throws(HeartwoodError) {
        _ = try MappingModel(compiled: Data(changed), file: "x") { _ in EntityMigrationPolicy() }
      } catch {
        #expect(!error.message.isEmpty)
      }
    }
  }

  // MARK: The guide

  @Test func `the guide's table has each key of an archive, and what becomes of it`() throws {
    let package = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
    let page = package.appending(path: "Sources/Heartwood/Documentation.docc/CompiledModels.md")
    var listed: [String: [String: String]] = [:]
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
    where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3 else { continue }
      let name = cells[0].trimmingCharacters(in: ["`"])
      for key in cells[1].split(separator: ", ") {
        #expect(
          listed[name, default: [:]].updateValue(cells[2], forKey: key.trimmingCharacters(in: ["`"])) == nil)
      }
    }
    #expect(listed == CompiledFormat.fields.mapValues { $0.mapValues(\.rawValue) })
  }
}
