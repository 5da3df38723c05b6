import Foundation
import Heartwood
import Synchronization

enum ModelProblems {
  static let last = Mutex<String?>(nil)
}

/// The entities of a store with their properties.
public typealias NSManagedObjectModel = ManagedObjectModel

extension ManagedObjectModel {
  /// The model at a place: a `.xcdatamodeld` or `.xcdatamodel` folder, a `.momd` or `.mom` that was compiled of one, or a model that the build plugin has put into the program, for which
  /// `Bundle.url(forResource:withExtension:)` gives the place, also under the names `momd` and `mom`.
  ///
  /// - Parameter url: The place.
  /// - Returns: Nil if there is no model, or none that can be read. `NSManagedObjectModel.loadingProblem` says why.
  public convenience init?(contentsOf url: URL) {
    do {
      let place = try EmbeddedModels.place(of: url)
      defer { EmbeddedModels.removeWritten(url, at: place) }
      try self.init(changeableAt: place)
      replaceNamesOfClasses()
      ReadModels.shared.note(self)
    } catch {
      Self.note(problem: "the model at \(url.path) was not read: \(error)")
      return nil
    }
  }

  /// Why the last model could not be read, for messages; nil if none has failed.
  public static var loadingProblem: String? { ModelProblems.last.withLock { $0 } }

  /// One model of several.
  ///
  /// - Returns: Nil if the models have different entities of the same name, or the list is empty.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models, !models.isEmpty else { return nil }
    do {
      for model in models { model.bindClasses() }
      try self.init(changeablyMerging: models)
      for model in models { takeUnstored(from: model) }
      replaceNamesOfClasses()
    } catch {
      Self.note(problem: "the models cannot be merged: \(error)")
      return nil
    }
  }

  /// One model of several, as the initialiser above.
  public convenience init?(byMerging models: [NSManagedObjectModel]) {
    let given: [NSManagedObjectModel]? = models
    self.init(byMerging: given)
  }

  /// The model of a store, of the entities of several models.
  ///
  /// - Returns: Nil if an entity of the store is in none of them.
  public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any])
  {
    for model in models { model.bindClasses() }
    guard let found = Self.mergedModel(from: models, forStoreMetadata: metadata) else { return nil }
    self.init(byMerging: [found])
  }

  /// The names of the configurations. The first is `PF_DEFAULT_CONFIGURATION_NAME`, that of all entities.
  public var configurations: [String] {
    [StoreTypes.defaultConfiguration] + entityNamesByConfiguration.keys.sorted()
  }

  /// The entities of a configuration; nil if there is none of this name.
  ///
  /// - Parameter name: The name; nil, as `PF_DEFAULT_CONFIGURATION_NAME`, for that of all entities.
  public func entities(forConfigurationName name: String?) -> [NSEntityDescription]? {
    guard let name = StoreTypes.configuration(name) else { return entities }
    return entityNamesByConfiguration[name]?.compactMap { entitiesByName[$0] }
  }

  /// Translations of the messages of errors. They are kept, and have no effect.
  public var localizationDictionary: [String: String]? {
    get { translations }
    set { translations = newValue }
  }

  /// Labels for display: of texts, which alone are kept.
  public var versionIdentifiers: Set<AnyHashable> {
    get { Set(versionTexts.map { AnyHashable($0) }) }
    set { versionTexts = Set(newValue.compactMap { $0.base as? String }) }
  }

  /// The models of bundles as one; nil if there is none.
  ///
  /// - Parameter bundles: The bundles, of which compiled models count; nil for the program itself. The models that the build plugin has put
  ///   into the program always count.
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    let embedded = EmbeddedModels.names
    let compiled = EmbeddedModels.compiled(in: bundles).filter {
      !embedded.contains($0.deletingPathExtension().lastPathComponent)
    }
    let own = embedded.compactMap { name in
      EmbeddedModels.found(name) { module in
        bundles?.contains { EmbeddedModels.isBundle($0, ofModule: module) } ?? false
      }?.url()
    }
    let places = own + compiled
    let models = places.compactMap { NSManagedObjectModel(contentsOf: $0) }
    guard models.count != 1 else { return models[0] }
    return NSManagedObjectModel(byMerging: models)
  }

  /// The model of a store: a version of one that the build plugin has put into the program, or one among the resources of bundles.
  ///
  /// - Parameters:
  ///   - bundles: The bundles; nil for the program itself.
  ///   - metadata: The metadata of the store.
  /// - Returns: Nil if there is none.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    for place in EmbeddedModels.places {
      guard let model = NSManagedObjectModel(contentsOf: place) else { continue }
      if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return model }
    }
    guard let model = anyMergedModel(from: bundles, forStoreMetadata: metadata) else { return nil }
    return model
  }

  /// Takes what no document of a model has: translations, and annotations that are no texts. Those of earlier models stay.
  private func takeUnstored(from model: NSManagedObjectModel) {
    if let others = model.translations {
      translations = (translations ?? [:]).merging(others) { own, _ in own }
    }
    for entity in entities {
      guard let other = model.entitiesByName[entity.name ?? ""] else { continue }
      entity.otherAnnotations.merge(other.otherAnnotations) { own, _ in own }
      for property in entity.ownProperties { property.takeUnstored(from: other.ownProperties) }
    }
  }

  private static func note(problem: String) {
    ModelProblems.last.withLock { $0 = problem }
    FileHandle.standardError.write(Data("CoreData: error: \(problem)\n".utf8))
  }

  /// The names of classes as Core Data has them.
  private func replaceNamesOfClasses() {
    beforeFreezing = { $0.bindClasses() }
    for entity in entities where entity.anyClassName == "ManagedObject" {
      entity.anyClassName = "NSManagedObject"
    }
  }

  /// Finds the classes of entities by their names. An entity whose class is not in the program gets `NSManagedObject`.
  func bindClasses() {
    guard !isFrozen else { return }
    beforeFreezing = nil
    completeTransformers()
    for entity in entities {
      entity.indexProperties()
      entity.nameConstraints()
    }
    for entity in entities where entity.managedObjectClass == nil {
      let name = entity.anyClassName
      entity.useClass(Self.class(named: name, of: entity))
    }
  }

  private static func `class`(named name: String, of entity: NSEntityDescription) -> ManagedObject.Type {
    guard name != "NSManagedObject", name != "ManagedObject", !name.isEmpty else {
      return NSManagedObject.self
    }
    if let found = ProgramClasses.named(name) as? NSManagedObject.Type { return found }
    FileHandle.standardError.write(
      Data(
        "CoreData: warning: Unable to load class named '\(name)' for entity '\(entity.name ?? "?")'. Class not found, using default NSManagedObject instead.\n"
          .utf8))
    return NSManagedObject.self
  }
}

extension PropertyDescription {
  fileprivate final func takeUnstored(from others: [PropertyDescription]) {
    guard let other = others.first(where: { $0.name == name }) else { return }
    otherAnnotations.merge(other.otherAnnotations) { own, _ in own }
    let elements = (other as? CompositeAttributeDescription)?.elements ?? []
    for element in (self as? CompositeAttributeDescription)?.elements ?? [] {
      element.takeUnstored(from: elements)
    }
  }
}

extension ManagedObjectModel: NSCopying {
  /// A model with the same entities, which can be changed; this one cannot be changed any more.
  public func copy(with zone: NSZone? = nil) -> Any { NSManagedObjectModel(byMerging: [self]) ?? self }
}
