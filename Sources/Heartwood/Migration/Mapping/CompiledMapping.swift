import Foundation
import HeartwoodArchives

/// A mapping model that Apple's tools have compiled: a `.cdm` file, a keyed archive of an `NSMappingModel`.
///
/// Its version hashes are those of Core Data, which models here do not have: a mapping is about the entities that it names.
struct CompiledMapping {
  private let file: String
  private let mappings: [ArchivedObject]
  private let count: Int

  /// - Parameters:
  ///   - data: The file.
  ///   - file: Its name in messages.
  /// - Throws: `.coreData` if it is no compiled mapping model.
  init(_ data: Data, file: String) throws(HeartwoodError) {
    self.file = file
    do throws(ArchiveError) {
      let archive = try KeyedArchive(data)
      let root = try archive.root
      count = archive.count
      guard let model = root.object, model.isKind(of: "NSMappingModel") else {
        throw ArchiveError("it has \(root.kind) in place of a mapping model")
      }
      var mappings: [ArchivedObject] = []
      for value in try model.list("NSEntityMappings")?.values() ?? [] {
        guard let mapping = value.object else { throw ArchiveError("a mapping is \(value.kind)") }
        mappings.append(mapping)
      }
      self.mappings = mappings
    } catch {
      throw HeartwoodError(
        .coreData, "\(file) is no mapping model that Apple's tools have compiled: \(error)", underlying: error
      )
    }
  }

  /// Whether data is a compiled mapping model, by a glance.
  static func isLikely(_ data: Data) -> Bool {
    KeyedArchive.isLikely(data) && data.range(of: Data("NSMappingModel".utf8)) != nil
  }

  /// - Parameter policy: Gives the policy for the name of its class.
  /// - Throws: `.coreData` naming the mapping and the property that cannot be read, or the policy that is not given.
  func entityMappings(
    _ policy: (String) -> EntityMigrationPolicy?
  ) throws(HeartwoodError) -> [EntityMapping] {
    var made: [EntityMapping] = []
    // Mappings may have the same properties and expressions again and again.
    guard mappings.count <= count else { throw endless }
    var (left, parts) = (4 * count + 1000, 64 * count + 10_000)
    for object in mappings {
      do throws(ArchiveError) {
        made.append(try entityMapping(object))
      } catch {
        throw HeartwoodError(
          .coreData, "\(file) is no mapping model that Apple's tools have compiled: \(error)",
          underlying: error)
      }
      let mapping = made[made.count - 1]
      let place = "\(file): the mapping \(mapping.name)"
      mapping.sourcePredicate = try predicate(object, place)
      if let name = mapping.policyName {
        guard let given = policy(name) else {
          throw HeartwoodError(.coreData, "\(place) has the policy \(name), which is not given")
        }
        mapping.policy = given
      }
      let hasSource = mapping.sourceEntityName != nil
      mapping.attributeMappings = try properties(
        "NSAttributeMappings", of: object, hasSource, place, &left, &parts)
      mapping.relationshipMappings = try properties(
        "NSRelationshipMappings", of: object, hasSource, place, &left, &parts)
    }
    return made
  }

  private var endless: HeartwoodError {
    HeartwoodError(
      .coreData,
      "\(file) is no mapping model that Apple's tools have compiled: it has the same mappings without end")
  }

  private func entityMapping(_ object: ArchivedObject) throws(ArchiveError) -> EntityMapping {
    let (source, destination) = (
      try text("NSSourceEntityName", of: object), try text("NSDestinationEntityName", of: object)
    )
    guard source != nil || destination != nil else {
      throw ArchiveError("a mapping has neither a source nor a destination")
    }
    let policy = try text("NSEntityMigrationPolicyClassName", of: object)
    let given = EntityMapping.MappingType(rawValue: Int(clamping: try object.integer("NSMappingType") ?? 0))
    var type = given ?? .undefined
    if source == nil { type = .add }
    if destination == nil { type = .remove }
    if type == .undefined { type = policy == nil ? .transform : .custom }
    let mapping = EntityMapping(from: source, to: destination, type: type)
    if let name = try text("NSMappingName", of: object) { mapping.name = name }
    // As Core Data has it where there is none.
    mapping.policyName = policy == "NSEntityMigrationPolicy" ? nil : policy
    mapping.userInfo = try userInfo(object)
    return mapping
  }

  private func text(_ key: String, of object: ArchivedObject) throws(ArchiveError) -> String? {
    try object.string(key).flatMap { $0.isEmpty ? nil : $0 }
  }

  private func userInfo(_ object: ArchivedObject) throws(ArchiveError) -> [String: String] {
    try object.value("NSUserInfo").texts ?? [:]
  }

  /// Which objects of the source are meant.
  private func predicate(
    _ object: ArchivedObject, _ place: String
  ) throws(HeartwoodError) -> FormatPredicate? {
    let text: String?
    do {
      let expression = try object.value("NSSourceExpression")
      text = expression.isNull ? nil : try ArchivedText.fetchedPredicate(expression)
    } catch {
      throw HeartwoodError(
        .coreData,
        "\(place) selects its objects by an expression that is not understood: \(Self.reason(error)); filter them by a predicate"
      )
    }
    return try text.flatMap { (text) throws(HeartwoodError) in try FormatPredicate(selecting: text, in: place)
    }
  }

  private static func reason(_ error: any Error) -> String {
    (error as? HeartwoodError)?.message ?? "\(error)"
  }

  // MARK: Properties

  private func properties(
    _ key: String, of object: ArchivedObject, _ hasSource: Bool, _ place: String, _ left: inout Int,
    _ parts: inout Int
  ) throws(HeartwoodError) -> [PropertyMapping] {
    var made: [PropertyMapping] = []
    do throws(ArchiveError) {
      let list = try object.list(key)
      left -= list?.count ?? 0
      guard left > 0 else { throw ArchiveError("its mappings have the same properties without end") }
      for value in try list?.values() ?? [] {
        guard let mapping = value.object, let name = try mapping.string("NSDestinationPropertyName") else {
          throw ArchiveError("a mapping of a property has no name")
        }
        let property = PropertyMapping(name: name)
        property.userInfo = try userInfo(mapping)
        made.append(property)
      }
    } catch {
      throw HeartwoodError(.coreData, "\(place) cannot be read: \(error)", underlying: error)
    }
    for (number, property) in made.enumerated() {
      do {
        guard let mapping = try object.list(key)?.value(at: number).object else { continue }
        try setValue(of: property, try mapping.value("NSValueExpression"), hasSource, &parts)
      } catch {
        throw HeartwoodError(
          .coreData,
          "\(place) has a value for \(property.name) that is not understood: \(Self.reason(error))",
          property: property.name)
      }
    }
    return made
  }

  /// A property without an expression has its default.
  private func setValue(
    of property: PropertyMapping, _ expression: ArchivedValue, _ hasSource: Bool, _ parts: inout Int
  ) throws {
    guard !expression.isNull else {
      property.usesDefault = true
      return
    }
    var reader = ArchivedText(subject: "$source", most: parts)
    let most = reader.left
    defer { parts -= most - reader.left }
    let text = try reader.expression(expression)
    let path = text.hasPrefix("$source.") ? text.dropFirst("$source.".count) : ""
    if hasSource, !path.isEmpty, path.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
      property.sourceName = String(path)
    } else {
      try property.setExpression(text)
    }
  }
}

extension ArchivedValue {
  /// The entries of a dictionary of texts; nil if it is none.
  var texts: [String: String]? {
    guard let entries = try? dictionary?.byName() else { return nil }
    var texts: [String: String] = [:]
    for (name, value) in entries {
      guard let text = value.string else { return nil }
      texts[name] = text
    }
    return texts
  }
}

extension ArchivedText {
  /// Reads the archived value.
  static func archived(_ data: Data) throws(HeartwoodError) -> ArchivedValue {
    do throws(ArchiveError) {
      return try KeyedArchive(data).root
    } catch {
      throw HeartwoodError(.coreData, "it is no keyed archive: \(error)", underlying: error)
    }
  }

  /// The text for `MappingExpression` of an expression that is an archive of its own.
  static func mappingExpression(_ data: Data) throws(HeartwoodError) -> String {
    var text = ArchivedText(subject: "$source")
    return try text.expression(try archived(data))
  }

  /// The predicate of a fetch that Xcode makes: of the objects of an entity that satisfy it.
  ///
  /// - Throws: `.coreData` if it is another expression.
  static func fetchedPredicate(_ value: ArchivedValue) throws(HeartwoodError) -> String? {
    let text = ArchivedText()
    var object = try text.object(value, "an expression")
    if object.className == "NSFetchRequestExpression" {
      let keys = ["NSFRExpression", "NSFetchRequest", "NSRequestExpression", "NSFetch"]
      guard let key = keys.first(where: { object.has($0) }) else {
        throw HeartwoodError(.coreData, "an NSFetchRequestExpression has no request")
      }
      object = try text.object(try text.value(key, of: object), "a request")
    }
    guard object.has("NSSelectorName"),
      try text.string("NSSelectorName", of: object) == "fetchRequestForSourceEntityNamed:predicateString:",
      let arguments = try text.value("NSArguments", of: object).list, arguments.count == 2
    else { throw HeartwoodError(.coreData, "an \(object.className) is not what Xcode makes") }
    let predicate = try text.reading { () throws(ArchiveError) in try arguments.value(at: 1) }
    return try text.value("NSConstantValue", of: try text.object(predicate, "a predicate")).string
  }
}
