import HeartwoodArchives

/// The text of predicates and expressions that are in a keyed archive, in the language of `FormatPredicate`.
///
/// The archive has them as objects of Foundation's classes, which may refer to each other in any way: how deep and how many are read is limited.
package struct ArchivedText {
  /// How the object itself is written: `SELF`, or `$source` in expressions of mappings.
  let subject: String
  /// The name and the user info of the fetched property whose predicate is read, which `$FETCHED_PROPERTY` stands for.
  var fetchedProperty: (name: String, userInfo: [String: String])?
  private var depth = 0
  /// How many parts may be read yet; a long constant counts as several.
  package private(set) var left: Int

  static let deepest = 100

  /// - Parameter most: How many parts may be read.
  package init(subject: String = "SELF", most: Int = TreeSize.greatestCount) {
    self.subject = subject
    left = min(most, TreeSize.greatestCount)
  }

  /// The text of a predicate, as its parsed form is written.
  ///
  /// - Parameters:
  ///   - fetchedProperty: The name and the user info of the fetched property that it belongs to.
  ///   - budget: How many parts may be read of all of a model, as they may be the same ones again and again. Those that are read are taken off.
  /// - Throws: `.coreData` saying what of it is not understood.
  static func predicate(
    _ value: ArchivedValue, of fetchedProperty: (name: String, userInfo: [String: String])? = nil,
    budget: inout Int
  ) throws(HeartwoodError) -> String {
    // Other compilers of models write the text itself.
    if let text = value.string { return try FormatPredicate(text).description }
    var text = ArchivedText(most: budget)
    let most = text.left
    defer { budget -= most - text.left }
    text.fetchedProperty = fetchedProperty
    return try FormatPredicate(try text.predicate(value)).description
  }

  /// The text of an expression, as its parsed form is written.
  ///
  /// - Throws: `.coreData` saying what of it is not understood.
  static func expression(_ value: ArchivedValue, budget: inout Int) throws(HeartwoodError) -> String {
    if let text = value.string { return try FormatExpression(text).expression.description }
    var text = ArchivedText(most: budget)
    let most = text.left
    defer { budget -= most - text.left }
    return try FormatExpression(try text.expression(value)).expression.description
  }

  // MARK: Parts

  /// The object that a part is.
  package func object(_ value: ArchivedValue, _ purpose: String) throws(HeartwoodError) -> ArchivedObject {
    guard let object = value.object else {
      throw HeartwoodError(.coreData, "there is \(value.kind) where \(purpose) should be")
    }
    return object
  }

  mutating func within<Result>(
    _ body: (inout ArchivedText) throws(HeartwoodError) -> Result
  ) throws(HeartwoodError) -> Result {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else { throw HeartwoodError(.coreData, "it is nested too deep") }
    try take(1)
    return try body(&self)
  }

  /// Counts parts, or the length of a text in parts.
  mutating func take(_ parts: Int) throws(HeartwoodError) {
    guard parts <= left else { throw HeartwoodError(.coreData, "it has too many parts") }
    left -= parts
  }

  mutating func list(_ list: ArchivedList) throws(HeartwoodError) -> [String] {
    var texts: [String] = []
    for value in try reading({ () throws(ArchiveError) in try list.values() }) {
      texts.append(try expression(value))
    }
    return texts
  }

  /// Reads a part of the archive, and throws its errors as those of the model.
  package func reading<Result>(_ body: () throws(ArchiveError) -> Result) throws(HeartwoodError) -> Result {
    do throws(ArchiveError) {
      return try body()
    } catch {
      throw HeartwoodError(.coreData, "\(error)")
    }
  }

  package func value(_ key: String, of object: ArchivedObject) throws(HeartwoodError) -> ArchivedValue {
    try reading { () throws(ArchiveError) in try object.value(key) }
  }

  package func string(_ key: String, of object: ArchivedObject) throws(HeartwoodError) -> String {
    guard let text = try value(key, of: object).string else {
      throw HeartwoodError(.coreData, "an \(object.className) has no \(key)")
    }
    return text
  }

  /// The fields that are objects of a class, whatever their keys.
  func fields(kindOf name: String, of object: ArchivedObject) throws(HeartwoodError) -> [ArchivedObject] {
    var found: [ArchivedObject] = []
    for key in object.keys {
      if let field = try value(key, of: object).object, field.isKind(of: name) { found.append(field) }
    }
    return found
  }
}
