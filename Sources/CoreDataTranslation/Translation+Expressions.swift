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
    if !(target.split(separator: "(").first ?? "").contains(".") { target = "Self." + target }
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
    return end
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
}
