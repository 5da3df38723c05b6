import Foundation
import Heartwood

/// A list that `heartwood table` shows, and the place in it.
struct TableList: Equatable {
  enum Content: Equatable {
    /// The entities of the store, with their counts.
    case entities
    case objects(of: String)
    /// The destinations of a to-many relationship of an object.
    case destinations(of: String, relationship: String)
    /// The properties of an object.
    case object(String)
  }

  let content: Content
  /// The condition of a list of objects.
  var condition: String?
  /// The sort order of a list of objects: a name, with a minus sign before one that descends.
  var sort: String?
  /// The row and the column of the cursor, and the first row on the screen.
  var row = 0
  var column = 0
  var top = 0

  init(_ content: Content) { self.content = content }

  /// Whether it can be filtered and sorted.
  var isQuery: Bool {
    if case .objects = content { true } else { false }
  }
}

/// The rows of a list that fit on the screen.
struct TablePage {
  struct Cell {
    let text: String
    /// The list to which it leads; nil for the one to which its row leads.
    var target: TableList.Content?
  }

  struct Row {
    let cells: [Cell]
    /// Nil for a row that leads nowhere.
    let target: TableList.Content?
  }

  struct Column {
    let name: String
    var isNumber = false
    var isSortable = false
  }

  let title: String
  let columns: [Column]
  let rows: [Row]
  /// The number of rows of the whole list.
  let total: Int
}

/// Reads the lists of a store, each in the newest generation or the one of the command line.
struct TableSource {
  let store: BrowsedStore
  private let served: ServedStore

  init(store: BrowsedStore) { (self.store, served) = (store, ServedStore(store)) }

  /// Why what is read is not of the store at the path any more, as a phrase; nil if it is.
  var absence: String? { served.present.absence }

  /// - Parameters:
  ///   - first: The place of the first row in the list.
  ///   - most: The number of rows that fit.
  /// - Throws: If a condition, a name or an object is wrong, or the store can't be read.
  func page(_ list: TableList, from first: Int, most: Int) throws(CommandFailure) -> TablePage {
    switch list.content {
    case .entities: try entities(first, most)
    case .objects(let entity): try objects(of: entity, list, first, most)
    case .destinations(let object, let relationship): try destinations(object, relationship, first, most)
    case .object(let name): try properties(of: name, first, most)
    }
  }

  private func entities(_ first: Int, _ most: Int) throws(CommandFailure) -> TablePage {
    let counts = try store.objectCounts()
    let rows = store.model.entities.map { entity in
      TablePage.Row(
        cells: [
          TablePage.Cell(text: entity.name),
          TablePage.Cell(text: "\(store.count(of: entity.name, in: counts))"),
        ], target: .objects(of: entity.name))
    }
    return TablePage(
      title: CommandStore.url(store.path).lastPathComponent,
      columns: [TablePage.Column(name: "entity"), TablePage.Column(name: "objects", isNumber: true)],
      rows: Array(rows.dropFirst(first).prefix(most)), total: rows.count)
  }

  private func objects(
    of entity: String, _ list: TableList, _ first: Int, _ most: Int
  ) throws(CommandFailure) -> TablePage {
    var query = ["entity": entity]
    query["where"] = list.condition
    query["sort"] = list.sort
    let wanted = try RowsRequest(PageQuery(query))
    let columns = PageColumns(of: entity, in: store.model)
    return try store.reading { reader in
      let total = try reader.context.count(for: wanted.fetch(in: reader))
      let request = try wanted.fetch(in: reader)
      (request.fetchOffset, request.fetchLimit) = (first, most)
      request.relationshipKeyPathsForPrefetching = columns.references
      let found = try reader.context.fetch(request)
      return TablePage(
        title: entity, columns: Self.heads(columns), rows: try found.map { try Self.row($0, columns) },
        total: total)
    }
  }

  private func destinations(
    _ name: String, _ relationship: String, _ first: Int, _ most: Int
  ) throws(CommandFailure) -> TablePage {
    try store.reading { reader in
      let object = try Selection.object(named: name, in: reader)
      let property = object.entity.relationshipsByName[relationship]
      let columns = PageColumns(of: property?.destinationEntity?.name ?? "", in: store.model)
      let all = Related.objects(object, relationship, isOrdered: property?.isOrdered == true)
      let rows = try all.dropFirst(first).prefix(most).map { try Self.row($0, columns) }
      return TablePage(
        title: "\(Self.name(object)): \(relationship)", columns: Self.heads(columns), rows: rows,
        total: all.count)
    }
  }

  private func properties(of name: String, _ first: Int, _ most: Int) throws(CommandFailure) -> TablePage {
    try store.reading { reader in
      let object = try Selection.object(named: name, in: reader)
      let lineage = store.model.lineage(of: object.entity.name ?? "")
      var rows = try PageColumns.attributes(of: lineage).map { column in
        TablePage.Row(
          cells: [TablePage.Cell(text: column.name), try Self.cell(column, of: object)], target: nil)
      }
      for relationship in lineage.reversed().flatMap(\.relationships) {
        let all = Related.objects(object, relationship.name, isOrdered: relationship.isOrdered)
        let text = relationship.isToMany ? "\(all.count) \(relationship.destination)" : nil
        let target: TableList.Content? =
          relationship.isToMany
          ? .destinations(of: name, relationship: relationship.name)
          : all.first.map { .object(ObjectName.text($0.objectID)) }
        rows.append(
          TablePage.Row(
            cells: [
              TablePage.Cell(text: relationship.name),
              TablePage.Cell(text: text ?? all.first.map(Self.name) ?? CellValue.null.display),
            ], target: target))
      }
      return TablePage(
        title: Self.name(object),
        columns: [TablePage.Column(name: "property"), TablePage.Column(name: "value")],
        rows: Array(rows.dropFirst(first).prefix(most)), total: rows.count)
    }
  }

  // MARK: Rows

  private static func heads(_ columns: PageColumns) -> [TablePage.Column] {
    columns.columns.map {
      TablePage.Column(
        name: $0.name, isNumber: numbers.contains($0.type), isSortable: $0.isSortable)
    }
  }

  private static let numbers = Set(
    [DocumentType.integer16, .integer32, .integer64, .double, .float, .decimal].map(\.rawValue))

  private static func row(_ object: ManagedObject, _ columns: PageColumns) throws -> TablePage.Row {
    TablePage.Row(
      cells: try columns.columns.map { try cell($0, of: object) },
      target: .object(ObjectName.text(object.objectID)))
  }

  private static func cell(
    _ column: PageColumns.Column, of object: ManagedObject
  ) throws -> TablePage.Cell {
    switch column.content {
    case .attribute: return TablePage.Cell(text: shown(CellValue(column.name, of: object).display))
    case .outside:
      let count = try object.dataCount(forKey: column.name)
      return TablePage.Cell(text: count.map { "\($0) bytes" } ?? CellValue.null.display)
    case .toOne:
      guard let target = Related.objects(object, column.name, isOrdered: true).first else {
        return TablePage.Cell(text: CellValue.null.display)
      }
      return TablePage.Cell(text: name(target), target: .object(ObjectName.text(target.objectID)))
    }
  }

  /// An object by its label, or otherwise by its number.
  private static func name(_ object: ManagedObject) -> String {
    ObjectName.label(object).map { shown($0.showingBlanks) } ?? ObjectName.text(object.objectID)
  }

  /// A text without more than a terminal has room for, as each key shows all cells again.
  private static func shown(_ text: String) -> String {
    let beginning = text.utf8.count > longest ? PageCell.beginning(of: text, longest) : text[...]
    return String(beginning).escapingControls + (beginning.endIndex < text.endIndex ? "\u{2026}" : "")
  }

  /// In characters.
  private static let longest = 1000
}
