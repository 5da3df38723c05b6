extension Translation {
  /// Whether the file names types of Core Data and does not import it: on Apple's systems others import it too, such as UIKit and XCTest.
  var lacksImport: Bool {
    let tokens = cursor.tokens
    return !zip(tokens, tokens.dropFirst()).contains { $0.is("import") && $1.is("CoreData") }
      && tokens.contains { token in
        token.kind == .word && Self.namesOfCoreData.contains { token.text.hasPrefix($0) }
      }
  }

  private static let namesOfCoreData = [
    "NSManagedObject", "NSPersistent", "NSFetch", "NSEntity", "NSBatch", "NSMergePolicy", "NSMergeConflict",
    "NSMappingModel",
    "NSMigrat", "NSAttributeDescription", "NSAttributeType", "NSRelationshipDescription",
    "NSPropertyDescription",
    "NSPropertyMapping", "NSExpressionDescription", "NSDerivedAttribute", "NSCompositeAttribute",
    "NSDeleteRule",
    "NSConstraintConflict", "NSSnapshotEventType", "NSAsynchronousFetch", "NSSaveChangesRequest",
    "NSIncrementalStore",
    "NSAtomicStore", "NSStagedMigration", "NSLightweightMigration", "NSCustomMigration",
    "NSQueryGenerationToken",
    "NSSQLiteStoreType", "NSInMemoryStoreType", "NSBinaryStoreType", "NSInferMapping",
  ]

  /// Makes an initialiser `init(context:)` of a class of managed objects a required one, as that of `NSManagedObject` is here. It is then as
  /// accessible as the class. One of an extension, which can have no required initialisers, gets another label, and the class one that calls it.
  ///
  /// - Parameter start: The place of `init`.
  mutating func initialiser(at start: Int) {
    guard let scope = (scopes.last ?? nil), scope.isClass || scope.isExtension,
      !cursor[start - 1].is("."), cursor[start + 1].is("("), parameterLabels(at: start + 1) == ["context"]
    else { return }
    let end = cursor.end(ofBracketsAt: start + 1)
    guard cursor.tokens[(start + 2)..<end].contains(where: { $0.is("NSManagedObjectContext") }) else {
      return
    }
    if scope.isExtension { return extensionInitialiser(at: start, of: scope) }
    guard isWriting, index.isManaged(scope.name) else { return }
    var first = start
    while cursor[first - 1].kind == .word, Self.initialiserModifiers.contains(cursor[first - 1].text) {
      first -= 1
    }
    for place in first..<start where ["private", "fileprivate"].contains(cursor[place].text) {
      replace(place..<(place + 1), "internal")
    }
    if !cursor.tokens[first..<start].contains(where: { $0.is("required") }) {
      replace(start..<(start + 1), "required init")
    }
  }

  private mutating func extensionInitialiser(at start: Int, of scope: Scope) {
    guard isWriting else {
      let declaration =
        "public required convenience init(context: NSManagedObjectContext) { self.init(_context: context) }"
      return index.note(
        ExtensionMember(
          key: "init(context:)", isOverride: true, declaration: declaration, newName: "init(_context:)"),
        of: scope.name)
    }
    guard index.isManaged(scope.name) else { return }
    for place in pending.modifiers where ["private", "fileprivate"].contains(cursor[place].text) {
      remove(place..<(place + 1))
    }
    insert(cursor[start + 3].is(":") ? "_context " : "_", before: cursor[start + 2])
  }

  private static let initialiserModifiers: Set<String> = [
    "public", "package", "internal", "fileprivate", "private", "convenience", "required", "nonisolated",
  ]
}
