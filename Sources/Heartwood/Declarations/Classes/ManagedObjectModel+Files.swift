import Foundation

/// Models in files: those of Xcode, and what `encodedDocument()` returns.
extension ManagedObjectModel {
  /// The model in a file.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(contentsOf: url, classes: [Person.self, Company.self])
  /// ```
  ///
  /// - Parameters:
  ///   - url: A `.xcdatamodeld` folder, of which the current version is read, a `.xcdatamodel` folder, what Apple's tools have compiled of
  ///     them, a `.momd` folder or a `.mom` file, or a file that `encodedDocument()` made.
  ///   - classes: Classes of the entities. A class belongs to the entity whose class name in the file is its own, whatever the
  ///     module, and must declare the entity's properties as the file does. Where an attribute needs a value and the file has no default,
  ///     the one of the class counts. Objects of other entities are plain `ManagedObject`s.
  ///   - report: Called with a sentence for each thing in the file that the model does not have, such as an attribute of the XML that is
  ///     not known.
  /// - Throws: `.coreData` with file, line and reason if it is no model, or not a valid one, or a class belongs to no entity. All mistakes of
  ///   a model are in the message, and each in `details` if there are several.
  @_disfavoredOverload
  public convenience init(
    contentsOf url: URL, classes: [ManagedObject.Type] = [], reporting report: (String) -> Void = { _ in }
  ) throws {
    let file = try ModelFile(url)
    file.notes.forEach(report)
    var named: [String: ManagedObject.Type] = [:]
    for type in classes {
      let names = [String(reflecting: type), String(describing: type)]
      let entities = file.document.entities
      // The file may name another module than that of this class.
      guard
        let entity = entities.first(where: { $0.className == names[0] })
          ?? entities.first(where: { $0.className.split(separator: ".").last.map(String.init) == names[1] })
      else {
        throw HeartwoodError(
          .coreData,
          "no entity of the model \(url.path) has the class \(names[1]); its classes are "
            + "\(Set(file.document.entities.map(\.className)).sorted().joined(separator: ", "))")
      }
      named[entity.name] = type
    }
    var problems = file.mistakes.map { HeartwoodError(.coreData, $0) }
    do throws(HeartwoodError) {
      try self.init(file.document, classes: named)
    } catch {
      // What the file's mistakes say already, with its place.
      let known = file.mistakes
      problems += (error.details.isEmpty ? [error] : error.details).filter { error in
        !known.contains { $0.hasSuffix(": \(error.message)") }
      }
      throw HeartwoodError.mistakes(problems, in: url)
    }
    for (place, error) in expressionProblems() + fetchedPropertyProblems() + fetchRequestTemplateProblems() {
      problems.append(file.locate(error, at: place))
    }
    guard problems.isEmpty else { throw HeartwoodError.mistakes(problems, in: url) }
    isReadFromStore = classes.isEmpty && !file.isXcodeModel
  }

  /// The model in a file, which can still be changed, with the names of classes as the file has them.
  ///
  /// - Parameter url: As of `init(contentsOf:classes:reporting:)`.
  package convenience init(changeableAt url: URL) throws {
    let file = try ModelFile(url)
    guard file.mistakes.isEmpty else {
      throw HeartwoodError.mistakes(file.mistakes.map { HeartwoodError(.coreData, $0) }, in: url)
    }
    let document = file.document
    self.init(entities: document.entities.map { EntityDescription(name: $0.name) })
    try document.fill(entities)
    versionIdentifiers = Set(document.versionIdentifiers)
    fetchRequestTemplates = document.fetchRequests ?? [:]
    entityNamesByConfiguration = document.configurations ?? [:]
  }

  /// The model of what `encodedDocument()` or `changeableDocument()` returns, which can still be changed.
  ///
  /// - Throws: `.coreData` if it is no such document.
  package convenience init(changeableDocument data: Data) throws(HeartwoodError) {
    let document: ModelDocument
    do {
      document = try JSONDecoder().decode(ModelDocument.self, from: data)
    } catch {
      throw HeartwoodError(.coreData, "the model cannot be read: \(error)", underlying: error)
    }
    self.init(entities: document.entities.map { EntityDescription(name: $0.name) })
    try document.fill(entities)
    versionIdentifiers = Set(document.versionIdentifiers)
    fetchRequestTemplates = document.fetchRequests ?? [:]
    entityNamesByConfiguration = document.configurations ?? [:]
  }

  /// The model as JSON, of one that can still be changed.
  package func changeableDocument() throws(HeartwoodError) -> Data { Data(try encoded()) }

  /// Copies of the entities of several models, which can still be changed, in a model of their own.
  ///
  /// - Throws: `.coreData` if two entities of a name differ.
  package convenience init(changeablyMerging models: [ManagedObjectModel]) throws {
    let merged = try ManagedObjectModel(byMerging: models)
    let document = try ModelDocument(merged)
    self.init(entities: document.entities.map { EntityDescription(name: $0.name) })
    try document.fill(entities)
    versionIdentifiers = merged.versionIdentifiers
    fetchRequestTemplates = merged.fetchRequestTemplates
    entityNamesByConfiguration = merged.entityNamesByConfiguration
  }

  convenience init(
    _ document: ModelDocument, classes: [String: ManagedObject.Type]
  ) throws(HeartwoodError) {
    self.init(entities: document.entities.map { EntityDescription(name: $0.name) })
    try document.fill(entities)
    for entity in entities {
      guard let given = classes[entity.displayName] else { continue }
      entity.managedObjectClass = given
      try entity.takeDefaults(of: given)
    }
    versionIdentifiers = Set(document.versionIdentifiers)
    fetchRequestTemplates = document.fetchRequests ?? [:]
    entityNamesByConfiguration = document.configurations ?? [:]
    (modelFile, configurationFiles) = (document.modelFile, document.configurationFiles)
    try freeze()
  }

  /// The checksums of the versions of a model by their names, without opening a store.
  ///
  /// - Parameter url: A `.xcdatamodeld` or `.momd` folder.
  /// - Throws: `.coreData` if it is none, or a version cannot be read.
  public static func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
    var checksums: [String: String] = [:]
    if url.pathExtension == "momd" {
      for version in try CompiledModelBundle(url).versions {
        checksums[version.name] = try ManagedObjectModel(contentsOf: version.url).versionChecksum
      }
      return checksums
    }
    for version in try XcodeModelBundle(url).versions {
      checksums[version.name] = try ManagedObjectModel(contentsOf: version.url).versionChecksum
    }
    return checksums
  }

  /// Writes the model in Xcode's format: as a folder with the file `contents`, or as a version of a `.xcdatamodeld` folder, which becomes its
  /// current one.
  ///
  /// Equal models have equal files. What a file that was read says for other tools, such as the kind of generated code, is written again;
  /// the layout of the diagram is not.
  ///
  /// - Parameters:
  ///   - url: The folder, whose name ends in `.xcdatamodel` or `.xcdatamodeld`. It is made if it is missing.
  ///   - version: The name of the version in a `.xcdatamodeld` folder; nil for the name of the folder.
  ///   - report: Called with a sentence for each thing of the model that the format cannot say: it is left out, or written so that Xcode
  ///     does not see it.
  /// - Throws: `.coreData` if the name has another ending, a text of the model has a character that XML does not have, or a file cannot be
  ///   written.
  public func writeXcodeModel(
    to url: URL, version: String? = nil, reporting report: (String) -> Void = { _ in }
  ) throws {
    var writer = XcodeModelWriter()
    let text = try writer.text(of: ModelDocument(self, keepingModelFile: true))
    writer.notes.forEach(report)
    let name = version ?? url.deletingPathExtension().lastPathComponent
    let isBundle = url.pathExtension == "xcdatamodeld"
    guard isBundle || url.pathExtension == "xcdatamodel" else {
      throw HeartwoodError(
        .coreData, "\(url.path) is no name of a model for Xcode: it ends in .xcdatamodel or .xcdatamodeld")
    }
    let folder = isBundle ? url.appending(path: name + ".xcdatamodel") : url
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: folder.appending(path: "contents"), options: .atomic)
      guard isBundle else { return }
      let current = try PropertyListSerialization.data(
        fromPropertyList: [XcodeModelBundle.currentVersionKey: folder.lastPathComponent], format: .xml,
        options: 0)
      try current.write(to: url.appending(path: XcodeModelBundle.currentVersionFile), options: .atomic)
    } catch {
      throw HeartwoodError(
        .coreData, "the model cannot be written to \(folder.path): \(error)", underlying: error)
    }
  }
}

extension HeartwoodError {
  fileprivate static func mistakes(_ problems: [HeartwoodError], in url: URL) -> HeartwoodError {
    let first = problems[0]
    guard problems.count > 1 else {
      return HeartwoodError(
        first.code, "the model \(url.path) is not valid: \(first.message)", property: first.property,
        underlying: first)
    }
    return HeartwoodError(
      first.code,
      "the model \(url.path) is not valid, it has \(problems.count) mistakes: \(problems.map(\.message).joined(separator: "; "))",
      property: first.property, details: problems)
  }
}

extension EntityDescription {
  /// Takes the defaults that a class declares for attributes that need a value and have no default in the model.
  fileprivate func takeDefaults(of type: ManagedObject.Type) throws(HeartwoodError) {
    let own = Dictionary(ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for property in try ClassRecord.of(type).properties {
      guard case .attribute(let record) = property.note, !record.hasChangingDefault,
        let attribute = own[property.name] as? AttributeDescription, !attribute.isOptional,
        attribute.type != .composite, attribute.type == record.valueType.attributeType,
        attribute.givenDefault == nil, attribute.defaultStoredValue.isNull
      else { continue }
      attribute.defaultStoredValue = record.defaultValue
    }
  }
}

/// Configurations: named sets of entities. A model has them for coordinators of several stores.
extension ManagedObjectModel {
  /// The names of the configurations, sorted.
  public var configurations: [String] { entityNamesByConfiguration.keys.sorted() }

  /// The entities of a configuration.
  ///
  /// - Parameter name: The name; nil for the configuration of all entities.
  /// - Returns: Nil if there is none of this name.
  public func entities(forConfigurationName name: String?) -> [EntityDescription]? {
    guard let name else { return entities }
    return entityNamesByConfiguration[name]?.compactMap { entitiesByName[$0] }
  }

  /// Sets the entities of a configuration. An entity may be in several.
  ///
  /// - Parameters:
  ///   - entities: Entities of the model.
  ///   - name: The name of the configuration.
  /// - Precondition: The model is not in use.
  public func setEntities(_ entities: [EntityDescription], forConfigurationName name: String) {
    entityNamesByConfiguration[name] = entities.map(\.displayName)
  }
}
