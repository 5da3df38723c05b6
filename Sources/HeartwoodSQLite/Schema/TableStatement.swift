/// A `CREATE TABLE` statement, parsed as far as a reader needs it. What it does not know is passed over.
struct TableStatement {
  struct Column {
    var name: String
    var type = ""
    var defaultTokens: [SQLTokens.Token] = []
    var isNotNull = false
    var collation = "BINARY"
    var isGenerated = false
    var isVirtual = false
  }

  /// A column of a key.
  struct KeyColumn: Equatable {
    var name: String?
    var collation: String?
    var isDescending = false
  }

  /// A `PRIMARY KEY` or `UNIQUE`, in the order of the text.
  struct Key {
    var columns: [KeyColumn]
    var isPrimary: Bool
    /// `INTEGER PRIMARY KEY DESC` of one column is no rowid, by a mistake of early versions that was kept.
    var isDescendingColumn = false
  }

  var columns: [Column] = []
  var keys: [Key] = []
  var isWithoutRowid = false
  var isStrict = false
  private var parser: SQLParser

  /// Nil if this is no such statement, such as that of a virtual table.
  init?(_ sql: String) {
    parser = SQLParser(sql)
    guard parser.take("create") else { return nil }
    _ = parser.take("temp") || parser.take("temporary")
    guard parser.take("table") else { return nil }
    _ = parser.take("if", "not", "exists")
    guard parser.name() != nil else { return nil }
    if parser.take(symbol: ".") { _ = parser.name() }
    guard parser.take(symbol: "(") else { return nil }
    while let token = parser.current, token != .symbol(")") {
      if isAtConstraint {
        parseConstraint()
      } else if token == .symbol(",") {
        parser.skip()
      } else {
        guard let name = parser.name() else { return nil }
        parseColumn(name)
      }
    }
    guard parser.take(symbol: ")"), !columns.isEmpty else { return nil }
    while parser.current != nil {
      if parser.take("without", "rowid") {
        isWithoutRowid = true
      } else if parser.take("strict") {
        isStrict = true
      } else {
        parser.skip()
      }
    }
  }

  private var isAtConstraint: Bool {
    ["constraint", "primary", "unique", "check", "foreign"].contains { parser.isAt($0) }
  }

  private mutating func parseColumn(_ name: String) {
    var column = Column(name: name)
    column.type = type()
    while let token = parser.current, token != .symbol(","), token != .symbol(")") {
      if parser.take("constraint") {
        _ = parser.name()
      } else if parser.take("primary", "key") {
        let isDescending = parser.take("desc")
        keys.append(Key(columns: [KeyColumn(name: name)], isPrimary: true, isDescendingColumn: isDescending))
        if isDescending { keys[keys.count - 1].columns[0].isDescending = true }
      } else if parser.take("unique") {
        keys.append(Key(columns: [KeyColumn(name: name)], isPrimary: false))
      } else if parser.take("not", "null") {
        column.isNotNull = true
      } else if parser.take("default") {
        column.defaultTokens = defaultTokens()
      } else if parser.take("collate") {
        column.collation = parser.name() ?? column.collation
      } else if parser.isAt("as"), parser.isAt(symbol: "(", ahead: 1) {
        parser.skip()
        parser.skipGroup()
        column.isGenerated = true
        column.isVirtual = !parser.take("stored")
      } else if parser.take("references") {
        _ = parser.name()
      } else {
        parser.skipGroup()
      }
    }
    columns.append(column)
  }

  /// The words of a declared type, and the numbers in parentheses behind them.
  private mutating func type() -> String {
    var words: [String] = []
    let ends = [
      "constraint", "primary", "not", "null", "unique", "check", "default", "collate", "references", "as",
      "on",
    ]
    while true {
      if parser.isAt("generated"), parser.isAt("always", ahead: 1) { break }
      if ends.contains(where: { parser.isAt($0) }) { break }
      guard let word = parser.name() else { break }
      words.append(word)
    }
    var type = words.joined(separator: " ")
    if !words.isEmpty, parser.isAt(symbol: "(") {
      let arguments = parser.skipGroup().map { token in
        switch token {
        case .number(let text), .word(let text), .name(let text), .string(let text), .blob(let text): text
        case .symbol(let symbol): symbol == "," ? ", " : String(symbol)
        }
      }
      type += "(" + arguments.joined() + ")"
    }
    return type
  }

  private mutating func defaultTokens() -> [SQLTokens.Token] {
    var tokens: [SQLTokens.Token] = []
    while parser.isAt(symbol: "-") || parser.isAt(symbol: "+") {
      tokens.append(parser.current!)
      parser.skip()
    }
    if parser.isAt(symbol: "(") { return tokens + [.symbol("(")] + parser.skipGroup() + [.symbol(")")] }
    if let token = parser.current, token != .symbol(","), token != .symbol(")") {
      tokens.append(token)
      parser.skip()
    }
    return tokens
  }

  private mutating func parseConstraint() {
    if parser.take("constraint") {
      _ = parser.name()
    } else if parser.take("primary") {
      _ = parser.take("key")
      keys.append(Key(columns: IndexStatement.keyColumns(&parser), isPrimary: true))
    } else if parser.take("unique") {
      keys.append(Key(columns: IndexStatement.keyColumns(&parser), isPrimary: false))
    } else {
      parser.skip()
    }
    // Tokens that belong to the constraint and are not needed, up to the next one; commas between them are
    // optional.
    while let token = parser.current, token != .symbol(","), token != .symbol(")"), !isAtConstraint {
      parser.skipGroup()
    }
  }
}

/// A `CREATE INDEX` statement.
struct IndexStatement {
  var isUnique = false
  var isPartial = false
  var columns: [TableStatement.KeyColumn] = []

  /// Nil if this is no such statement.
  init?(_ sql: String) {
    var parser = SQLParser(sql)
    guard parser.take("create") else { return nil }
    isUnique = parser.take("unique")
    guard parser.take("index") else { return nil }
    _ = parser.take("if", "not", "exists")
    guard parser.name() != nil else { return nil }
    if parser.take(symbol: ".") { _ = parser.name() }
    guard parser.take("on"), parser.name() != nil, parser.isAt(symbol: "(") else { return nil }
    columns = Self.keyColumns(&parser)
    isPartial = parser.take("where")
  }

  /// Passes a list of columns in parentheses.
  static func keyColumns(_ parser: inout SQLParser) -> [TableStatement.KeyColumn] {
    guard parser.take(symbol: "(") else { return [] }
    var columns: [TableStatement.KeyColumn] = []
    while let token = parser.current, token != .symbol(")") {
      if token == .symbol(",") {
        parser.skip()
        continue
      }
      var column = TableStatement.KeyColumn(name: parser.name())
      while let token = parser.current, token != .symbol(","), token != .symbol(")") {
        if parser.take("collate") {
          column.collation = parser.name()
        } else if parser.take("desc") {
          column.isDescending = true
        } else if !parser.take("asc") {
          // An expression; the words of a key's conflict clause do not occur within the parentheses.
          if !parser.isAt("autoincrement") { column.name = nil }
          parser.skipGroup()
        }
      }
      columns.append(column)
    }
    _ = parser.take(symbol: ")")
    return columns
  }
}
