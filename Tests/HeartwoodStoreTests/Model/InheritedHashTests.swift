import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// The version hash of an entity is of all that its objects have, as Core Data's.
@Suite struct `Version hashes with inheritance` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func model(_ names: [String], of top: String = "Base") -> ManagedObjectModel {
    let entities = ["Base", "Part", "Leaf", "Other"].map { EntityDescription(name: $0) }
    entities.first { $0.name == top }?.properties = names.map {
      AttributeDescription(name: $0, type: .string)
    }
    entities[0].subentities = [entities[1]]
    entities[1].subentities = [entities[2]]
    return ManagedObjectModel(entities: entities)
  }

  // PSC-09
  @Test func `a property of a parent is in the hashes of all entities below it`() throws {
    let (first, second) = (
      Self.model(["a"]).entityVersionHashesByName, Self.model(["b"]).entityVersionHashesByName
    )
    #expect(Set(first.keys.filter { first[$0] != second[$0] }) == ["Base", "Part", "Leaf"])
    let (third, fourth) = (
      Self.model(["a"], of: "Part").entityVersionHashesByName,
      Self.model(["b"], of: "Part").entityVersionHashesByName
    )
    #expect(Set(third.keys.filter { third[$0] != fourth[$0] }) == ["Part", "Leaf"])
    #expect(Self.model(["a"]).versionChecksum != Self.model(["b"]).versionChecksum)
    #expect(first == Self.model(["a"]).entityVersionHashesByName)
  }

  // PSC-09
  @Test func `hashes of earlier versions of the library belong to the same model, and to no other`() throws {
    let (model, other) = (Self.model(["a"]), Self.model(["b"]))
    _ = model.versionChecksum
    let former = model.entitiesByName.mapValues(\.ownVersionHash)
    #expect(former["Leaf"] != model.entityVersionHashesByName["Leaf"])
    #expect(model.hasVersionHashes(former) && model.hasVersionHashes(model.entityVersionHashesByName))
    #expect(!other.hasVersionHashes(former) && !other.hasVersionHashes(model.entityVersionHashesByName))

    let coordinator = try PersistentStoreCoordinator(checking: model)
    let store = try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    var metadata = try coordinator.metadata(for: store)
    #expect(
      metadata[PersistentStore.MetadataKey.modelVersionHashes] as? [String: Data]
        == model.entityVersionHashesByName)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    metadata[PersistentStore.MetadataKey.modelVersionHashes] = former
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    try coordinator.close()

    let mappings = ["Base", "Leaf", "Other", "Part"].map { EntityMapping(from: $0, to: $0) }
    for (mapping, name) in zip(mappings, ["Base", "Leaf"]) { mapping.sourceEntityVersionHash = former[name] }
    let file = folder.url.appending(path: "mapping.json")
    try MappingModel(entityMappings: mappings).encodedDocument().write(to: file)
    #expect(
      MappingModel.mappingModel(from: [folder.url], forSourceModel: model, destinationModel: model) != nil)
    #expect(
      MappingModel.mappingModel(from: [folder.url], forSourceModel: other, destinationModel: other) == nil)
  }
}
