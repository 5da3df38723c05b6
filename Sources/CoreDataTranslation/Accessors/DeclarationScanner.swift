import SwiftTokens

/// Finds the types of a source, and what it marks with `@NSManaged`.
struct DeclarationScanner {
  struct TypeFound {
    let path: [(name: String, kind: NominalType.Kind)]
    let isPrivate: Bool
    let isGeneric: Bool
    let file: String
  }

  enum Access {
    case `private`
    case `internal`
    case `public`
  }

  enum Kind {
    case property([Token])
    case method([(label: String, type: [Token])], selector: String?)
  }

  struct Member {
    let owner: [String]
    let name: String
    let access: Access
    let kind: Kind
    let line: Int
  }

  private let file: String
  private let cursor: TokenCursor
  private(set) var types: [TypeFound] = []
  private(set) var aliases: [(path: [String], tokens: [Token])] = []
  private(set) var members: [Member] = []
  private(set) var imports: Set<String> = []
  /// Methods that Core Data would find by their names.
  private(set) var validators: [Validator] = []

  /// The names and kinds of types around the present place; nil for other braces.
  private var scopes: [[(name: String, kind: NominalType.Kind)]?] = []
  private var coming: [(name: String, kind: NominalType.Kind)]?
  private var access = Access.internal
  private var selector: String?
  private var extensionAccess: [Access] = []
  private var comingAccess = Access.internal

  init(bytes: [UInt8], file: String) {
    self.file = String(file.split(separator: "/").last ?? "")
    cursor = TokenCursor(Conditions.active(Lexer.tokens(of: bytes)))
  }

  private var path: [(name: String, kind: NominalType.Kind)] { scopes.compactMap { $0 }.flatMap { $0 } }

  private mutating func clear() { (access, selector) = (.internal, nil) }

  mutating func scan() {
    var next = 0
    while cursor[next].kind != .end { next = step(next) }
  }

  private mutating func step(_ next: Int) -> Int {
    let token = cursor[next]
    switch token.text {
    case "@" where token.kind == .punctuation:
      let end = cursor.end(ofAttributeAt: next)
      if cursor[next + 1].is("NSManaged") { return managed(next + 2) }
      if cursor[next + 1].is("objc"), end > next + 2 {
        selector = cursor.tokens[(next + 3)..<(end - 1)].map(\.text).joined()
      }
      return end
    case "{" where token.kind == .punctuation:
      scopes.append(coming)
      extensionAccess.append(comingAccess)
      (coming, comingAccess) = (nil, .internal)
      clear()
    case "}" where token.kind == .punctuation:
      _ = scopes.popLast()
      _ = extensionAccess.popLast()
      clear()
    case "import" where token.kind == .word && token.isFirstOnLine && scopes.isEmpty:
      let name =
        ["class", "struct", "enum", "func", "protocol"].contains(cursor[next + 1].text)
        ? cursor[next + 2] : cursor[next + 1]
      imports.insert(name.text)
    case "private", "fileprivate": if !cursor[next + 1].is("(") { access = .private }
    case "public", "open": if !cursor[next + 1].is("(") { access = .public }
    case "typealias" where token.kind == .word:
      var place = next + 2
      if cursor[place].is("<") { place = cursor.end(ofBracketsAt: place) }
      if cursor[place].is("=") {
        let end = cursor.end(ofTypeAt: place + 1)
        aliases.append((path.map(\.name) + [cursor[next + 1].text], Array(cursor.tokens[(place + 1)..<end])))
      }
      clear()
    case "class", "struct", "enum", "actor", "extension", "protocol":
      guard token.kind == .word, cursor[next + 1].kind == .word, !cursor[next - 1].is("."),
        ![
          "func", "var", "let", "subscript", "override", "final", "private", "fileprivate", "internal",
          "package", "public", "open",
        ]
        .contains(cursor[next + 1].text)
      else { break }
      return type(next)
    case "func", "init", "var", "let", "case", "subscript":
      guard token.kind == .word else { break }
      if token.is("func"), let validator = Validator(cursor, at: next, isPrivate: false) {
        validators.append(validator)
      }
      clear()
    default: break
    }
    return next + 1
  }

  private mutating func type(_ start: Int) -> Int {
    let kinds: [String: NominalType.Kind] = [
      "class": .class, "actor": .class, "struct": .structure, "enum": .enumeration, "protocol": .protocol,
    ]
    var names = [cursor[start + 1].text]
    var next = start + 2
    while cursor[next].is("."), cursor[next + 1].kind == .word {
      names.append(cursor[next + 1].text)
      next += 2
    }
    let isGeneric = cursor[next].is("<")
    if isGeneric { next = cursor.end(ofBracketsAt: next) }
    if let kind = kinds[cursor[start].text] {
      let own = [(name: names[0], kind: kind)]
      let isPrivate = access == .private
      types.append(TypeFound(path: path + own, isPrivate: isPrivate, isGeneric: isGeneric, file: file))
      coming = own
      comingAccess = .internal
    } else {
      coming = names.map { (name: $0, kind: .class) }
      comingAccess = access
    }
    clear()
    return next
  }

  private mutating func managed(_ start: Int) -> Int {
    var next = start
    while cursor[next].kind != .end {
      let token = cursor[next]
      if token.is("@") {
        let end = cursor.end(ofAttributeAt: next)
        if cursor[next + 1].is("objc"), end > next + 2 {
          selector = cursor.tokens[(next + 3)..<(end - 1)].map(\.text).joined()
        }
        next = end
      } else if token.is("var") {
        return property(next)
      } else if token.is("func") {
        return method(next)
      } else if token.kind == .word {
        if !cursor[next + 1].is("(") {
          if token.is("private") || token.is("fileprivate") { access = .private }
          if token.is("public") || token.is("open") { access = .public }
        }
        next = cursor[next + 1].is("(") ? cursor.end(ofBracketsAt: next + 1) : next + 1
      } else {
        break
      }
    }
    return next
  }

  private var memberAccess: Access {
    let around = extensionAccess.last ?? .internal
    return access == .internal ? around : access
  }

  private mutating func property(_ start: Int) -> Int {
    var next = start + 1
    var names: [Token] = []
    while cursor[next].kind == .word {
      names.append(cursor[next])
      next += 1
      if cursor[next].is(",") {
        next += 1
        continue
      }
      guard cursor[next].is(":") else { break }
      let end = cursor.end(ofTypeAt: next + 1)
      let type = Array(cursor.tokens[(next + 1)..<end])
      for name in names { add(name, .property(type)) }
      names = []
      next = end
      guard cursor[next].is(",") else { break }
      next += 1
    }
    clear()
    return next
  }

  private mutating func method(_ start: Int) -> Int {
    let name = cursor[start + 1]
    guard cursor[start + 2].is("(") else { return start + 2 }
    let end = cursor.end(ofBracketsAt: start + 2)
    var parameters: [(label: String, type: [Token])] = []
    var next = start + 3
    while next < end - 1 {
      let label = cursor[next].text
      while next < end - 1, !cursor[next].is(":") { next += 1 }
      let type = next + 1
      next = cursor.end(ofTypeAt: type)
      parameters.append((label, Array(cursor.tokens[type..<next])))
      while next < end - 1, !cursor[next].is(",") { next += 1 }
      next += 1
    }
    add(name, .method(parameters, selector: selector))
    clear()
    return end
  }

  private mutating func add(_ name: Token, _ kind: Kind) {
    members.append(
      Member(owner: path.map(\.name), name: name.text, access: memberAccess, kind: kind, line: name.line))
  }
}
