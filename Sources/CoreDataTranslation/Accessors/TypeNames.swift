import SwiftTokens

/// The types that names in sources stand for.
struct TypeNames {
  struct Declared {
    let type: NominalType
    /// The file of a type that is private to it, by its name without the folder.
    var privateFile: String?
    var isGeneric = false
  }

  /// By path with dots, the types of the target and its dependencies.
  private var declared: [String: Declared] = [:]
  private var aliases: [String: [Token]] = [:]
  private let known: [String: NominalType]

  init() {
    var known: [String: NominalType] = [:]
    for (module, names) in TypeHomes.table {
      let all = Dictionary(
        names.split(whereSeparator: \.isWhitespace).map {
          (String($0.dropFirst()), NominalType.Kind(rawValue: String($0.first ?? "V")) ?? .structure)
        },
        uniquingKeysWith: { first, _ in first })
      for name in all.keys {
        let parts = name.split(separator: ".").map(String.init)
        let path = parts.indices.map { index in
          (name: parts[index], kind: all[parts[0...index].joined(separator: ".")] ?? .structure)
        }
        if known[name] == nil { known[name] = NominalType(module: module, path: path) }
      }
    }
    known["NSManagedObject"] = NominalType(module: "CoreData", path: [("NSManagedObject", .class)])
    known["NSManagedObjectID"] = NominalType(
      module: "HeartwoodModel", path: [("ManagedObjectID", .structure)])
    known["NSManagedObjectContext"] = NominalType(
      module: "Heartwood", path: [("ManagedObjectContext", .class)])
    self.known = known
  }

  mutating func declare(_ type: NominalType, privateFile: String?, isGeneric: Bool) {
    declared[type.path.map(\.name).joined(separator: ".")] = Declared(
      type: type, privateFile: privateFile, isGeneric: isGeneric)
  }

  mutating func alias(_ path: String, _ tokens: [Token]) { aliases[path] = tokens }

  enum Found {
    case type(Declared)
    case alias([Token])
  }

  /// The type that a name stands for within a type.
  func find(_ path: [String], within context: [String]) -> Found? {
    var scope = context
    while true {
      let name = (scope + path).joined(separator: ".")
      if let type = declared[name] { return .type(type) }
      if let alias = aliases[name] { return .alias(alias) }
      guard !scope.isEmpty else { break }
      scope.removeLast()
    }
    if let type = known[path.joined(separator: ".")] { return .type(Declared(type: type)) }
    // With its module before it.
    if path.count > 1 {
      let rest = path.dropFirst().joined(separator: ".")
      if let type = declared[rest], type.type.module == path[0] { return .type(type) }
      if let type = known[rest], ["Swift", "Foundation", "CoreData"].contains(path[0]) {
        return .type(Declared(type: type))
      }
    }
    return nil
  }
}

/// Reads types from tokens.
struct TypeReader {
  let names: TypeNames
  let context: [String]
  private var tokens: ArraySlice<Token>

  struct Unknown: Error { let name: String }

  init(_ tokens: [Token], names: TypeNames, context: [String]) {
    self.names = names
    self.context = context
    self.tokens = tokens[...]
  }

  static func read(_ tokens: [Token], names: TypeNames, context: [String]) throws -> SwiftType {
    var reader = TypeReader(tokens, names: names, context: context)
    let type = try reader.whole()
    guard reader.tokens.isEmpty else { throw Unknown(name: reader.tokens.map(\.text).joined(separator: " ")) }
    return type
  }

  private func sees(_ text: String) -> Bool { tokens.first?.is(text) == true }

  private mutating func takes(_ text: String) -> Bool {
    guard sees(text) else { return false }
    tokens.removeFirst()
    return true
  }

  private mutating func whole() throws -> SwiftType {
    var traits = FunctionTraits()
    while takes("@") {
      if sees("Sendable") { traits.isSendable = true }
      if let name = tokens.popFirst()?.text, !["Sendable", "escaping", "autoclosure"].contains(name) {
        throw Unknown(name: "@" + name)
      }
    }
    let start = tokens
    guard takes("(") else { return try composition() }
    let parameters = try parts()
    while sees("async") || sees("throws") {
      if sees("async") { traits.isAsync = true } else { traits.throwsErrors = true }
      tokens.removeFirst()
    }
    guard takes("->") else {
      tokens = start
      return try composition()
    }
    return .function(parameters.map(\.type), try whole(), traits)
  }

  private mutating func composition() throws -> SwiftType {
    _ = takes("any")
    var type = try postfix()
    while takes("&") {
      let other = try postfix()
      guard case .existential(let left, let isClass) = type, case .existential(let right, let isOther) = other
      else {
        throw Unknown(name: "&")
      }
      type = .existential(
        (left + right).sorted { ($0.module, $0.key) < ($1.module, $1.key) }, isClass: isClass || isOther)
    }
    return type
  }

  private mutating func postfix() throws -> SwiftType {
    var type = try simple()
    while true {
      if takes("?") || takes("!") {
        type = .optional(type)
      } else if sees("."),
        tokens.dropFirst().first?.is("Type") == true || tokens.dropFirst().first?.is("Protocol") == true
      {
        tokens = tokens.dropFirst(2)
        type = .metatype(type)
      } else {
        return type
      }
    }
  }

  private mutating func simple() throws -> SwiftType {
    if takes("(") { return try tuple() }
    if takes("[") {
      let element = try whole()
      if takes(":") {
        let value = try whole()
        _ = takes("]")
        return .nominal(Self.swift("Dictionary"), [element, value])
      }
      _ = takes("]")
      return .nominal(Self.swift("Array"), [element])
    }
    guard let first = tokens.popFirst(), first.kind == .word else {
      throw Unknown(name: tokens.first?.text ?? "nothing")
    }
    var path = [first.text]
    while sees("."), let next = tokens.dropFirst().first, next.kind == .word, !next.is("Type"),
      !next.is("Protocol")
    {
      tokens = tokens.dropFirst(2)
      path.append(next.text)
    }
    var arguments: [SwiftType] = []
    if takes("<") {
      repeat { arguments.append(try whole()) } while takes(",")
      guard takes(">") else { throw Unknown(name: path.joined(separator: ".")) }
    }
    return try named(path, arguments)
  }

  private mutating func tuple() throws -> SwiftType {
    let parts = try parts()
    if parts.count == 1, parts[0].label == nil { return parts[0].type }
    return .tuple(parts)
  }

  /// Reads the parts in parentheses, the first of which was read.
  private mutating func parts() throws -> [(label: String?, type: SwiftType)] {
    var parts: [(label: String?, type: SwiftType)] = []
    while !sees(")"), !tokens.isEmpty {
      var label: String?
      if let name = tokens.first, name.kind == .word, tokens.dropFirst().first?.is(":") == true {
        label = name.text == "_" ? nil : name.text
        tokens = tokens.dropFirst(2)
      } else if tokens.first?.is("_") == true, tokens.dropFirst().first?.kind == .word,
        tokens.dropFirst(2).first?.is(":") == true
      {
        tokens = tokens.dropFirst(3)
      }
      parts.append((label, try whole()))
      _ = takes(",")
    }
    _ = takes(")")
    return parts
  }

  private func named(_ path: [String], _ arguments: [SwiftType]) throws -> SwiftType {
    let name = path.joined(separator: ".")
    switch name {
    case "Any": return .existential([], isClass: false)
    case "AnyObject": return .existential([], isClass: true)
    case "Void": return .tuple([])
    case "TimeInterval": return .nominal(Self.swift("Double"), [])
    case "NSRange": return .nominal(NominalType(module: "Foundation", path: [("_NSRange", .structure)]), [])
    case "Swift.Optional", "Optional": if let wrapped = arguments.first { return .optional(wrapped) }
    default: break
    }
    switch names.find(path, within: context) {
    case .alias(let tokens)? where arguments.isEmpty:
      return try TypeReader.read(tokens, names: names, context: context)
    case .type(let found)?:
      guard found.privateFile == nil else { throw Unknown(name: "\(name), which is private to its file") }
      if found.type.path.last?.kind == .protocol { return .existential([found.type], isClass: false) }
      return .nominal(found.type, arguments)
    default: throw Unknown(name: name)
    }
  }

  private static func swift(_ name: String) -> NominalType {
    NominalType(module: "Swift", path: [(name, .structure)])
  }
}
