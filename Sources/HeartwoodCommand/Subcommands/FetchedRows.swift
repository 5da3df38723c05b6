import Foundation
import Heartwood

/// What `fetch` shows if its rows are no objects: groups, aggregates, computed columns.
struct FetchedRows {
  private let columns: [ExpressionDescription]
  private let groups: [String]?
  private let having: String?
  private let isDistinct: Bool

  /// Nil if the arguments are about objects.
  init?(_ arguments: ParsedArguments) throws(CommandFailure) {
    groups = try arguments.list("group-by")
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
    var columns: [ExpressionDescription] = []
    for text in texts { columns.append(try Self.column(text)) }
    self.columns = columns
  }

  /// Whether a column is a function or an aggregate, or has a name of its own: `@sum.area`, `total=@sum.area`.
  private static func isComputed(_ column: String) -> Bool {
    column.contains("=") || column.contains("(")
      || column.hasPrefix("@") && column != "@id" && column != "@entity"
  }

  /// A column as `name=expression`, or an expression that is its own name.
  private static func column(_ text: String) throws(CommandFailure) -> ExpressionDescription {
    let parts = text.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    do {
      return try ExpressionDescription(name: parts[0], format: parts.count > 1 ? parts[1] : text)
    } catch {
      throw .usage("the column \"\(text)\": \(error.message)")
    }
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
    request.propertiesToGroupBy = groups
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
      throw CommandFailure.usage(error.message)
    }
  }

  private func write(
    _ request: FetchRequest<ManagedObject>, as format: OutputFormat, in store: CommandStore,
    to console: any Console
  ) throws {
    var writer = ResultWriter(columns: columns.map(\.name), format: format, to: console)
    writer.noun = (one: "row", many: "rows")
    try store.context.enumerateDictionaries(request) { row in
      try writer.add(columns.map { cell(row[$0.name]) })
      return true
    }
    try writer.finish()
  }

  private func cell(_ value: Any?) -> CellValue {
    if let id = value as? ManagedObjectID { return .reference("\(id.entity.name ?? "")/p\(id.key)") }
    return CellValue(attribute: value)
  }
}
