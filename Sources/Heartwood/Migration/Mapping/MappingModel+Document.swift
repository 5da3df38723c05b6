import Foundation

/// Mapping models in files.
extension MappingModel {
  /// The mapping model in a file: what `encodedDocument()` returns.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - policies: The policies by the names that the file has for them. A mapping whose policy has no name has the usual one.
  /// - Throws: `.coreData` if the file is no mapping model, or names a policy that is not given.
  public convenience init(contentsOf url: URL, policies: [String: EntityMigrationPolicy] = [:]) throws {
    do {
      let document = try JSONDecoder().decode(MappingDocument.self, from: Data(contentsOf: url))
      guard document.formatVersion == 1 else {
        throw HeartwoodError(.coreData, "it has format version \(document.formatVersion)")
      }
      self.init(entityMappings: try document.entityMappings.map { try $0.mapping(policies) })
    } catch {
      throw HeartwoodError(
        .coreData, "the file \(url.path) is no mapping model: \(error)", underlying: error)
    }
  }

  /// The first mapping model in folders that is about two models, by the version hashes of its entities; nil if there is none.
  ///
  /// - Parameters:
  ///   - folders: The folders. Files whose names do not end in `.json`, or that are no mapping models, are left out.
  ///   - source: The model of the store.
  ///   - destination: The model to migrate to.
  ///   - policies: As for `init(contentsOf:policies:)`.
  public static func mappingModel(
    from folders: [URL], forSourceModel source: ManagedObjectModel,
    destinationModel destination: ManagedObjectModel, policies: [String: EntityMigrationPolicy] = [:]
  ) -> MappingModel? {
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for name in names.sorted() where name.hasSuffix(".json") {
        let model = try? MappingModel(contentsOf: folder.appending(path: name), policies: policies)
        if let model, model.isAbout(source, destination) { return model }
      }
    }
    return nil
  }

  /// The first mapping model in the resources of bundles that is about two models; nil if there is none.
  ///
  /// - Parameters:
  ///   - bundles: The bundles, such as `Bundle.module`; nil for the main bundle.
  ///   - source: The model of the store.
  ///   - destination: The model to migrate to.
  ///   - policies: As for `init(contentsOf:policies:)`.
  public static func mappingModel(
    from bundles: [Bundle]?, forSourceModel source: ManagedObjectModel,
    destinationModel destination: ManagedObjectModel, policies: [String: EntityMigrationPolicy] = [:]
  ) -> MappingModel? {
    mappingModel(
      from: (bundles ?? [.main]).compactMap(\.resourceURL), forSourceModel: source,
      destinationModel: destination, policies: policies)
  }

  private func isAbout(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> Bool {
    !entityMappings.isEmpty
      && entityMappings.allSatisfy { mapping in
        Self.matches(mapping.sourceEntityName, mapping.sourceEntityVersionHash, source)
          && Self.matches(mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination)
      }
  }

  private static func matches(_ name: String?, _ hash: Data?, _ model: ManagedObjectModel) -> Bool {
    guard let name else { return true }
    return model.entitiesByName[name].map { hash == nil || $0.versionHash == hash } ?? false
  }

  /// The mapping model as JSON, for `init(contentsOf:policies:)`.
  ///
  /// - Throws: `.coreData` if a mapping has what is no text: a closure, a predicate that is no `FormatPredicate`, or a policy without
  ///   `EntityMapping.policyName`.
  public func encodedDocument() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    return try encoder.encode(
      MappingDocument(entityMappings: try entityMappings.map { try MappingDocument.Entity($0) }))
  }
}

/// The encoded form of a mapping model.
private struct MappingDocument: Codable {
  var formatVersion = 1
  var entityMappings: [Entity]

  struct Entity: Codable {
    var name: String
    var type: Int
    var source: String?
    var destination: String?
    var sourceHash: Data?
    var destinationHash: Data?
    var predicate: String?
    var policy: String?
    var attributes: [Property]
    var relationships: [Property]
    var userInfo: [String: String]
  }

  struct Property: Codable {
    var name: String
    var source: String?
    var expression: String?
    var userInfo: [String: String]
  }
}

extension MappingDocument.Entity {
  init(_ mapping: EntityMapping) throws {
    name = mapping.name
    type = mapping.mappingType.rawValue
    source = mapping.sourceEntityName
    destination = mapping.destinationEntityName
    sourceHash = mapping.sourceEntityVersionHash
    destinationHash = mapping.destinationEntityVersionHash
    predicate = try mapping.sourcePredicate.map {
      guard let format = $0 as? FormatPredicate else {
        throw HeartwoodError.noText("the predicate of the mapping \(mapping.name)")
      }
      return format.description
    }
    policy = mapping.policyName
    guard policy != nil || Swift.type(of: mapping.policy) == EntityMigrationPolicy.self else {
      throw HeartwoodError.noText("the policy of the mapping \(mapping.name), which has no policyName,")
    }
    attributes = try mapping.attributeMappings.map { try MappingDocument.Property($0, mapping.name) }
    relationships = try mapping.relationshipMappings.map { try MappingDocument.Property($0, mapping.name) }
    userInfo = mapping.userInfo
  }

  func mapping(_ policies: [String: EntityMigrationPolicy]) throws -> EntityMapping {
    let mapping = EntityMapping(
      from: source, to: destination, type: EntityMapping.MappingType(rawValue: type) ?? .undefined)
    mapping.name = name
    mapping.sourceEntityVersionHash = sourceHash
    mapping.destinationEntityVersionHash = destinationHash
    mapping.sourcePredicate = try predicate.map { try FormatPredicate($0) }
    mapping.policyName = policy
    if let policy {
      guard let given = policies[policy] else {
        throw HeartwoodError(.coreData, "the mapping \(name) has the policy \(policy), which is not given")
      }
      mapping.policy = given
    }
    mapping.attributeMappings = try attributes.map { try $0.mapping() }
    mapping.relationshipMappings = try relationships.map { try $0.mapping() }
    mapping.userInfo = userInfo
    return mapping
  }
}

extension MappingDocument.Property {
  init(_ mapping: PropertyMapping, _ entity: String) throws {
    guard mapping.value == nil else {
      throw HeartwoodError.noText("the closure of \(mapping.name) in the mapping \(entity)")
    }
    name = mapping.name
    source = mapping.sourceName
    expression = mapping.valueExpression
    userInfo = mapping.userInfo
  }

  func mapping() throws -> PropertyMapping {
    let mapping =
      try expression.map { try PropertyMapping(name: name, valueExpression: $0) }
      ?? PropertyMapping(name: name, from: source)
    mapping.userInfo = userInfo
    return mapping
  }
}

extension HeartwoodError {
  fileprivate static func noText(_ what: String) -> HeartwoodError {
    HeartwoodError(.coreData, "the mapping model cannot be written: \(what) is no text")
  }
}
