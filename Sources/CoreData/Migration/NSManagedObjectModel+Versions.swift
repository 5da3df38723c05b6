import Foundation
import Heartwood

// The members that fix a model find the classes of its entities first: until then they are known by their
// names.

extension EntityDescription {
  /// The hash of what the entity's objects are stored by. It fixes the model.
  public var versionHash: Data {
    owningModel?.bindClasses()
    return anyVersionHash
  }
}

extension ManagedObjectModel {
  /// The hashes of all entities by their names. They fix the model.
  public var entityVersionHashesByName: [String: Data] {
    bindClasses()
    return anyVersionHashes
  }

  /// The checksum of the model, which is Heartwood's. It fixes the model.
  public var versionChecksum: String {
    bindClasses()
    return anyVersionChecksum
  }
}

extension ManagedObjectModelReference {
  /// A reference to a model that exists.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - versionChecksum: The checksum that the model must have.
  public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
    model.bindClasses()
    let checksum: String? = versionChecksum
    self.init(model: model, versionChecksum: checksum)
  }
}

extension ManagedObjectModelReference {
  /// A reference to the model of the program whose entities have these hashes.
  ///
  /// - Parameters:
  ///   - versionHash: The hashes of entities by their names: Heartwood's.
  ///   - bundle: Has no meaning here: the models are those that the build plugin has put into the program.
  ///   - versionChecksum: The checksum that the model must have.
  public convenience init(
    entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String
  ) {
    let wanted = versionHash.reduce(into: [String: Data]()) { all, entry in
      if let name = entry.key.base as? String, let hash = entry.value as? Data { all[name] = hash }
    }
    self.init(versionChecksum: versionChecksum) {
      EmbeddedModels.places.lazy.compactMap(NSManagedObjectModel.init(contentsOf:))
        .first { $0.entityVersionHashesByName == wanted }
    }
  }
}

extension MappingModel {
  /// The mapping model that an automatic migration uses.
  ///
  /// - Parameters:
  ///   - source: The model of the store.
  ///   - destination: The model to migrate to.
  /// - Throws: Every reason why no mapping can be inferred.
  public static func inferredMappingModel(
    forSourceModel source: NSManagedObjectModel, destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    source.bindClasses()
    destination.bindClasses()
    return try asCocoa { try anyInferred(from: source, to: destination) }
  }
}
