import Foundation
import HeartwoodArchives

/// Indexes.
extension CompiledModelReader {
  /// Reads the indexes of an entity.
  ///
  /// Where a model has an attribute that is indexed, or a compound index, Core Data makes a fetch index of it, called after its properties; both
  /// are in a store. It is one index, with the name that `XcodeModelReader` gives it.
  ///
  /// - Parameter indexed: The properties that are indexed, with those that are inherited.
  mutating func readIndexes(
    of object: ArchivedObject, _ indexed: Set<String>, into entity: inout ModelDocument.Entity
  ) throws(ArchiveError) {
    var old = entity.properties.filter { $0.attribute != nil && indexed.contains($0.name) }.map { [$0.name] }
    if let compound = try object.list("NSCompoundIndexes") {
      for value in try compound.values() {
        old.append(try names(value, "a compound index of \(entity.name)"))
      }
    }
    var made: [ModelDocument.Index] = []
    for value in try object.list("NSFetchIndexDescriptions")?.values() ?? [] {
      guard let description = value.object else {
        throw ArchiveError("an index of \(entity.name) is \(value.kind)")
      }
      try take(1)
      // The index of an entity that this one inherits from.
      if let owner = try description.object("NSEntity")?.string("NSEntityName"), owner != entity.name {
        continue
      }
      guard var index = try index(description, of: entity.name) else { continue }
      let isMade =
        index.name == index.properties.joined(separator: "_")
        && (index.properties.count > 1 || indexed.contains(index.name))
      if isMade { index.name = ModelDocument.Index.xcodeIndex(of: index.properties).name }
      made.append(index)
    }
    for properties in old where !made.contains(where: { $0.properties == properties }) {
      made.append(.xcodeIndex(of: properties))
    }
    entity.indexes = made.sorted { $0.name < $1.name }
  }

  private mutating func index(
    _ object: ArchivedObject, of owner: String
  ) throws(ArchiveError) -> ModelDocument.Index? {
    guard let name = try text("NSIndexName", of: object) else {
      note("an index of \(owner) has no name, and is left out")
      return nil
    }
    let whole = "the index \(name) of \(owner)"
    noteUnknown(object, whole)
    var index = ModelDocument.Index(name: name, properties: [], isAscending: [])
    var types: [String] = []
    for value in try object.list("NSIndexElements")?.values() ?? [] {
      guard let element = value.object else { throw ArchiveError("an element of \(whole) is \(value.kind)") }
      try take(1)
      guard let (property, type) = try indexed(by: element, whole) else {
        note("an element of \(whole) has no property, and the index is left out")
        return nil
      }
      var collation: String?
      switch try element.integer("NSFetchIndexElementType") ?? 0 {
      case 0: break
      case 1: collation = FetchIndexElementDescription.CollationType.rTree.documentName
      case let type:
        note("\(whole) is of the type \(type), and is left out")
        return nil
      }
      guard index.properties.isEmpty || index.collation == collation else {
        note("\(whole) has elements of the types Binary and RTree, and is left out")
        return nil
      }
      index.collation = collation
      index.properties.append(property)
      index.isAscending.append(try element.bool("NSAscending") ?? true)
      types.append(type)
    }
    if !types.allSatisfy(\.isEmpty) { index.expressionTypes = types }
    let condition = try object.value("NSPartialIndexPredicate")
    if !condition.isNull {
      index.condition = understood("the predicate of \(whole)", "the index is of all objects") {
        (budget) throws(HeartwoodError) in try ArchivedText.predicate(condition, budget: &budget)
      }
    }
    if index.properties.isEmpty {
      note("\(whole) has no elements, and is left out")
      return nil
    }
    return index
  }

  /// The name of the property that an element is of, or the text of an expression and the name of its type.
  private mutating func indexed(
    by element: ArchivedObject, _ whole: String
  ) throws(ArchiveError) -> (property: String, type: String)? {
    for key in element.keys {
      guard let object = try element.object(key) else { continue }
      let description = object.isKind(of: "NSExpressionDescription")
      guard description || object.isKind(of: "NSExpression") else { continue }
      let expression = description ? try object.value("NSExpression") : .object(object)
      let number = description ? try object.integer("NSExpressionResultType") : nil
      let type = number.flatMap { AttributeType(rawValue: Int(clamping: $0)) } ?? .undefined
      let text = understood("the expression of an element of \(whole)", "is left out") {
        (budget) throws(HeartwoodError) in try ArchivedText.expression(expression, budget: &budget)
      }
      return text.map { ($0, type.name) }
    }
    noteUnknown(element, "an element of \(whole)")
    return try text("NSPropertyName", of: element).map { ($0, "") }
  }
}
