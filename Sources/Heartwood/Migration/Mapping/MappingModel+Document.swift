import Foundation
import HeartwoodArchives

/// Mapping models in files.
extension MappingModel {
  /// The mapping model in a file: what `encodedDocument()` returns, Xcode's `.xcmappingmodel` folder, or a `.cdm` file that was compiled of one.
  ///
  /// In a mapping model of Xcode, a value that Xcode generates is that of the source's property of the same name, if there is one.
  /// Expressions are read as texts and as archives. The version hashes of its entities are those of the two models if they are found where
  /// the file says, or in the folders around it.
  ///
  /// - Parameters:
  ///   - url: The file or folder.
  ///   - policies: The policies by the names that the file has for them, or by the names of their classes without the module. A mapping
  ///     whose policy has no name has the usual one.
  ///   - report: Gets a sentence with file and line for each thing of a file of Xcode's that has no effect, or another one than it says.
  /// - Throws: `.coreData` if the file is no mapping model, has an expression that is not understood, or names a policy that is not given. All
  ///   mistakes of a file of Xcode's are in the message, and each in `details` if there are several.
  @_disfavoredOverload
  public convenience init(
    contentsOf url: URL, policies: [String: EntityMigrationPolicy] = [:],
    reporting report: (String) -> Void = { _ in }
  ) throws {
    if let file = Self.xcodeFile(at: url) {
      try self.init(
        xcode: Self.bytes(of: file), file: file.path,
        policy: Self.policy(policies),
        model: { Self.model(at: $0, around: file) }, reporting: report)
      return
    }
    let data = try Self.bytes(of: url)
    do {
      if CompiledMapping.isLikely(data) || url.pathExtension == "cdm" {
        try self.init(compiled: data, file: url.path, policy: Self.policy(policies))
        return
      }
      if let kind = ForeignFile.kind(of: data) { throw HeartwoodError(.coreData, kind) }
      let document = try JSONDecoder().decode(MappingDocument.self, from: data)
      guard document.formatVersion == 1 else {
        throw HeartwoodError(.coreData, "it has format version \(document.formatVersion)")
      }
      self.init(entityMappings: try document.entityMappings.map { try $0.mapping(policies) })
    } catch {
      throw HeartwoodError(
        .coreData, "the file \(url.path) is no mapping model: \(DecodingText.text(of: error))",
        underlying: error)
    }
  }

  /// A policy by its own name in a file, or by that of its class without the module.
  private static func policy(
    _ policies: [String: EntityMigrationPolicy]
  ) -> (String) -> EntityMigrationPolicy? {
    { name in policies[name] ?? name.split(separator: ".").last.flatMap { policies[String($0)] } }
  }

  /// The mapping model that Apple's tools have compiled, wherever that is. It has no version hashes.
  ///
  /// - Parameters:
  ///   - data: The file.
  ///   - file: Its name in messages.
  ///   - policy: Gives the policy for the name of its class.
  /// - Throws: As `init(contentsOf:policies:reporting:)`.
  package convenience init(
    compiled data: Data, file: String, policy: (String) -> EntityMigrationPolicy?
  ) throws(HeartwoodError) {
    self.init(entityMappings: try CompiledMapping(data, file: file).entityMappings(policy))
  }

  /// The mapping model of a file of Xcode's, wherever that is.
  ///
  /// - Parameters:
  ///   - data: The file `xcmapping.xml`.
  ///   - file: Its name in messages.
  ///   - policy: Gives the policy for the name of its class.
  ///   - model: Gives the model at a path of the project; nil if it is not known, which leaves out the version hashes.
  ///   - report: As for `init(contentsOf:policies:reporting:)`.
  /// - Throws: As `init(contentsOf:policies:reporting:)`.
  package convenience init(
    xcode data: Data, file: String, policy: (String) -> EntityMigrationPolicy?,
    model: (String) -> ManagedObjectModel?, reporting report: (String) -> Void = { _ in }
  ) throws {
    var mapping = try XcodeMapping(data, file: file)
    defer { mapping.notes.forEach(report) }
    self.init(entityMappings: try mapping.entityMappings(policy))
    let (source, destination) = mapping.modelPaths
    let models = [source, destination].map { $0.flatMap(model) }
    for mapping in entityMappings {
      mapping.sourceEntityVersionHash = mapping.sourceEntityName.flatMap {
        models[0]?.entityVersionHashesByName[$0]
      }
      mapping.destinationEntityVersionHash = mapping.destinationEntityName.flatMap {
        models[1]?.entityVersionHashesByName[$0]
      }
    }
  }

  /// The file of an `.xcmappingmodel` folder, or the file itself; nil for other files.
  package static func xcodeFile(at url: URL) -> URL? {
    if url.pathExtension == "xml" { return url }
    var isFolder: ObjCBool = false
    guard url.pathExtension == "xcmappingmodel",
      FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
    else { return nil }
    return isFolder.boolValue ? url.appending(path: "xcmapping.xml") : url
  }

  private static func bytes(of file: URL) throws(HeartwoodError) -> Data {
    do {
      return try Data(contentsOf: file)
    } catch {
      throw HeartwoodError(
        .coreData, "the mapping model \(file.path) cannot be read: \(DecodingText.text(of: error))",
        underlying: error)
    }
  }

  /// The model at a path of a project, where the mapping model is in a folder of the same project.
  private static func model(at path: String, around file: URL) -> ManagedObjectModel? {
    let parts = path.split(separator: "/").map(String.init)
    var folder = file.deletingLastPathComponent()
    for _ in 0..<16 where folder.path != "/" {
      folder.deleteLastPathComponent()
      for count in Set([parts.count, 2, 1]).sorted(by: >) where 1...parts.count ~= count {
        let place = folder.appending(path: parts.suffix(count).joined(separator: "/"))
        guard FileManager.default.fileExists(atPath: place.path) else { continue }
        if let model = try? ManagedObjectModel(contentsOf: place) { return model }
      }
    }
    return nil
  }

  private static let endings = [".json", ".xcmappingmodel", ".cdm"]

  /// The mapping model in folders that is about two models, by the version hashes of its entities, and leaves out no entity that both have;
  /// nil if there is none. Of several the first of those that name the most version hashes.
  ///
  /// - Parameters:
  ///   - folders: The folders. Files whose names end in none of `.json`, `.xcmappingmodel` and `.cdm`, or that are no mapping models, are left out.
  ///   - source: The model of the store.
  ///   - destination: The model to migrate to.
  ///   - policies: As for `init(contentsOf:policies:reporting:)`.
  public static func mappingModel(
    from folders: [URL], forSourceModel source: ManagedObjectModel,
    destinationModel destination: ManagedObjectModel, policies: [String: EntityMigrationPolicy] = [:]
  ) -> MappingModel? {
    var found: [MappingModel] = []
    for folder in folders {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      for name in names.sorted() where endings.contains(where: { name.hasSuffix($0) }) {
        let model = try? MappingModel(contentsOf: folder.appending(path: name), policies: policies)
        if let model { found.append(model) }
      }
    }
    return best(of: found, source, destination)
  }

  /// That of several mapping models which is about two models: the first of those with the most version hashes of the two; nil if there is none.
  package static func best(
    of found: [MappingModel], _ source: ManagedObjectModel, _ destination: ManagedObjectModel
  ) -> MappingModel? {
    let fitting = found.filter { $0.isAbout(source, destination) }
    let most = fitting.map(\.hashCount).max()
    return fitting.first { $0.hashCount == most }
  }

  private var hashCount: Int {
    entityMappings.reduce(0) {
      $0 + ($1.sourceEntityVersionHash == nil ? 0 : 1) + ($1.destinationEntityVersionHash == nil ? 0 : 1)
    }
  }

  /// The first mapping model in the resources of bundles that is about two models; nil if there is none.
  ///
  /// - Parameters:
  ///   - bundles: The bundles, such as `Bundle.module`; nil for the main bundle.
  ///   - source: The model of the store.
  ///   - destination: The model to migrate to.
  ///   - policies: As for `init(contentsOf:policies:reporting:)`.
  public static func mappingModel(
    from bundles: [Bundle]?, forSourceModel source: ManagedObjectModel,
    destinationModel destination: ManagedObjectModel, policies: [String: EntityMigrationPolicy] = [:]
  ) -> MappingModel? {
    mappingModel(
      from: (bundles ?? [.main]).compactMap(\.resourceURL), forSourceModel: source,
      destinationModel: destination, policies: policies)
  }

  /// The first mapping model in the resources of bundles that is about two models, as Core Data finds it; nil if there is none.
  ///
  /// - Parameters:
  ///   - bundles: The bundles, such as `Bundle.module`; nil for the main bundle.
  ///   - source: The model of the store.
  ///   - destination: The model to migrate to.
  @_disfavoredOverload
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel source: ManagedObjectModel?,
    destinationModel destination: ManagedObjectModel?
  ) {
    guard let source, let destination,
      let found = Self.mappingModel(from: bundles, forSourceModel: source, destinationModel: destination)
    else { return nil }
    self.init(entityMappings: found.entityMappings)
  }

  /// Whether the mappings are those of the entities of two models, by names and version hashes, and leave out none that both have.
  package func isAbout(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> Bool {
    !entityMappings.isEmpty && forgottenEntities(of: source, in: destination).isEmpty
      && entityMappings.allSatisfy { mapping in
        Self.matches(mapping.sourceEntityName, mapping.sourceEntityVersionHash, source)
          && Self.matches(mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination)
          && mapping.hasProperties(source, destination)
      }
  }

  private static func matches(_ name: String?, _ hash: Data?, _ model: ManagedObjectModel) -> Bool {
    guard let name else { return true }
    return model.entitiesByName[name].map { entity in hash.map(entity.hasVersionHash) ?? true } ?? false
  }

  /// The mapping model as JSON, for `init(contentsOf:policies:reporting:)`.
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

extension EntityMapping {
  /// Whether the two models have the properties that the mapping names. Without hashes, that is what distinguishes versions.
  fileprivate func hasProperties(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> Bool {
    let all = attributeMappings + relationshipMappings
    if let known = destinationEntityName.flatMap({ destination.entitiesByName[$0] }) {
      guard all.allSatisfy({ known.slot(named: $0.name) != nil }) else { return false }
    }
    guard let known = sourceEntityName.flatMap({ source.entitiesByName[$0] }) else { return true }
    return all.allSatisfy { $0.sourceName.map { known.slot(named: $0) != nil } ?? true }
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
    /// Whether `source` is the property's own name, and it has its default where the source has none. Of files of earlier versions.
    var isIfPresent: Bool?
    /// Whether it has its default. Nil in files of earlier versions, where one without a source and an expression has it.
    var usesDefault: Bool?
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
    mapping.attributeMappings = try attributes.map { try $0.mapping(among: attributes) }
    mapping.relationshipMappings = try relationships.map { try $0.mapping(among: relationships) }
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
    usesDefault = mapping.sourceName == nil && expression == nil ? mapping.usesDefault : nil
    userInfo = mapping.userInfo
  }

  fileprivate func mapping(among others: [MappingDocument.Property]) throws -> PropertyMapping {
    let mapping =
      try expression.map { try PropertyMapping(name: name, valueExpression: $0) }
      ?? PropertyMapping(name: name, from: isIfPresent == true ? nil : source)
    // In files of earlier versions, what has no source has its default; that of the same name may have gone to another property.
    mapping.usesDefault = usesDefault ?? (source == nil && others.contains { $0.source == name })
    mapping.userInfo = userInfo
    return mapping
  }
}

extension HeartwoodError {
  fileprivate static func noText(_ what: String) -> HeartwoodError {
    HeartwoodError(.coreData, "the mapping model cannot be written: \(what) is no text")
  }
}
