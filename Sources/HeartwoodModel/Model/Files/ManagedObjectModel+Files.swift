import Foundation
import HeartwoodArchives

/// Models in files: those of Xcode, and what `encodedDocument()` returns.
extension ManagedObjectModel {
  /// The model that a file has, in use.
  ///
  /// - Parameters:
  ///   - file: The file as it was read.
  ///   - url: The place of the file, for messages.
  ///   - prepare: Completes the entities before they are checked.
  /// - Throws: `.coreData` with file, line and reason if it is not a valid one. All mistakes are in the message, and each in `details` if
  ///   there are several.
  package convenience init(
    _ file: ModelFile, at url: URL,
    prepare: ([EntityDescription]) throws(HeartwoodError) -> Void = { _ in }
  ) throws {
    var problems = file.mistakes.map { HeartwoodError(.coreData, $0) }
    do throws(HeartwoodError) {
      try self.init(file.document, prepare: prepare)
    } catch {
      // The problems that the file's mistakes state already, with their places.
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
  }

  /// The model of a document, in use.
  ///
  /// - Parameter prepare: Completes the entities before they are checked.
  /// - Throws: `.coreData` if it is not a valid one.
  package convenience init(
    _ document: ModelDocument, prepare: ([EntityDescription]) throws(HeartwoodError) -> Void = { _ in }
  ) throws(HeartwoodError) {
    self.init(entities: document.entities.map { EntityDescription(named: $0.name) })
    try document.fill(entities)
    try prepare(entities)
    versionIdentifiers = Set(document.versionIdentifiers)
    fetchRequestTemplates = document.fetchRequests ?? [:]
    entityNamesByConfiguration = document.configurations ?? [:]
    (modelFile, configurationFiles) = (document.modelFile, document.configurationFiles)
    try freeze()
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
    self.init(entities: document.entities.map { EntityDescription(named: $0.name) })
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
      throw HeartwoodError(
        .coreData, "the model cannot be read: \(DecodingText.text(of: error))", underlying: error)
    }
    self.init(entities: document.entities.map { EntityDescription(named: $0.name) })
    try document.fill(entities)
    versionIdentifiers = Set(document.versionIdentifiers)
    fetchRequestTemplates = document.fetchRequests ?? [:]
    entityNamesByConfiguration = document.configurations ?? [:]
  }

  /// The model as JSON, of one that can still be changed.
  package func changeableDocument() throws(HeartwoodError) -> Data { Data(try encoded()) }

  /// The checksums of the versions of a model by their names, without opening a store.
  ///
  /// - Parameter url: A `.xcdatamodeld` or `.momd` folder.
  /// - Throws: `.coreData` if it is none, or a version cannot be read.
  public static func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
    var checksums: [String: String] = [:]
    if url.pathExtension == "momd" {
      for version in try CompiledModelBundle(url).versions {
        checksums[version.name] = try ManagedObjectModel(ModelFile(version.url), at: version.url)
          .versionChecksum
      }
      return checksums
    }
    for version in try XcodeModelBundle(url).versions {
      checksums[version.name] = try ManagedObjectModel(ModelFile(version.url), at: version.url)
        .versionChecksum
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

/// Configurations: named sets of entities. A model has them for coordinators of several stores.
extension ManagedObjectModel {
  /// The names of the configurations, sorted.
  @_disfavoredOverload public var configurations: [String] { entityNamesByConfiguration.keys.sorted() }

  /// The entities of a configuration.
  ///
  /// - Parameter name: The name; nil for the configuration of all entities.
  /// - Returns: Nil if there is none of this name.
  @_disfavoredOverload public func entities(forConfigurationName name: String?) -> [EntityDescription]? {
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
