import Foundation

/// A mapping model of Xcode: the file `xcmapping.xml` of an `.xcmappingmodel` folder.
///
/// It is a store in XML with Xcode's own objects: the mapping model, its mappings of entities, and theirs of properties, which name each
/// other by their identifiers. Expressions are texts, or keyed archives in Base64.
struct XcodeMapping {
  /// An object of the file.
  private struct Item {
    let type: String
    let line: Int
    var attributes: [String: String] = [:]
    var references: [String: [String]] = [:]

    func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

    func flag(_ name: String) -> Bool {
      ["1", "YES", "TRUE"].contains(attributes[name]?.uppercased() ?? "")
    }
  }

  private let file: String
  private var items: [String: Item] = [:]
  private var model = Item(type: "", line: 0)

  /// - Parameters:
  ///   - data: The file.
  ///   - file: What messages call it.
  /// - Throws: `.coreData` if it is no mapping model of Xcode.
  init(_ data: Data, file: String) throws(HeartwoodError) {
    self.file = file
    let root = try MarkupElement(document: data, file: file)
    guard root.name == "database" else {
      throw HeartwoodError(
        .coreData, "\(file) is no mapping model of Xcode: it has <\(root.name)> in place of <database>")
    }
    var models: [Item] = []
    for element in root.children where element.name == "object" {
      var item = Item(type: (element.attributes["type"] ?? "").uppercased(), line: element.line)
      for child in element.children {
        guard let name = child.attributes["name"]?.lowercased() else { continue }
        if child.name == "attribute" { item.attributes[name] = child.text }
        if child.name == "relationship" {
          item.references[name] = (child.attributes["idrefs"] ?? "").split(separator: " ").map(String.init)
        }
      }
      guard let identifier = element.attributes["id"], items.updateValue(item, forKey: identifier) == nil
      else {
        throw HeartwoodError(
          .coreData, "\(file), line \(element.line): an object has no id, or that of another one")
      }
      if item.type == "XDDEVMAPPINGMODEL" { models.append(item) }
    }
    if models.isEmpty, let kind = ForeignFile.kind(of: data) {
      throw HeartwoodError(.coreData, "\(file) is no mapping model of Xcode: \(kind)")
    }
    guard models.count == 1 else {
      throw HeartwoodError(
        .coreData, "\(file) has \(models.count) objects of the type XDDEVMAPPINGMODEL: it needs one")
    }
    model = models[0]
  }

  /// The paths of the two models, as the project has them.
  var modelPaths: (source: String?, destination: String?) {
    (model.text("sourcemodelpath"), model.text("destinationmodelpath"))
  }

  /// - Parameter policy: Gives the policy for the name of its class.
  /// - Throws: `.coreData` naming the mapping and the property that cannot be read, or the policy that is not given.
  func entityMappings(
    _ policy: (String) -> EntityMigrationPolicy?
  ) throws(HeartwoodError) -> [EntityMapping] {
    var found: [(number: Int, item: Item)] = []
    for item in try followed("entitymappings", of: model, "XDDEVENTITYMAPPING") {
      found.append((Int(item.attributes["mappingnumber"] ?? "") ?? 0, item))
    }
    // Those of one number stay in the file's order.
    let ordered = found.enumerated().sorted {
      ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
    }
    var mappings: [EntityMapping] = []
    for (_, entry) in ordered { mappings.append(try mapping(entry.item, policy)) }
    return mappings
  }

  private func followed(_ name: String, of item: Item, _ type: String) throws(HeartwoodError) -> [Item] {
    var found: [Item] = []
    for identifier in item.references[name] ?? [] {
      guard let other = items[identifier], other.type == type else {
        throw HeartwoodError(
          .coreData,
          "\(file), line \(item.line): \(name) names \(identifier), which is no \(type) of the file")
      }
      found.append(other)
    }
    return found
  }

  // MARK: Entities

  private func mapping(
    _ item: Item, _ givenPolicy: (String) -> EntityMigrationPolicy?
  ) throws(HeartwoodError) -> EntityMapping {
    let (source, destination) = (item.text("sourcename"), item.text("destinationname"))
    guard source != nil || destination != nil else {
      throw HeartwoodError(
        .coreData, "\(file), line \(item.line): a mapping has neither a source nor a destination")
    }
    let mapping = EntityMapping(from: source, to: destination, type: type(item, source, destination))
    if let source, let destination { mapping.name = "\(source)To\(destination)" }
    mapping.name = item.text("name") ?? mapping.name
    let place = "\(file): the mapping \(mapping.name)"
    mapping.sourcePredicate = try predicate(item, place)
    if let name = item.text("migrationpolicyclassname") {
      guard let policy = givenPolicy(name) else {
        throw HeartwoodError(.coreData, "\(place) has the policy \(name), which is not given")
      }
      mapping.policy = policy
      mapping.policyName = name
    }
    mapping.userInfo = try userInfo(item, place)
    for property in try followed("attributemappings", of: item, "XDDEVATTRIBUTEMAPPING") {
      mapping.attributeMappings.append(try self.property(property, false, source != nil, place))
    }
    for property in try followed("relationshipmappings", of: item, "XDDEVRELATIONSHIPMAPPING") {
      mapping.relationshipMappings.append(try self.property(property, true, source != nil, place))
    }
    return mapping
  }

  private func type(_ item: Item, _ source: String?, _ destination: String?) -> EntityMapping.MappingType {
    if source == nil { return .add }
    if destination == nil { return .remove }
    switch item.text("mappingtypename")?.lowercased() {
    case "copy": return .copy
    case "custom": return .custom
    default: return item.text("migrationpolicyclassname") == nil ? .transform : .custom
    }
  }

  /// Which objects of the source are meant.
  private func predicate(_ item: Item, _ place: String) throws(HeartwoodError) -> FormatPredicate? {
    var text = item.text("sourcefilterpredicatestring")
    if !item.flag("autogenerateexpression"), let data = item.text("sourceexpressiondata") {
      do {
        text =
          try ArchivedText.fetchedPredicate(try ArchivedText.archived(try Self.data(base64: data))) ?? text
      } catch {
        throw HeartwoodError(
          .coreData,
          "\(place) selects its objects by an expression that is not understood: \(error.message); filter them by a predicate"
        )
      }
    }
    guard let text, text.uppercased() != "TRUEPREDICATE" else { return nil }
    do {
      return try FormatPredicate(text)
    } catch {
      throw HeartwoodError(.coreData, "\(place) selects objects by \"\(text)\": \(error.message)")
    }
  }

  private func userInfo(_ item: Item, _ place: String) throws(HeartwoodError) -> [String: String] {
    guard let data = item.text("userinfodata") else { return [:] }
    do {
      return try ArchivedText.archived(try Self.data(base64: data)).texts ?? [:]
    } catch {
      throw HeartwoodError(.coreData, "\(place) has a user info that is not understood: \(error.message)")
    }
  }

  // MARK: Properties

  private func property(
    _ item: Item, _ isRelationship: Bool, _ hasSource: Bool, _ place: String
  ) throws(HeartwoodError) -> PropertyMapping {
    guard let name = item.text("name") else {
      throw HeartwoodError(.coreData, "\(file), line \(item.line): the mapping of a property has no name")
    }
    let mapping: PropertyMapping
    do {
      if let text = try expression(item) {
        mapping = try PropertyMapping(name: name, valueExpression: text)
      } else if isRelationship, hasSource, let through = item.text("sourcemappingname") {
        let objects = item.text("sourcekeypath").map(sourceExpression) ?? "$source.\(name)"
        mapping = try PropertyMapping(
          name: name,
          valueExpression:
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \(through.quotedForMapping), \(objects))"
        )
      } else if let path = item.text("sourcekeypath"), hasSource {
        let text = sourceExpression(path)
        let property = text.dropFirst("$source.".count)
        if !property.isEmpty, property.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
          mapping = PropertyMapping(name: name, from: String(property))
        } else if isRelationship {
          // As Core Data does where no mapping is named: what any of them has made.
          mapping = try PropertyMapping(
            name: name,
            valueExpression:
              "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \(name.quotedForMapping), \(text))"
          )
        } else {
          mapping = try PropertyMapping(name: name, valueExpression: text)
        }
      } else {
        let isGenerated =
          item.flag("autogenerateexpression") || item.attributes["autogenerateexpression"] == nil
        mapping = PropertyMapping(name: name)
        mapping.usesDefault = !isGenerated
      }
    } catch {
      let reason = (error as? HeartwoodError)?.message ?? "\(error)"
      throw HeartwoodError(
        .coreData, "\(place) has a value for \(name) that is not understood: \(reason)", property: name)
    }
    mapping.userInfo = try userInfo(item, "\(place).\(name)")
    return mapping
  }

  /// A path as Xcode's inspector has it, `$source.pets`, `$source` or, as written by hand, `pets`.
  private func sourceExpression(_ path: String) -> String {
    path.hasPrefix("$") ? path : "$source.\(path)"
  }

  /// The text of a value expression that was written by hand.
  private func expression(_ item: Item) throws(HeartwoodError) -> String? {
    if item.flag("autogenerateexpression") { return nil }
    if let text = item.text("valueexpression") ?? item.text("valueexpressionstring") { return text }
    guard let data = item.text("valueexpressiondata") else { return nil }
    return try ArchivedText.mappingExpression(try Self.data(base64: data))
  }
}

extension String {
  /// The text as a constant of an expression.
  fileprivate var quotedForMapping: String { Value.string(self).predicateText }
}

extension XcodeMapping {
  fileprivate static func data(base64 text: String) throws(HeartwoodError) -> Data {
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters), !data.isEmpty else {
      throw HeartwoodError(.coreData, "it is no data in Base64")
    }
    return data
  }
}
