import Foundation

/// Models from files, and models that are put together from several.
extension ManagedObjectModel {
  /// The models in files and folders, in the order of the paths. In a folder, files whose names end in `.json` and models of Xcode count, compiled
  /// or not, of a `.xcdatamodeld` or `.momd` all versions; what is no model there is left out, and other folders in it are not searched.
  ///
  /// - Parameter urls: Files and folders of Xcode, each with a model, and folders.
  /// - Throws: `.coreData` if a file that was named is no model, or a folder cannot be read.
  @_disfavoredOverload
  public static func models(in urls: [URL]) throws -> [ManagedObjectModel] {
    var models: [ManagedObjectModel] = []
    for url in urls {
      var isFolder: ObjCBool = false
      switch url.pathExtension {
      case "xcdatamodeld":
        for version in try XcodeModelBundle(url).versions {
          models.append(try ManagedObjectModel(contentsOf: version.url))
        }
        continue
      case "momd":
        for version in try CompiledModelBundle(url).versions {
          models.append(try ManagedObjectModel(contentsOf: version.url))
        }
        continue
      case "xcdatamodel": break
      default:
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
          models += try Self.models(inFolder: url)
          continue
        }
      }
      models.append(try ManagedObjectModel(contentsOf: url))
    }
    return models
  }

  private static func models(inFolder url: URL) throws(HeartwoodError) -> [ManagedObjectModel] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    } catch {
      throw HeartwoodError(
        .coreData, "the folder \(url.path) cannot be searched for models: \(error)", underlying: error)
    }
    let known = [".json", ".xcdatamodel", ".xcdatamodeld", ".mom", ".momd"]
    return names.filter { name in known.contains { name.hasSuffix($0) } }.flatMap { name in
      (try? models(in: [url.appending(path: name)])) ?? []
    }
  }

  /// A model with the entities of several. Entities that are in more than one must be the same in all. Of fetch requests of one name
  /// the first is taken.
  ///
  /// - Parameter models: The models. They are frozen, and not changed.
  /// - Throws: `.coreData` if two entities of one name differ, or if a model is not valid.
  @_disfavoredOverload
  public convenience init(byMerging models: [ManagedObjectModel]) throws {
    var entities: [String: (encoded: Data, entity: ModelDocument.Entity)] = [:]
    var classes: [String: ManagedObject.Type] = [:]
    var requests: [String: FetchRequestTemplate] = [:]
    var configurations: [String: [String]] = [:]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for model in models {
      try model.freeze()
      requests.merge(model.fetchRequestTemplates) { first, _ in first }
      configurations.merge(model.entityNamesByConfiguration) { Array(Set($0 + $1)).sorted() }
      for entity in try ModelDocument(model).entities {
        let encoded = try encoder.encode(entity)
        if let known = entities[entity.name], known.encoded != encoded {
          throw HeartwoodError(
            .coreData,
            "the models cannot be merged: both have an entity \(entity.name), and these differ: rename one of them"
          )
        }
        entities[entity.name] = (encoded, entity)
        classes[entity.name] = model.entitiesByName[entity.name]?.managedObjectClass
      }
    }
    let identifiers = models.reduce(into: Set<String>()) { $0.formUnion($1.versionIdentifiers) }
    try self.init(
      ModelDocument(
        versionIdentifiers: identifiers.sorted(),
        entities: entities.values.map(\.entity).sorted { $0.name < $1.name }, fetchRequests: requests,
        configurations: configurations),
      classes: classes)
    isReadFromStore = models.contains { $0.isReadFromStore }
  }

  /// A model with the entities of the models in files and folders.
  ///
  /// - Parameter urls: As for `models(in:)`.
  /// - Throws: As `models(in:)` and `init(byMerging:)`.
  public static func mergedModel(from urls: [URL]) throws -> ManagedObjectModel {
    try ManagedObjectModel(byMerging: models(in: urls))
  }

  /// The model that wrote a store, of those in files and folders, or put together from them; nil if an entity of the store is in none.
  ///
  /// A store has its own model too: `PersistentStoreCoordinator.managedObjectModel(ofStoreAt:options:)`.
  ///
  /// - Parameters:
  ///   - urls: As for `models(in:)`.
  ///   - metadata: As `PersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)` returns it.
  /// - Throws: As `models(in:)`.
  public static func mergedModel(
    from urls: [URL], forStoreMetadata metadata: [String: Any]
  ) throws -> ManagedObjectModel? {
    mergedModel(from: try models(in: urls), forStoreMetadata: metadata)
  }

  /// A model with the entities of the models in the resources of bundles: files whose names end in `.json`.
  ///
  /// - Parameter bundles: The bundles, such as `Bundle.module`; nil for the main bundle.
  /// - Throws: As `models(in:)` and `init(byMerging:)`.
  @_disfavoredOverload
  public static func mergedModel(from bundles: [Bundle]?) throws -> ManagedObjectModel {
    try mergedModel(from: (bundles ?? [.main]).compactMap(\.resourceURL))
  }

  /// The model that wrote a store, of those in the resources of bundles, or put together from them; nil if an entity of the store is in
  /// none.
  ///
  /// - Parameters:
  ///   - bundles: As for `mergedModel(from:)`.
  ///   - metadata: As `PersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)` returns it.
  /// - Throws: As `models(in:)`.
  @_disfavoredOverload
  public static func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) throws -> ManagedObjectModel? {
    try mergedModel(from: (bundles ?? [.main]).compactMap(\.resourceURL), forStoreMetadata: metadata)
  }

  /// The model with exactly the entities that wrote a store, each from one of the models; nil if one is in none.
  static func merged(_ models: [ManagedObjectModel], _ metadata: [String: Any]) -> ManagedObjectModel? {
    guard let hashes = metadata[PersistentStore.MetadataKey.modelVersionHashes] as? [String: Data] else {
      return nil
    }
    var entities: [ModelDocument.Entity] = []
    var classes: [String: ManagedObject.Type] = [:]
    for (name, hash) in hashes.sorted(by: { $0.key < $1.key }) {
      guard let model = models.first(where: { $0.entitiesByName[name]?.hasVersionHash(hash) == true }),
        let entity = try? ModelDocument(model).entities.first(where: { $0.name == name })
      else { return nil }
      entities.append(entity)
      classes[name] = model.entitiesByName[name]?.managedObjectClass
    }
    let made = try? ManagedObjectModel(
      ModelDocument(versionIdentifiers: [], entities: entities), classes: classes)
    return made.flatMap { $0.hasVersionHashes(hashes) ? $0 : nil }
  }
}
