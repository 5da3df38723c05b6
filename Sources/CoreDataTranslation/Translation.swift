import SwiftTokens

/// Makes of a source for Apple's systems one that compiles elsewhere. Every line stays where it is.
package struct Translation {
  let file: String
  let bytes: [UInt8]
  let cursor: TokenCursor
  /// The places of the tokens that `#if` does not leave out.
  private let active: Set<Int>
  var edits: [(range: Range<Int>, text: String)] = []
  var index: ClassIndex
  private var appended: [String] = []
  private(set) var errors: [TranslationError] = []

  /// A type or an extension whose braces enclose the present place; nil for other braces.
  struct Scope {
    let name: String
    let isClass: Bool
    let hasObjectiveCMembers: Bool
    let isProtocol: Bool
    let isExtension: Bool
    /// `public ` or `package `, if one of them is written.
    let access: String
  }
  private(set) var scopes: [Scope?] = []
  /// A type whose opening brace comes next.
  private var coming: Scope?
  var pending = PendingAttributes()

  /// The attributes of a declaration, read before its keyword.
  struct PendingAttributes {
    var isObjectiveC = false
    var objectiveCName: String?
    var hasObjectiveCMembers = false
    var isStatic = false
    var isPrivate = false
    /// The places of modifiers such as `override` and `public`.
    var modifiers: [Int] = []
  }

  init(file: String, bytes: [UInt8], index: ClassIndex) {
    self.file = file
    self.bytes = bytes
    self.index = index
    let tokens = Lexer.tokens(of: bytes)
    cursor = TokenCursor(tokens)
    active = Set(Conditions.active(tokens).map(\.range.lowerBound))
  }

  /// Collects what the file states about its classes.
  package static func collect(from bytes: [UInt8], file: String, into index: inout ClassIndex) {
    var translation = Translation(file: file, bytes: bytes, index: index)
    translation.walk()
    index = translation.index
  }

  /// The translated text.
  ///
  /// - Parameter index: The facts that all files of the target state about their classes.
  package static func translate(_ bytes: [UInt8], file: String, index: ClassIndex) -> (
    text: String, errors: [TranslationError]
  ) {
    var translation = Translation(file: file, bytes: bytes, index: index)
    translation.isWriting = true
    translation.walk()
    let head =
      (translation.lacksImport ? "import CoreData\n" : "")
      + "#sourceLocation(file: \(literal(file)), line: 1)\n"
    let tail = translation.appended.isEmpty ? "" : "\n" + translation.appended.joined(separator: "\n") + "\n"
    return (head + translation.applied() + tail, translation.errors)
  }

  private(set) var isWriting = false

  static func literal(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  // MARK: Walking

  private mutating func walk() {
    var next = 0
    while cursor[next].kind != .end { next = step(at: next) }
  }

  private mutating func step(at next: Int) -> Int {
    let token = cursor[next]
    switch (token.kind, token.text) {
    case (.punctuation, "@"): return attribute(at: next)
    case (.punctuation, "{"):
      scopes.append(coming)
      coming = nil
      pending = PendingAttributes()
    case (.punctuation, "}"):
      if let scope = scopes.popLast() ?? nil, scope.isClass { close(scope, at: next) }
      pending = PendingAttributes()
    case (.word, "#keyPath"): return keyPath(at: next)
    case (.word, "#selector"): return selector(at: next)
    case (.word, "class") where isModifier(next):
      pending.isStatic = true
      pending.modifiers.append(next)
    case (.word, "static"):
      pending.isStatic = true
      pending.modifiers.append(next)
    case (.word, "private"), (.word, "fileprivate"):
      guard !cursor[next + 1].is("(") else { return cursor.end(ofBracketsAt: next + 1) }
      pending.isPrivate = true
      pending.modifiers.append(next)
    case (.word, "override"), (.word, "public"), (.word, "package"), (.word, "open"), (.word, "internal"),
      (.word, "final"):
      if !cursor[next + 1].is("(") { pending.modifiers.append(next) }
    case (.word, "import"): return importing(at: next)
    case (.word, "urls") where cursor[next + 1].is("(") && cursor[next + 2].is("forResourcesWithExtension"),
      (.word, "paths") where cursor[next + 1].is("(") && cursor[next + 2].is("forResourcesOfType"):
      // Foundation has these with other types, and does not know the models in the program.
      replace(next..<(next + 1), "_" + token.text)
    case (.word, "as"), (.word, "is"): return cast(at: next)
    case (.word, "Foundation"), (.word, "ObjectiveC"): return qualified(at: next)
    case (.word, "typealias"):
      noteAlias(at: next)
      pending = PendingAttributes()
    case (.word, "class"), (.word, "struct"), (.word, "enum"), (.word, "actor"), (.word, "extension"),
      (.word, "protocol"):
      if cursor[next + 1].kind == .word, !cursor[next - 1].is(".") { return type(at: next) }
    case (.word, "optional"):
      if ["func", "var"].contains(cursor[next + 1].text), let scope = (scopes.last ?? nil), scope.isProtocol {
        optionalMember(at: next, of: scope)
      }
    case (.word, "var"), (.word, "let"):
      noteVariable(at: next)
      noteOwnProperty(at: next)
      member(at: next)
      pending = PendingAttributes()
    case (.word, "func"):
      noteValidator(at: next)
      notePolicyFunction(at: next)
      member(at: next)
      pending = PendingAttributes()
    case (.word, "case"):
      pending = PendingAttributes()
      pattern(at: next + 1)
    case (.word, "init"):
      initialiser(at: next)
      pending = PendingAttributes()
    case (.word, "subscript"):
      pending = PendingAttributes()
    case (.word, _):
      optionalCall(at: next)
      setLiteral(at: next)
      objectMaking(at: next)
    default: break
    }
    return next + 1
  }

  private func isModifier(_ next: Int) -> Bool {
    [
      "func", "var", "let", "subscript", "override", "private", "fileprivate", "internal", "package",
      "public", "open",
      "final", "@",
    ]
    .contains(cursor[next + 1].text)
  }

  /// A declaration of a type: its name, and what it inherits from first.
  private mutating func type(at start: Int) -> Int {
    let keyword = cursor[start].text
    var next = start + 1
    var name = cursor[next].text
    next += 1
    while cursor[next].is("."), cursor[next + 1].kind == .word {
      name = cursor[next + 1].text
      next += 2
    }
    if cursor[next].is("<") { next = cursor.end(ofBracketsAt: next) }
    var superclass: String?
    if cursor[next].is(":") {
      var place = next + 1
      while cursor[place].is("@") { place = cursor.end(ofAttributeAt: place) }
      superclass = cursor[place].text
      while cursor[place + 1].is("."), cursor[place + 2].kind == .word {
        superclass = cursor[place + 2].text
        place += 2
      }
      if keyword == "class", let superclass, Self.sentClasses.contains(superclass) {
        var end = place
        while cursor[end].kind != .end, !cursor[end].is("{") { end += 1 }
        if !cursor.tokens[place..<end].contains(where: { $0.is("Sendable") }) {
          insert(", @unchecked Sendable", after: cursor[place])
        }
      }
    }
    if keyword == "class" {
      index.note(class: name, superclass: superclass)
      if isWriting, scopes.isEmpty, let superclass,
        let factory = TransformerFactory.text(
          of: name, as: pending.objectiveCName, superclass, declaredAt: start, in: cursor)
      {
        appended.append(factory)
      }
      if scopes.isEmpty, let superclass,
        let made = MadeByType(name, superclass, declaredAt: start, in: cursor)
      {
        insert("; " + made.text, after: cursor[made.end])
      }
      if isWriting, let given = pending.objectiveCName, scopes.isEmpty {
        appended.append(ModelClasses.note(of: name, as: given))
      }
    }
    if keyword == "protocol", pending.isObjectiveC { requireClass(at: start + 2) }
    coming = Scope(
      name: name, isClass: keyword == "class", hasObjectiveCMembers: pending.hasObjectiveCMembers,
      isProtocol: keyword == "protocol", isExtension: keyword == "extension",
      access: ["public", "package"].first { word in pending.modifiers.contains { cursor[$0].is(word) } }
        .map { $0 + " " } ?? "")
    pending = PendingAttributes()
    return next
  }

  /// Classes that threads share here, which their subclasses have to say.
  private static let sentClasses: Set<String> = [
    "NSEntityMigrationPolicy", "NSIncrementalStore", "NSAtomicStore", "NSAtomicStoreCacheNode",
    "NSManagedObjectContext", "NSPersistentContainer", "NSMergePolicy", "NSMigrationManager",
  ]

  // MARK: Attributes

  private static let removed: Set<String> = [
    "objc", "objcMembers", "IBAction", "IBOutlet", "IBInspectable", "IBDesignable", "IBSegueAction",
    "NSCopying", "GKInspectable",
  ]

  private mutating func attribute(at start: Int) -> Int {
    let name = cursor[start + 1].text
    let end = cursor.end(ofAttributeAt: start)
    if name == "NSManaged" { return managed(at: start) }
    if name == "objcMembers" { pending.hasObjectiveCMembers = true }
    guard Self.removed.contains(name) else { return end }
    if name == "objc" {
      pending.isObjectiveC = true
      if end > start + 2 {
        pending.objectiveCName = cursor.tokens[(start + 3)..<(end - 1)].map(\.text).joined()
      }
    }
    remove(start..<end)
    return end
  }

  private mutating func managed(at start: Int) -> Int {
    remove(start..<(start + 2))
    if let scope = (scopes.last ?? nil) { index.noteManaged(scope.name) }
    var next = start + 2
    while cursor[next].kind != .end {
      let token = cursor[next]
      if token.is("@") {
        next = attribute(at: next)
      } else if token.is("var") {
        noteVariable(at: next)
        return property(at: next)
      } else if token.is("func") {
        return method(at: next)
      } else if ["weak", "unowned", "dynamic", "lazy"].contains(token.text), token.kind == .word {
        let end = cursor[next + 1].is("(") ? cursor.end(ofBracketsAt: next + 1) : next + 1
        remove(next..<end)
        next = end
      } else if cursor[next + 1].is("("), token.kind == .word {
        next = cursor.end(ofBracketsAt: next + 1)
      } else if token.kind == .word {
        next += 1
      } else {
        break
      }
    }
    fail(cursor[start], "@NSManaged is not before a variable or a function")
    return next
  }

  /// `var a: T, b: U`, or `var a, b: T`.
  private mutating func property(at start: Int) -> Int {
    pending = PendingAttributes()
    var next = start + 1
    var untyped: [Token] = []
    while cursor[next].kind == .word {
      let name = cursor[next]
      next += 1
      if cursor[next].is(",") {
        untyped.append(name)
        next += 1
        continue
      }
      guard cursor[next].is(":") else {
        fail(name, "the type of the @NSManaged property \(name.text) is not written")
        return next
      }
      let type = next + 1
      let end = cursor.end(ofTypeAt: type)
      let text = self.text(cursor[type].range.lowerBound..<cursor[end - 1].range.upperBound)
      insert(Self.accessors(name.text), after: cursor[end - 1])
      for name in untyped { insert(": \(text)" + Self.accessors(name.text), after: name) }
      untyped = []
      next = end
      guard cursor[next].is(",") else { break }
      next += 1
    }
    return next
  }

  private static func accessors(_ name: String) -> String {
    let named = PropertyHash.arguments(name)
    return " { get { _managedGet(\(named)) } set { _managedSet(\(named), newValue) } }"
  }

  /// The word before a declaration that says who may use it, with a space; empty where there is none.
  private func access(before start: Int) -> String {
    let words = ["public", "open", "package", "internal", "fileprivate", "private"]
    var place = start - 1
    while place >= 0, cursor[place].kind == .word || cursor[place].is("@") || cursor[place].is(")") {
      if words.contains(cursor[place].text) { return cursor[place].text + " " }
      if cursor[place].is(")") { break }
      place -= 1
    }
    return ""
  }

  /// A method that changes a relationship.
  private mutating func method(at start: Int) -> Int {
    let given = pending.objectiveCName
    pending = PendingAttributes()
    let name = cursor[start + 1]
    var next = start + 2
    guard cursor[next].is("(") else {
      fail(name, "the @NSManaged function \(name.text) has no parameters")
      return next
    }
    let end = cursor.end(ofBracketsAt: next)
    var labels: [String] = []
    var names: [String] = []
    next += 1
    while next < end - 1 {
      labels.append(cursor[next].text)
      let second = cursor[next + 1].kind == .word
      names.append(cursor[second ? next + 1 : next].text)
      while next < end - 1, !cursor[next].is(":") { next += 1 }
      next = cursor.end(ofTypeAt: next + 1)
      while next < end - 1, !cursor[next].is(",") { next += 1 }
      next += 1
    }
    guard let body = ManagedMethod.body(name: name.text, labels: labels, selector: given, parameters: names)
    else {
      fail(
        name,
        "the @NSManaged function \(name.text) is none that Core Data makes for a relationship, such as addToStops(_:): write its body"
      )
      return end
    }
    var last = end
    if cursor[last].is("->") { last = cursor.end(ofTypeAt: last + 1) }
    var text = " { \(body) }"
    let type = cursor[end - 2].text
    if labels == ["_"], ["NSSet", "NSOrderedSet"].contains(type) {
      // Foundation's sets have no literals on this system.
      let access = access(before: start)
      text += "; \(access)func \(name.text)(_ values: [Any]) { \(name.text)(\(type)(array: values)) }"
    }
    insert(text, after: cursor[last - 1])
    return last
  }

  // MARK: Properties that Objective-C sees

  private mutating func noteOwnProperty(at start: Int) {
    guard !isWriting, let scope = (scopes.last ?? nil), !scope.isProtocol, !pending.isStatic,
      !pending.isPrivate,
      pending.isObjectiveC || scope.hasObjectiveCMembers, cursor[start + 1].kind == .word
    else { return }
    index.note(
      ClassIndex.OwnProperty(name: cursor[start + 1].text, isSettable: isSettable(at: start)), of: scope.name)
  }

  private func isSettable(at start: Int) -> Bool {
    guard cursor[start].is("var") else { return false }
    if cursor[start - 1].is(")"), cursor[start - 2].is("set") { return false }
    var next = start + 2
    if cursor[next].is(":") { next = cursor.end(ofTypeAt: next + 1) }
    guard cursor[next].is("{") else { return true }
    let end = cursor.end(ofBracketsAt: next)
    return cursor.tokens[next..<end].contains { $0.is("set") || $0.is("didSet") || $0.is("willSet") }
  }

  /// A method such as `validateAge(_:)`, which Core Data finds by its name.
  private mutating func noteValidator(at start: Int) {
    guard let scope = (scopes.last ?? nil), !scope.isProtocol, !pending.isStatic,
      pending.isObjectiveC || scope.hasObjectiveCMembers,
      let validator = Validator(cursor, at: start, isPrivate: pending.isPrivate)
    else { return }
    guard isWriting else { return index.note(validator, of: scope.name) }
    guard index.isManaged(scope.name) else { return }
    if let problem = validator.problem(in: index, of: scope.name, isInClass: scope.isClass) {
      fail(cursor[start], problem)
    }
  }

  /// A method of a migration policy, which expressions of mapping models find by its name.
  private mutating func notePolicyFunction(at start: Int) {
    guard !isWriting, let scope = (scopes.last ?? nil), !scope.isProtocol, !pending.isStatic,
      !pending.isPrivate || scope.isClass, pending.isObjectiveC || scope.hasObjectiveCMembers,
      let labels = parameterLabels(at: start + 2),
      let function = PolicyFunction(cursor, at: start, labels: labels, given: pending.objectiveCName)
    else { return }
    index.note(function, of: scope.name)
  }

  /// Gives a class of managed objects its properties and validators by their names, and a migration policy its functions.
  private mutating func close(_ scope: Scope, at brace: Int) {
    guard isWriting else { return index.noteBody(of: scope.name) }
    let members =
      (index.isManaged(scope.name) ? index.members(of: scope.name) : index.movedMembers(of: scope.name))
      + [index.policyFunctions(of: scope.name)].compactMap { $0 }
    guard !members.isEmpty else { return }
    let (before, brace) = (cursor[brace - 1], cursor[brace])
    let separator = before.line == brace.line && !before.is("{") && !before.is(";") ? "; " : " "
    insert(separator + members.joined(separator: "; ") + " ", before: brace)
  }

  // MARK: Edits

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  mutating func remove(_ range: Range<Int>) { replace(range, "") }

  /// Replaces tokens; line breaks among them stay.
  mutating func replace(_ range: Range<Int>, _ text: String) {
    guard isWriting else { return }
    let place = cursor[range.lowerBound].range.lowerBound..<cursor[range.upperBound - 1].range.upperBound
    let breaks = bytes[place].filter { $0 == UInt8(ascii: "\n") }.count
    edits.append((place, text + String(repeating: "\n", count: breaks)))
  }

  /// Adds a line at the end.
  mutating func append(_ text: String) { appended.append(text) }

  mutating func insert(_ text: String, after token: Token) {
    guard isWriting else { return }
    edits.append((token.range.upperBound..<token.range.upperBound, text))
  }

  mutating func insert(_ text: String, before token: Token) {
    guard isWriting else { return }
    edits.append((token.range.lowerBound..<token.range.lowerBound, text))
  }

  /// Reports what cannot be translated, unless it is not compiled here.
  mutating func fail(_ token: Token, _ message: String) {
    guard isWriting, active.contains(token.range.lowerBound) else { return }
    errors.append(TranslationError(file: file, line: token.line, message: message))
  }

  private func applied() -> String {
    var result: [UInt8] = []
    var place = 0
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
    where edit.range.lowerBound >= place {
      result += bytes[place..<edit.range.lowerBound]
      result += Array(edit.text.utf8)
      place = edit.range.upperBound
    }
    result += bytes[place...]
    return String(decoding: result, as: UTF8.self)
  }
}
