import Foundation

/// Models in files, with classes of the program.
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
    try self.init(file, at: url) { entities throws(HeartwoodError) in
      for entity in entities { try entity.take(named) }
    }
    isReadFromStore = classes.isEmpty && !file.isXcodeModel
  }

  /// The model of a document, in use.
  ///
  /// - Parameter classes: Classes of the program, by the names of entities.
  /// - Throws: `.coreData` if it is not a valid one, or a class does not declare what its entity has.
  convenience init(
    _ document: ModelDocument, classes: [String: ManagedObject.Type]
  ) throws(HeartwoodError) {
    try self.init(document) { entities throws(HeartwoodError) in
      for entity in entities { try entity.take(classes) }
    }
  }

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
}

extension EntityDescription {
  /// Takes the class of its name, if there is one, and the defaults that it declares.
  fileprivate func take(_ classes: [String: ManagedObject.Type]) throws(HeartwoodError) {
    guard let given = classes[displayName] else { return }
    managedObjectClass = given
    try takeDefaults(of: given)
  }

  /// Takes the defaults that a class declares for attributes that need a value and have no default in the model.
  private func takeDefaults(of type: ManagedObject.Type) throws(HeartwoodError) {
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
