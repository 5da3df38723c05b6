import Foundation

/// A mapping model of Xcode: the file `xcmapping.xml` of an `.xcmappingmodel` folder.
///
/// It is a store in XML with Xcode's own objects: the mapping model, its mappings of entities, and theirs of properties, which name each
/// other by their identifiers. Expressions are texts, or keyed archives in Base64. What the file has and the mapping model does not is in `notes`;
/// what would lose values is a mistake.
struct XcodeMapping {
  /// An object of the file.
  struct Item {
    let identifier: String
    let type: String
    let line: Int
    var attributes: [String: String] = [:]
    var references: [String: [String]] = [:]

    func text(_ name: String) -> String? { attributes[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether Xcode generates the value; nil if the object does not say, or in no known way.
    var isGenerated: Bool? {
      let text = text("autogenerateexpression")
      return MarkupFields.isYes(text) ? true : MarkupFields.isNo(text) ? false : nil
    }

    /// The name of the object in messages.
    var title: String {
      let name = text("name")
      switch type {
      case XcodeMappingFormat.model: return "the mapping model"
      case XcodeMappingFormat.entity: return "the mapping \(name ?? mappingName)"
      case XcodeMappingFormat.attribute, XcodeMappingFormat.relationship:
        return "the mapping \(identifier) of \(name ?? "a property without a name")"
      default: return "the object \(identifier)"
      }
    }

    /// Whether an entity mapping is as the editor adds it, before anything is chosen.
    var mapsNothing: Bool {
      text("migrationpolicyclassname") == nil && references["attributemappings", default: []].isEmpty
        && references["relationshipmappings", default: []].isEmpty
    }

    /// The name of an entity mapping that has none of its own.
    var mappingName: String {
      guard let source = text("sourcename"), let destination = text("destinationname") else {
        return text("sourcename") ?? text("destinationname") ?? identifier
      }
      return "\(source)To\(destination)"
    }
  }

  let file: String
  /// The parts of the file that the mapping model does not have, or has otherwise, a sentence each.
  var notes: [String] = []
  /// Statements that cannot be meant, or would lose values.
  private(set) var mistakes: [HeartwoodError] = []
  var items: [String: Item] = [:]
  /// The identifiers of the objects, in the file's order.
  var order: [String] = []
  private var model = Item(identifier: "", type: "", line: 0)

  /// - Parameters:
  ///   - data: The file.
  ///   - file: Its name in messages.
  /// - Throws: `.coreData` if it is no mapping model of Xcode.
  init(_ data: Data, file: String) throws(HeartwoodError) {
    self.file = file
    let root = try MarkupElement(document: data, file: file)
    guard root.name == "database" else {
      throw HeartwoodError(
        .coreData, "\(file) is no mapping model of Xcode: it has <\(root.name)> in place of <database>")
    }
    for element in root.children where element.name == "object" { read(element) }
    let models = order.compactMap { items[$0] }.filter { $0.type == XcodeMappingFormat.model }
    if models.isEmpty, let kind = ForeignFile.kind(of: data) {
      throw HeartwoodError(.coreData, "\(file) is no mapping model of Xcode: \(kind)")
    }
    guard models.count == 1 else {
      throw HeartwoodError(
        .coreData, "\(file) has \(models.count) objects of the type XDDEVMAPPINGMODEL: it needs one")
    }
    model = models[0]
    noteUnknown(in: root)
    checkReferences()
  }

  private mutating func read(_ element: MarkupElement) {
    let identifier = element.attributes["id"] ?? ""
    var item = Item(
      identifier: identifier, type: (element.attributes["type"] ?? "").uppercased(), line: element.line)
    for child in element.children {
      guard let name = child.attributes["name"]?.lowercased() else { continue }
      let isThere: Bool
      switch child.name {
      case "attribute":
        isThere = item.attributes.updateValue(Self.unescaped(child.text), forKey: name) != nil
      case "relationship":
        let identifiers = (child.attributes["idrefs"] ?? "").split(separator: " ").map(String.init)
        isThere = item.references.updateValue(identifiers, forKey: name) != nil
      default: continue
      }
      if isThere { mistake(child.line, "\(item.title) has \(name) twice, and which is meant is not known") }
    }
    guard !identifier.isEmpty, items.updateValue(item, forKey: identifier) == nil else {
      return mistake(element.line, "an object has no id, or that of another one")
    }
    order.append(identifier)
  }

  /// A text in which characters that XML has for itself are written as code units, lower byte first: `\u3c00` is `<`. A unit whose first byte
  /// is zero has its higher byte first.
  private static func unescaped(_ text: String) -> String {
    let parts = text.components(separatedBy: "\\u")
    return parts.dropFirst().reduce(into: parts[0]) { text, part in
      guard let unit = UInt16(part.prefix(4), radix: 16), part.count >= 4,
        let scalar = Unicode.Scalar(unit < 0x100 ? unit : unit.byteSwapped)
      else { return text += "\\u" + part }
      text += String(scalar) + part.dropFirst(4)
    }
  }

  /// The paths of the two models, as the project has them.
  var modelPaths: (source: String?, destination: String?) {
    (model.text("sourcemodelpath"), model.text("destinationmodelpath"))
  }

  /// - Parameter policy: Gives the policy for the name of its class.
  /// - Throws: `.coreData` with all mistakes of the file, each with its line: what cannot be read, what hangs on one side, and policies that
  ///   are not given.
  mutating func entityMappings(
    _ policy: (String) -> EntityMigrationPolicy?
  ) throws(HeartwoodError) -> [EntityMapping] {
    var found: [(number: Int, item: Item)] = []
    for item in followed("entitymappings", of: model) { found.append((number(of: item), item)) }
    // Those of one number stay in the file's order.
    let ordered = found.enumerated().sorted {
      ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
    }
    let mappings = ordered.compactMap { mapping($0.element.item, policy) }
    guard let first = mistakes.first else { return mappings }
    guard mistakes.count > 1 else { throw first }
    throw HeartwoodError(
      first.code,
      "\(file) is not valid, it has \(mistakes.count) mistakes: \(mistakes.map(\.message).joined(separator: "; "))",
      property: first.property, details: mistakes)
  }

  private mutating func number(of item: Item) -> Int {
    guard let text = item.text("mappingnumber") else { return 0 }
    if let number = Int(text) { return number }
    note(item.line, "mappingnumber=\"\(text)\" of \(item.title) is no number, and is read as 0")
    return 0
  }

  /// The objects of a list, without those that are not of its type, which are mistakes.
  private mutating func followed(_ name: String, of item: Item) -> [Item] {
    guard let type = XcodeMappingFormat.lists[item.type]?[name]?.type else { return [] }
    var found: [Item] = []
    for identifier in item.references[name] ?? [] {
      if let other = items[identifier], other.type == type {
        found.append(other)
      } else {
        mistake(item.line, "\(name) of \(item.title) names \(identifier), which is no \(type) of the file")
      }
    }
    return found
  }

  // MARK: Entities

  private mutating func mapping(
    _ item: Item, _ givenPolicy: (String) -> EntityMigrationPolicy?
  ) -> EntityMapping? {
    let (source, destination) = (item.text("sourcename"), item.text("destinationname"))
    guard source != nil || destination != nil else {
      let title = "the mapping \(item.text("name") ?? item.identifier)"
      if item.mapsNothing {
        note(item.line, "\(title) has neither a source nor a destination, and has no effect")
      } else {
        mistake(item.line, "\(title) has properties or a policy, and neither a source nor a destination")
      }
      return nil
    }
    let mapping = EntityMapping(from: source, to: destination, type: type(item, source, destination))
    mapping.name = item.text("name") ?? item.mappingName
    mapping.sourcePredicate = reading(item) { () throws(HeartwoodError) in try Self.predicate(item) } ?? nil
    if let name = item.text("migrationpolicyclassname") {
      if let policy = givenPolicy(name) {
        mapping.policy = policy
      } else {
        mistake(item.line, "\(item.title) has the policy \(name), which is not given")
      }
      mapping.policyName = name
    }
    mapping.userInfo = reading(item) { () throws(HeartwoodError) in try Self.userInfo(item) } ?? [:]
    for property in followed("attributemappings", of: item) {
      if let made = self.property(property, false, source != nil, mapping.name) {
        mapping.attributeMappings.append(made)
      }
    }
    for property in followed("relationshipmappings", of: item) {
      if let made = self.property(property, true, source != nil, mapping.name) {
        mapping.relationshipMappings.append(made)
      }
    }
    return mapping
  }

  /// The result of reading an object; nil with a mistake if it cannot be read.
  private mutating func reading<Result>(
    _ item: Item, _ body: () throws(HeartwoodError) -> Result
  ) -> Result? {
    do {
      return try body()
    } catch {
      mistake(item.line, error.message)
      return nil
    }
  }

  private mutating func type(
    _ item: Item, _ source: String?, _ destination: String?
  ) -> EntityMapping.MappingType {
    let name = item.text("mappingtypename")
    let given = name?.lowercased() ?? "undefined"
    let fits: Bool
    switch given {
    case "add": fits = source == nil
    case "remove": fits = destination == nil
    case "copy", "transform": fits = source != nil && destination != nil
    case "undefined", "custom": fits = true
    default:
      fits = true
      note(item.line, "mappingtypename=\"\(name ?? "")\" of \(item.title) is not known, and has no effect")
    }
    if !fits {
      let have = "\(source ?? "no entity") to \(destination ?? "no entity")"
      mistake(
        item.line,
        "\(item.title) is of the type \(name ?? ""), and leads from \(have): which is meant is not known")
    }
    if source == nil { return .add }
    if destination == nil { return .remove }
    switch given {
    case "copy": return .copy
    case "custom": return .custom
    default: return item.text("migrationpolicyclassname") == nil ? .transform : .custom
    }
  }

  /// Which objects of the source are meant.
  private static func predicate(_ item: Item) throws(HeartwoodError) -> FormatPredicate? {
    var text = item.text("sourcefilterpredicatestring")
    let isGenerated = item.isGenerated == true
    if let data = item.text("sourceexpressiondata"), !isGenerated || text == nil {
      do {
        text =
          try ArchivedText.fetchedPredicate(try ArchivedText.archived(try Self.data(base64: data))) ?? text
      } catch {
        if isGenerated { return nil }
        throw HeartwoodError(
          .coreData,
          "\(item.title) selects its objects by an expression that is not understood: \(error.message); filter them by a predicate"
        )
      }
    }
    return try text.flatMap { (text) throws(HeartwoodError) in
      try FormatPredicate(selecting: text, in: item.title)
    }
  }

  private static func userInfo(_ item: Item) throws(HeartwoodError) -> [String: String] {
    guard let data = item.text("userinfodata") else { return [:] }
    do {
      return try ArchivedText.archived(try Self.data(base64: data)).texts ?? [:]
    } catch {
      throw HeartwoodError(
        .coreData, "\(item.title) has a user info that is not understood: \(error.message)")
    }
  }

  // MARK: Properties

  private mutating func property(
    _ item: Item, _ isRelationship: Bool, _ hasSource: Bool, _ owner: String
  ) -> PropertyMapping? {
    guard let name = item.text("name") else {
      mistake(item.line, "the mapping of a property has no name")
      return nil
    }
    if item.isGenerated == true,
      let text = item.text("valueexpression") ?? item.text("valueexpressionstring")
    {
      mistake(
        item.line,
        "the mapping \(owner) says that the value of \(name) is generated, and that it is \"\(text)\": set autogenerateexpression to 0, or remove the expression",
        property: name)
    }
    let mapping: PropertyMapping
    do {
      mapping = try propertyMapping(item, name, isRelationship, hasSource)
    } catch {
      let reason = (error as? HeartwoodError)?.message ?? "\(error)"
      mistake(
        item.line, "the mapping \(owner) has a value for \(name) that is not understood: \(reason)",
        property: name)
      return nil
    }
    mapping.userInfo = reading(item) { () throws(HeartwoodError) in try Self.userInfo(item) } ?? [:]
    return mapping
  }

  private func propertyMapping(
    _ item: Item, _ name: String, _ isRelationship: Bool, _ hasSource: Bool
  ) throws -> PropertyMapping {
    if let text = try expression(item) { return try PropertyMapping(name: name, valueExpression: text) }
    let path = hasSource ? item.text("sourcekeypath") : nil
    if isRelationship, hasSource, let through = item.text("sourcemappingname") {
      let objects = path.map(sourceExpression) ?? "$source.\(name)"
      return try PropertyMapping(
        name: name, valueExpression: Self.call(MappingFunction.destinations, through, objects))
    }
    guard let path else {
      let mapping = PropertyMapping(name: name)
      mapping.usesDefault = item.isGenerated == false
      mapping.allowsDefault = true
      return mapping
    }
    let text = sourceExpression(path)
    let property = text.dropFirst("$source.".count)
    if !property.isEmpty, property.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
      return PropertyMapping(name: name, from: String(property))
    }
    guard isRelationship else { return try PropertyMapping(name: name, valueExpression: text) }
    // As Core Data does where no mapping is named: what any of them has made.
    return try PropertyMapping(
      name: name, valueExpression: Self.call(MappingFunction.destinationsOfRelationship, name, text))
  }

  /// The text of a call of the manager's function.
  private static func call(_ function: String, _ name: String, _ objects: String) -> String {
    "FUNCTION($manager, \(Value.string(function).predicateText), \(Value.string(name).predicateText), \(objects))"
  }

  /// A path as Xcode's inspector has it, `$source.pets`, `$source` or, as written by hand, `pets`.
  private func sourceExpression(_ path: String) -> String {
    path.hasPrefix("$") ? path : "$source.\(path)"
  }

  /// The text of a value expression: one that was written by hand, or an archived one. Apple's tools compile an archived one also where the
  /// file says that the editor has generated it; if it is not understood, it is generated again.
  private func expression(_ item: Item) throws(HeartwoodError) -> String? {
    let isGenerated = item.isGenerated == true
    if !isGenerated, let text = item.text("valueexpression") ?? item.text("valueexpressionstring") {
      return text
    }
    guard let data = item.text("valueexpressiondata") else { return nil }
    do {
      return try ArchivedText.mappingExpression(try Self.data(base64: data))
    } catch {
      if isGenerated { return nil }
      throw error
    }
  }

  private static func data(base64 text: String) throws(HeartwoodError) -> Data {
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters), !data.isEmpty else {
      throw HeartwoodError(.coreData, "it is no data in Base64")
    }
    return data
  }

  // MARK: Notes

  mutating func note(_ line: Int, _ text: String) { notes.append("\(file), line \(line): \(text)") }

  mutating func mistake(_ line: Int, _ text: String, property: String? = nil) {
    mistakes.append(HeartwoodError(.coreData, "\(file), line \(line): \(text)", property: property))
  }
}

extension FormatPredicate {
  /// The predicate by which an entity mapping selects its objects; nil for one that selects all.
  ///
  /// - Parameter place: The mapping, for the message.
  init?(selecting text: String, in place: String) throws(HeartwoodError) {
    guard text.uppercased() != "TRUEPREDICATE" else { return nil }
    do {
      try self.init(text)
    } catch {
      throw HeartwoodError(.coreData, "\(place) selects objects by \"\(text)\": \(error.message)")
    }
  }
}
