import Foundation
import Heartwood

/// The rows that `fetch` shows if they are no objects: groups, aggregates, windows, computed columns.
struct FetchedRows {
  private let columns: [ExpressionDescription]
  /// The columns as they are written, in which `@id` and `@entity` are not yet paths of predicates.
  private let texts: [String]
  /// The columns that identify the groups; nil if there are no groups.
  private let groupColumns: [ExpressionDescription]?
  private let having: String?
  private let isDistinct: Bool

  /// Nil if the arguments are about objects.
  init?(_ arguments: ParsedArguments) throws(CommandFailure) {
    let groups = try arguments.list("group-by")
    having = arguments.value("having")
    isDistinct = arguments.has("distinct")
    let texts = try arguments.list("columns")
    guard groups != nil || having != nil || isDistinct || texts?.contains(where: Self.isComputed) == true
    else {
      return nil
    }
    guard let texts = texts ?? groups else {
      throw .usage("--\(having == nil ? "distinct" : "having") needs --columns")
    }
    self.texts = texts + (groups ?? [])
    columns = try Self.columns(texts)
    groupColumns = try groups.map(Self.columns)
  }

  private static func columns(_ texts: [String]) throws(CommandFailure) -> [ExpressionDescription] {
    var columns: [ExpressionDescription] = []
    for text in texts { columns.append(try column(text)) }
    return columns
  }

  /// Whether a column is a function or an aggregate, or has a name of its own: `@sum.area`, `total=@sum.area`.
  private static func isComputed(_ column: String) -> Bool {
    column.contains("=") || column.contains("(") || column.hasPrefix("@") && propertyPath(column) == nil
  }

  private static func nameAndExpression(_ text: String) -> (name: String, expression: String) {
    let parts = text.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    return (parts.first ?? text, parts.last ?? text)
  }

  /// A column as `name=expression`, or an expression that is its own name.
  private static func column(_ text: String) throws(CommandFailure) -> ExpressionDescription {
    let (name, expression) = nameAndExpression(text)
    do {
      if let path = propertyPath(expression) {
        return try ExpressionDescription(name: name, format: "%K", path)
      }
      // A name is one also if it is a word of the language of predicates.
      return try name != expression
        ? ExpressionDescription(name: name, format: expression) : name.fetchedColumn()
    } catch {
      let reason = error.message.replacing("the predicate is wrong", with: "it is wrong", maxReplacements: 1)
      throw .usage("the column \"\(text)\": \(reason)")
    }
  }

  /// The path that predicates have for `@id` and `@entity`, also of a related object; nil for other columns.
  static func propertyPath(_ column: String) -> String? {
    for (end, property) in [("@id", "objectID"), ("@entity", "entity.name")] {
      if column == end || column.hasSuffix(".\(end)") { return String(column.dropLast(end.count)) + property }
    }
    return nil
  }

  enum Shown {
    case rows(OutputFormat)
    case plan, analysis
  }

  func write(
    _ request: FetchRequest<ManagedObject>, sort: [any FetchSort], _ shown: Shown, in store: CommandStore,
    to console: any Console
  ) throws {
    request.propertiesToFetch = columns
    request.propertiesToGroupBy = groupColumns
    request.returnsDistinctResults = isDistinct
    request.sortDescriptors = sort
    do {
      if let having { request.havingPredicate = try FormatPredicate(having) }
      switch shown {
      case .rows(let format): try write(request, as: format, in: store, to: console)
      case .plan: try console.writeLine(store.context.plan(forDictionaries: request).description)
      case .analysis: try console.writeLine(store.context.analyze(dictionaries: request).description)
      }
    } catch let error as HeartwoodError where [.coreData, .invalidPredicate].contains(error.code) {
      // A wrong name or expression comes from the command line.
      throw CommandFailure.usage(asWritten(error.message))
    }
  }

  private static var placeInPredicate: Regex<Substring> { #/^the predicate is wrong(?: at column \d+)?: /# }

  /// A message with the names of the command line.
  private func asWritten(_ message: String) -> String {
    // The condition on objects is checked before, so that only one on groups is a predicate.
    let message = having == nil ? message.replacing(Self.placeInPredicate, with: "") : message
    return texts.reduce(GraphFailure.inOptions(message)) { message, text in
      let written = Self.nameAndExpression(text).expression
      return Self.propertyPath(written).map { message.replacing($0, with: written) } ?? message
    }
  }

  private func write(
    _ request: FetchRequest<ManagedObject>, as format: OutputFormat, in store: CommandStore,
    to console: any Console
  ) throws {
    var writer = ResultWriter(columns: columns.map(\.name), format: format, to: console)
    writer.noun = (one: "row", many: "rows")
    let entity = try store.entity(named: request.entityName ?? "")
    let composites = columns.map { $0.composite(from: entity) }
    try store.context.enumerateDictionaries(request) { row in
      try writer.add(
        zip(columns, composites).map { column, composite in
          var cell = cell(row[column.name], isName: Self.propertyPath(column.name) != nil)
          if let composite { cell.addNulls(at: composite.slot, of: composite.owner) }
          return cell
        })
      return true
    }
    try writer.finish()
  }

  /// - Parameter isName: Whether an identifier is the name of an object, as `@id` shows it, and no reference to it.
  private func cell(_ value: Any?, isName: Bool) -> CellValue {
    guard let id = value as? ManagedObjectID else { return CellValue(attribute: value) }
    return isName ? .text(ObjectName.text(id)) : .reference(ObjectName.text(id))
  }
}
