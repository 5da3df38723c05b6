import Foundation
import SwiftTokens

/// The public declarations of sources, by type, with the labels of their parameters.
package struct DeclaredNames {
  /// The members of types and extensions; those of the file itself are under an empty name.
  package private(set) var members: [String: Set<String>] = [:]
  package private(set) var unavailable: [String: Set<String>] = [:]
  package private(set) var unavailableTypes: Set<String> = []
  /// The attributes that make something unavailable and do not say why.
  package private(set) var withoutReason: [String] = []
  /// The types that types inherit from, and those that aliases stand for.
  private var ancestors: [String: [String]] = [:]

  package init(folders: [String], package: URL) throws {
    for folder in folders {
      let root = package.appending(path: folder)
      for name in try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
      where name.hasSuffix(".swift") {
        read(try Data(contentsOf: root.appending(path: name)))
      }
    }
  }

  /// Whether a type or what it inherits from has a member: true or false, or nil for one that is marked as unavailable.
  package func has(_ member: String, of type: String) -> Bool? {
    var seen: Set<String> = []
    var waiting = [type]
    var isUnavailable = false
    while let next = waiting.popLast() {
      guard seen.insert(next).inserted else { continue }
      if members[next]?.contains(member) == true { return true }
      if unavailable[next]?.contains(member) == true { isUnavailable = true }
      waiting += ancestors[next] ?? []
    }
    return isUnavailable ? nil : false
  }

  /// Whether there is a type or an alias of a name.
  package func hasType(_ name: String) -> Bool { ancestors[name] != nil }

  private mutating func read(_ data: Data) {
    let cursor = TokenCursor(Lexer.tokens(of: Array(data)))
    var scopes: [String?] = []
    var coming: String?
    var isUnavailable = false
    var isPublic = false
    var next = 0
    var publicScopes: Set<String> = []
    while cursor[next].kind != .end {
      let token = cursor[next]
      let scope = scopes.last.flatMap { $0 } ?? ""
      let isMember = scopes.allSatisfy { $0 != nil }
      switch token.text {
      case "@" where token.kind == .punctuation:
        let end = cursor.end(ofAttributeAt: next)
        if cursor.tokens[next..<end].contains(where: { $0.text == "unavailable" }) {
          isUnavailable = true
          if !cursor.tokens[next..<end].contains(where: { $0.text == "message" }) {
            withoutReason.append("line \(token.line) in \(scope)")
          }
        }
        next = end
        continue
      case "{" where token.kind == .punctuation:
        scopes.append(coming)
        coming = nil
        (isUnavailable, isPublic) = (false, false)
      case "}" where token.kind == .punctuation:
        _ = scopes.popLast()
        (isUnavailable, isPublic) = (false, false)
      case "public", "open": isPublic = true
      case "class", "struct", "enum", "actor", "extension", "protocol":
        guard cursor[next + 1].kind == .word,
          !["func", "var", "let", "subscript", "override", "final"].contains(cursor[next + 1].text),
          token.kind == .word, !cursor[next - 1].is(".")
        else { break }
        var place = next + 2
        var name = cursor[next + 1].text
        while cursor[place].is("."), cursor[place + 1].kind == .word {
          name += "." + cursor[place + 1].text
          place += 2
        }
        if token.text == "protocol" { publicScopes.insert(name) }
        if isMember, !scope.isEmpty {
          note(name, of: scope, isUnavailable)
          name = scope + "." + name
        }
        if cursor[place].is("<") { place = cursor.end(ofBracketsAt: place) }
        ancestors[name, default: []] += []
        if isUnavailable { unavailableTypes.insert(name) }
        if cursor[place].is(":") {
          repeat {
            place += 1
            while cursor[place].is("@") { place = cursor.end(ofAttributeAt: place) }
            ancestors[name, default: []].append(cursor[place].text)
            place = cursor.end(ofTypeAt: place)
          } while cursor[place].is(",")
        }
        // The constraint of an extension of a protocol says of which class the members are.
        if token.text == "extension", cursor[place].is("where"), cursor[place + 1].is("Self") {
          name = cursor[place + 3].text
        }
        coming = name
        (isUnavailable, isPublic) = (false, false)
        next = place
        continue
      case "typealias" where isMember:
        let name = cursor[next + 1].text
        note(name, of: scope, isUnavailable)
        if cursor[next + 2].is("=") {
          var target = cursor[next + 3].text
          if cursor[next + 4].is("."), cursor[next + 5].kind == .word {
            target += "." + cursor[next + 5].text
          }
          ancestors[name, default: []].append(target)
        }
        (isUnavailable, isPublic) = (false, false)
      case "var", "let":
        if isMember, isPublic || publicScopes.contains(scope) {
          note(cursor[next + 1].text, of: scope, isUnavailable)
        }
        (isUnavailable, isPublic) = (false, false)
      case "case":
        guard isMember else { break }
        var place = next
        repeat {
          place += 1
          guard cursor[place].kind == .word else { break }
          note(cursor[place].text, of: scope, isUnavailable)
          place += 1
          if cursor[place].is("(") { place = cursor.end(ofBracketsAt: place) }
          if cursor[place].is("=") { place += 2 }
        } while cursor[place].is(",")
        (isUnavailable, isPublic) = (false, false)
      case "associatedtype":
        if isMember { note(cursor[next + 1].text, of: scope, isUnavailable) }
      case "func", "init", "subscript", "macro":
        guard token.kind == .word, !cursor[next - 1].is(".") else { break }
        let isNamed = token.is("func") || token.is("macro")
        guard !isNamed || cursor[next + 1].kind == .word || cursor[next + 1].kind == .punctuation else {
          break
        }
        var place = next + (isNamed ? 2 : 1)
        while cursor[place].is("?") || cursor[place].is("!") { place += 1 }
        if cursor[place].is("<") { place = cursor.end(ofBracketsAt: place) }
        if isMember, cursor[place].is("("), isPublic || publicScopes.contains(scope) {
          let name = isNamed ? cursor[next + 1].text : token.text
          for labels in labels(cursor, place) { note("\(name)(\(labels))", of: scope, isUnavailable) }
          if token.is("macro") { note("@\(name)", of: scope, isUnavailable) }
        }
        (isUnavailable, isPublic) = (false, false)
      default: break
      }
      next += 1
    }
  }

  private mutating func note(_ name: String, of scope: String, _ isUnavailable: Bool) {
    if isUnavailable {
      unavailable[scope, default: []].insert(name)
    } else {
      members[scope, default: []].insert(name)
    }
  }

  /// The labels of parameters, in all ways to write a call.
  private func labels(_ cursor: TokenCursor, _ start: Int) -> [String] {
    let end = cursor.end(ofBracketsAt: start)
    var all: [(label: String, hasDefault: Bool)] = []
    var next = start + 1
    while next < end - 1 {
      while cursor[next].is("@") { next = cursor.end(ofAttributeAt: next) }
      let label = cursor[next].text
      while next < end - 1, !cursor[next].is(":") { next += 1 }
      next = cursor.end(ofTypeAt: next + 1)
      var hasDefault = false
      while next < end - 1, !cursor[next].is(",") {
        if cursor[next].is("=") { hasDefault = true }
        let isOpening = ["(", "[", "{"].contains(cursor[next].text)
        next = isOpening ? cursor.end(ofBracketsAt: next) : next + 1
      }
      all.append((label, hasDefault))
      next += 1
    }
    // With and without each of those that have defaults.
    var variants = [""]
    for part in all {
      let with = variants.map { $0 + part.label + ":" }
      variants = part.hasDefault && variants.count < 64 ? with + variants : with
    }
    return variants
  }
}
