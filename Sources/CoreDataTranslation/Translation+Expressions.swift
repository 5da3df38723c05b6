/// Expressions that need the Objective-C runtime or its types.
extension Translation {
  mutating func keyPath(at start: Int) -> Int {
    guard cursor[start + 1].is("(") else { return start + 1 }
    let end = cursor.end(ofBracketsAt: start + 1)
    let names = cursor.tokens[(start + 2)..<(end - 1)].filter { $0.kind == .word }.map(\.text)
    // Modules and types are written with capitals; properties follow them.
    let first = names.firstIndex { !($0.first?.isUppercase ?? false) } ?? max(names.count - 1, 0)
    guard first < names.count else {
      fail(cursor[start], "#keyPath has no property")
      return end
    }
    let path = names[first...].filter { $0 != "self" }.joined(separator: ".")
    replace(start..<end, "\"\(path)\"")
    return end
  }

  mutating func selector(at start: Int) -> Int {
    guard cursor[start + 1].is("(") else { return start + 1 }
    let end = cursor.end(ofBracketsAt: start + 1)
    guard end - 1 > start + 2 else { return end }
    var first = start + 2
    var isAccessor = false
    if ["getter", "setter"].contains(cursor[first].text), cursor[first + 1].is(":") {
      isAccessor = true
      first += 2
    }
    let inner = text(cursor[first].range.lowerBound..<cursor[end - 2].range.upperBound)
    let name = String(inner.split(separator: "(").first.flatMap { $0.split(separator: ".").last } ?? "")
    let labels = inner.contains("(") ? inner[(inner.firstIndex(of: "(") ?? inner.startIndex)...] : ""
    if isAccessor {
      replace(start..<end, "Selector(\"\(name)\")")
      return end
    }
    // A method of the class itself is named without its object.
    var target = inner
    if target.hasPrefix("self.") { target = "Self." + target.dropFirst(5) }
    let path = (target.split(separator: "(").first ?? "").split(separator: ".")
    if path.count < 2 { target = "Self." + target }
    // A method of another object is that of its class, so that the selector does not keep the object.
    if path.count > 1, path[path.count - 2].first?.isLowercase == true {
      let object = path.dropLast().joined(separator: ".")
      target = "type(of: \(object))" + target.dropFirst(object.count)
    }
    replace(start..<end, "Selector(\"\(name)\(labels)\", \(target))")
    return end
  }

  // MARK: Casts

  /// The classes whose casts to other types of results succeed in Objective-C: see `_Recastable` in `CoreData`.
  private static let recast: Set<String> = ["NSFetchRequest", "NSFetchedResultsController"]

  /// `as! NSFetchRequest<T>`, `as?` and `is`, which become operators of `CoreData`.
  mutating func cast(at start: Int) -> Int {
    let isCheck = cursor[start].is("is")
    let sign = cursor[start + 1]
    guard isCheck || sign.is("!") || sign.is("?"), !isPattern(start) else { return start + 1 }
    let type = start + (isCheck ? 1 : 2)
    var name = type
    while cursor[name].kind == .word, cursor[name + 1].is("."), cursor[name + 2].kind == .word { name += 2 }
    let isAlias = index.isRecast(cursor[name].text) && !cursor[name + 1].is("<")
    guard cursor[name].kind == .word,
      isAlias || Self.recast.contains(cursor[name].text) && cursor[name + 1].is("<")
    else { return type }
    let end = cursor.end(ofTypeAt: type)
    // The text between the cast and the type stays. An operator needs blanks on both sides or on none.
    let last = cursor[type - 1].range.upperBound
    let blank = last == cursor[type].range.lowerBound ? " " : ""
    replace(start..<type, "\(isCheck ? "~~>~" : sign.is("!") ? "~~>!" : "~~>?")\(blank)")
    insert(".self", after: cursor[end - 1])
    if let argument = argumentOfMacro(around: start) {
      insert("_cast(", before: cursor[argument.lowerBound])
      insert(")", after: cursor[argument.upperBound - 1])
    }
    return end
  }

  /// The argument of a macro such as `#require` that a token belongs to, if it is in no other brackets.
  private func argumentOfMacro(around place: Int) -> Range<Int>? {
    var first = place
    var depth = 0
    while first > 0, depth > 0 || !["(", "[", "{", ","].contains(cursor[first - 1].text) {
      first -= 1
      if [")", "]", "}"].contains(cursor[first].text) { depth += 1 }
      if ["(", "[", "{"].contains(cursor[first].text) { depth -= 1 }
    }
    guard first > 1, cursor[first - 1].is("("), cursor[first - 2].text.hasPrefix("#") else { return nil }
    var end = place
    while cursor[end].kind != .end, ![",", ")"].contains(cursor[end].text) {
      end = ["(", "[", "{", "<"].contains(cursor[end].text) ? cursor.end(ofBracketsAt: end) : end + 1
    }
    return first..<end
  }

  /// Whether `is` begins a pattern: in `case is T`, after a comma of one, and in `catch is T`.
  private func isPattern(_ start: Int) -> Bool {
    cursor[start].is("is") && ["case", "catch", ",", "("].contains(cursor[start - 1].text)
  }

  /// A name for a class whose casts succeed, such as `typealias Found = NSFetchRequest<NSFetchRequestResult>`.
  mutating func noteAlias(at start: Int) {
    guard !isWriting, cursor[start + 2].is("=") else { return }
    var name = start + 3
    while cursor[name].kind == .word, cursor[name + 1].is("."), cursor[name + 2].kind == .word { name += 2 }
    if Self.recast.contains(cursor[name].text), cursor[name + 1].is("<") {
      index.noteRecast(cursor[start + 1].text)
    }
  }

  // MARK: Literals

  /// A variable of a class or an extension whose type is written.
  mutating func noteVariable(at start: Int) {
    guard !isWriting, let scope = (scopes.last ?? nil), scope.isClass || scope.isExtension,
      cursor[start + 1].kind == .word, cursor[start + 2].is(":")
    else { return }
    let type = cursor.tokens[(start + 3)..<cursor.end(ofTypeAt: start + 3)].map(\.text).joined()
    index.noteVariable(cursor[start + 1].text, type: type.filter { !"?!".contains($0) })
  }

  /// `person.cars = [car]` where the variable may be an `NSSet`, which no literal makes on this system.
  ///
  /// - Parameter start: The place of the variable's name.
  mutating func setLiteral(at start: Int) {
    guard isWriting, cursor[start - 1].is("."), cursor[start + 1].is("="), cursor[start + 2].is("["),
      index.isSet(cursor[start].text)
    else { return }
    let end = cursor.end(ofBracketsAt: start + 2)
    guard cursor[end].isFirstOnLine || ["}", ";"].contains(cursor[end].text) || cursor[end].kind == .end
    else { return }
    insert("_assigned(", before: cursor[start + 2])
    insert(")", after: cursor[end - 1])
  }

  // MARK: Patterns

  /// Names of Objective-C's enumerations in a pattern become the cases that they stand for, so that a `switch` over all
  /// of them is exhaustive.
  mutating func pattern(at start: Int) {
    var depth = 0
    for place in start... {
      let token = cursor[place]
      switch token.text {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case ":" where depth == 0, "=", "{", "}", "where": return
      default: if token.kind == .end { return }
      }
      guard token.kind == .word, cursor[place - 1].is("."), let name = Self.cases[token.text] else {
        continue
      }
      replace(place..<(place + 1), name)
    }
  }

  /// The cases of Heartwood's enumerations by the names that Core Data has for them.
  private static let cases: [String: String] = {
    let suffixes = [
      "AttributeType": [
        "undefined", "integer16", "integer32", "integer64", "decimal", "double", "float", "string", "boolean",
        "date", "binaryData", "transformable", "composite",
      ],
      "EntityMappingType": ["undefined", "custom", "add", "remove", "copy", "transform"],
      "MergePolicyType": [
        "error", "mergeByPropertyStoreTrump", "mergeByPropertyObjectTrump", "overwrite", "rollback",
      ],
      "ConcurrencyType": ["privateQueue", "mainQueue"],
    ]
    var cases = ["UUIDAttributeType": "uuid", "URIAttributeType": "uri"]
    for (suffix, names) in suffixes {
      for name in names { cases[name + suffix] = name }
    }
    return cases
  }()

  // MARK: Names of modules

  /// `import CoreData.CoreDataDefines` and `import class CoreData.NSManagedObject`: the module has no parts here, and some of its names are
  /// of other kinds.
  mutating func importing(at start: Int) -> Int {
    let kinds = ["class", "struct", "enum", "protocol", "typealias", "func", "var", "let"]
    let hasKind = kinds.contains(cursor[start + 1].text)
    let module = start + (hasKind ? 2 : 1)
    var end = module + 1
    while cursor[end].is("."), cursor[end + 1].kind == .word { end += 2 }
    if Self.partsOfFoundation.contains(cursor[module].text) {
      replace((start + 1)..<end, "Foundation")
    } else if cursor[module].is("CoreData"), end > module + 1 {
      replace((start + 1)..<end, "CoreData")
    }
    return end
  }

  /// Modules of Apple's systems, of whose names Foundation has on other systems what there is.
  private static let partsOfFoundation: Set<String> = ["ObjectiveC", "CoreGraphics", "Darwin"]

  /// Names of Foundation and the Objective-C runtime that other systems lack, qualified by their module: the translator declares them beside
  /// the classes of the model.
  mutating func qualified(at start: Int) -> Int {
    guard cursor[start + 1].is("."), !cursor[start - 1].is("."), !cursor[start - 1].is("import"),
      FoundationNames.all.contains(cursor[start + 2].text)
    else { return start + 1 }
    replace(start..<(start + 1), FoundationNames.namespace)
    return start + 3
  }

  /// `City(entity: entity, insertInto: context)`, which makes an object of the entity's class on Apple's systems, and in Swift one of the class
  /// that is written: a function of `CoreData` takes its place.
  mutating func objectMaking(at start: Int) {
    guard cursor[start].text.first?.isUppercase == true, cursor[start + 1].is("("),
      cursor[start + 2].is("entity"), cursor[start + 3].is(":")
    else { return }
    let end = cursor.end(ofBracketsAt: start + 1)
    guard cursor.tokens[start..<end].contains(where: { $0.is("insertInto") }) else { return }
    insert("._made", after: cursor[start])
  }
}
