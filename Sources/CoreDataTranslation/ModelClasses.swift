import SwiftTokens

/// The classes that Xcode makes for the entities of a model, with the properties as this translator writes them.
package struct ModelClasses {
  private let entities: [Markup]
  private let classes: [String: String]

  package init(_ root: Markup) {
    entities = root.children("entity")
    classes = Dictionary(
      entities.map { entity in
        let written = entity.fields["representedClassName"] ?? ""
        return (
          entity.fields["name"] ?? "",
          written.split(separator: ".").last.map(String.init) ?? "NSManagedObject"
        )
      }, uniquingKeysWith: { first, _ in first })
  }

  /// Notes the sets of the classes that are made, for literals in the sources.
  package func note(in index: inout ClassIndex) {
    for name in declared { index.note(generated: name) }
    for entity in entities where entity.fields["codeGenerationType"] != nil {
      for relationship in entity.children("relationship") {
        index.noteVariable(relationship.fields["name"] ?? "", type: String(type(of: relationship).dropLast()))
      }
    }
  }

  /// The sources of all entities that ask for it.
  package var text: String { text(ClassIndex()) }

  /// As `text`, with what the sources of the target add to the classes.
  package func text(_ index: ClassIndex) -> String {
    entities.compactMap { entity -> String? in
      guard let mode = entity.fields["codeGenerationType"], let name = entity.fields["name"],
        let type = classes[name],
        type != "NSManagedObject"
      else { return nil }
      return (mode == "class" ? declaration(entity, type, index) : "") + properties(entity, type, name)
    }.joined(separator: "\n")
  }

  /// The names of the classes that `text` declares.
  package var declared: [String] {
    entities.compactMap { entity in
      guard entity.fields["codeGenerationType"] == "class", let name = entity.fields["name"],
        let type = classes[name],
        type != "NSManagedObject"
      else { return nil }
      return type
    }
  }

  private func declaration(_ entity: Markup, _ type: String, _ index: ClassIndex) -> String {
    let parent = entity.fields["parentEntity"].flatMap { classes[$0] } ?? "NSManagedObject"
    let members = index.members(of: type).map { "  \($0)\n" }.joined()
    // Xcode makes them with `@objc`.
    return "public class \(type): \(parent) {\(members.isEmpty ? "" : "\n" + members)}\n\n"
      + Self.note(of: type, as: type) + "\n\n"
  }

  /// The class by which the runtime finds a class under the name that `@objc(Name)` gives it.
  static func note(of type: String, as name: String) -> String {
    "final class _ClassNamed_\(name): CoreData._NamedClass { override class var target: AnyClass { \(type).self } }"
  }

  private func properties(_ entity: Markup, _ type: String, _ name: String) -> String {
    var lines = [
      "extension \(type) {",
      "  @nonobjc public class func fetchRequest() -> NSFetchRequest<\(type)> { NSFetchRequest<\(type)>(entityName: \"\(name)\") }",
    ]
    func line(_ name: String, _ type: String) -> String {
      let word = SwiftKeywords.escaped(name)
      let named = PropertyHash.arguments(name)
      return
        "  public var \(word): \(type) { get { _managedGet(\(named)) } set { _managedSet(\(named), newValue) } }"
    }
    for attribute in entity.children("attribute").sorted(by: Self.byName) {
      lines.append(line(attribute.fields["name"] ?? "", Self.type(of: attribute)))
    }
    for composite in entity.children("composite").sorted(by: Self.byName) {
      lines.append(line(composite.fields["name"] ?? "", "[String: Any]?"))
    }
    for relationship in entity.children("relationship").sorted(by: Self.byName) {
      lines.append(line(relationship.fields["name"] ?? "", self.type(of: relationship)))
    }
    for fetched in entity.children("fetchedProperty").sorted(by: Self.byName) {
      lines.append(line(fetched.fields["name"] ?? "", "[NSManagedObject]?"))
    }
    lines.append("}\n")
    for relationship in entity.children("relationship").sorted(by: Self.byName)
    where relationship.fields["toMany"] == "YES" {
      lines += accessors(relationship, type)
    }
    if entity.fields["parentEntity"] == nil,
      !entity.children("attribute").contains(where: { $0.fields["name"] == "id" })
    {
      lines.append("extension \(type): Identifiable {}\n")
    } else if entity.fields["parentEntity"] == nil {
      lines.append("extension \(type): Identifiable {}\n")
    }
    return lines.joined(separator: "\n")
  }

  private static func byName(_ left: Markup, _ right: Markup) -> Bool {
    (left.fields["name"] ?? "") < (right.fields["name"] ?? "")
  }

  private static func type(of attribute: Markup) -> String {
    let isScalar = attribute.fields["usesScalarValueType"] == "YES"
    switch attribute.fields["attributeType"] ?? "" {
    case "Integer 16": return isScalar ? "Int16" : "NSNumber?"
    case "Integer 32": return isScalar ? "Int32" : "NSNumber?"
    case "Integer 64": return isScalar ? "Int64" : "NSNumber?"
    case "Double": return isScalar ? "Double" : "NSNumber?"
    case "Float": return isScalar ? "Float" : "NSNumber?"
    case "Boolean": return isScalar ? "Bool" : "NSNumber?"
    case "Decimal": return "NSDecimalNumber?"
    case "String": return "String?"
    case "Date": return isScalar ? "TimeInterval" : "Date?"
    case "Binary": return "Data?"
    case "UUID": return "UUID?"
    case "URI": return "URL?"
    case "Transformable": return (attribute.fields["customClassName"] ?? "NSObject") + "?"
    default: return "Any?"
    }
  }

  private func destination(_ relationship: Markup) -> String {
    relationship.fields["destinationEntity"].flatMap { classes[$0] } ?? "NSManagedObject"
  }

  private func type(of relationship: Markup) -> String {
    guard relationship.fields["toMany"] == "YES" else { return destination(relationship) + "?" }
    return relationship.fields["ordered"] == "YES" ? "NSOrderedSet?" : "NSSet?"
  }

  private func accessors(_ relationship: Markup, _ type: String) -> [String] {
    let key = relationship.fields["name"] ?? ""
    let title = key.prefix(1).uppercased() + key.dropFirst()
    let other = destination(relationship)
    var lines = ["extension \(type) {"]
    let isOrdered = relationship.fields["ordered"] == "YES"
    if isOrdered {
      lines += [
        "  public func insertInto\(title)(_ value: \(other), at idx: Int) { _managedInsert(\"\(key)\", value, at: idx) }",
        "  public func removeFrom\(title)(at idx: Int) { _managedRemove(\"\(key)\", at: idx) }",
        "  public func insertInto\(title)(_ values: [\(other)], at indexes: NSIndexSet) { _managedInsert(\"\(key)\", values, at: indexes) }",
        "  public func removeFrom\(title)(at indexes: NSIndexSet) { _managedRemove(\"\(key)\", at: indexes) }",
        "  public func replace\(title)(at idx: Int, with value: \(other)) { _managedReplace(\"\(key)\", at: idx, value) }",
        "  public func replace\(title)(at indexes: NSIndexSet, with values: [\(other)]) { _managedReplace(\"\(key)\", at: indexes, values) }",
      ]
    }
    let set = isOrdered ? "NSOrderedSet" : "NSSet"
    lines += [
      "  public func addTo\(title)(_ value: \(other)) { _managedAdd(\"\(key)\", value) }",
      "  public func removeFrom\(title)(_ value: \(other)) { _managedRemove(\"\(key)\", value) }",
      "  public func addTo\(title)(_ values: \(set)) { _managedAdd(\"\(key)\", values) }",
      "  public func removeFrom\(title)(_ values: \(set)) { _managedRemove(\"\(key)\", values) }",
      // Foundation's sets have no literals on this system.
      "  public func addTo\(title)(_ values: [\(other)]) { addTo\(title)(\(set)(array: values)) }",
      "  public func removeFrom\(title)(_ values: [\(other)]) { removeFrom\(title)(\(set)(array: values)) }",
      "}\n",
    ]
    return lines
  }
}
