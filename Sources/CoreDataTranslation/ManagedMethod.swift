/// The methods that Core Data makes for to-many relationships, by their names in Swift or in Objective-C.
enum ManagedMethod {
  /// The body of a method; nil if it is none of them.
  ///
  /// - Parameters:
  ///   - name: The name in Swift.
  ///   - labels: The labels of its parameters.
  ///   - selector: The name that `@objc` gives it.
  ///   - parameters: The names of its parameters in the body.
  static func body(name: String, labels: [String], selector: String?, parameters: [String]) -> String? {
    if let selector, let call = call(ofSelector: selector, parameters) { return call }
    return call(ofName: name, labels, parameters)
  }

  private static func call(ofSelector selector: String, _ parameters: [String]) -> String? {
    switch parameters.count {
    case 1:
      if let key = key(in: selector, "removeObjectFrom", "AtIndex:") { return remove(key, at: parameters[0]) }
      if let key = key(in: selector, "remove", "AtIndexes:") { return remove(key, at: parameters[0]) }
      for (verb, method) in [("add", "_managedAdd"), ("remove", "_managedRemove")] {
        if let key = key(in: selector, verb, "Object:") ?? key(in: selector, verb, ":") {
          return "\(method)(\"\(key)\", \(parameters[0]))"
        }
      }
      return nil
    case 2:
      if let key = key(in: selector, "insertObject:in", "AtIndex:") { return insert(key, parameters) }
      if let key = key(in: selector, "insert", ":atIndexes:") { return insert(key, parameters) }
      if let key = key(in: selector, "replaceObjectIn", "AtIndex:withObject:") {
        return replace(key, parameters)
      }
      if selector.hasPrefix("replace"), let range = selector.range(of: "AtIndexes:with") {
        return replace(
          decapitalised(
            String(selector[selector.index(selector.startIndex, offsetBy: 7)..<range.lowerBound])), parameters
        )
      }
      return nil
    default: return nil
    }
  }

  private static func call(ofName name: String, _ labels: [String], _ parameters: [String]) -> String? {
    switch labels {
    case ["_"]:
      if let key = key(in: name, "addTo", "") { return "_managedAdd(\"\(key)\", \(parameters[0]))" }
      if let key = key(in: name, "removeFrom", "") { return "_managedRemove(\"\(key)\", \(parameters[0]))" }
      for (verb, method) in [("add", "_managedAdd"), ("remove", "_managedRemove")] {
        if let key = key(in: name, verb, "Object") ?? key(in: name, verb, "") {
          return "\(method)(\"\(key)\", \(parameters[0]))"
        }
      }
      return nil
    case ["at"]: return key(in: name, "removeFrom", "").map { remove($0, at: parameters[0]) }
    case ["_", "at"]: return key(in: name, "insertInto", "").map { insert($0, parameters) }
    case ["at", "with"]: return key(in: name, "replace", "").map { replace($0, parameters) }
    default: return nil
    }
  }

  private static func remove(_ key: String, at index: String) -> String {
    "_managedRemove(\"\(key)\", at: \(index))"
  }
  private static func insert(_ key: String, _ names: [String]) -> String {
    "_managedInsert(\"\(key)\", \(names[0]), at: \(names[1]))"
  }
  private static func replace(_ key: String, _ names: [String]) -> String {
    "_managedReplace(\"\(key)\", at: \(names[0]), \(names[1]))"
  }

  /// The name of the relationship between a beginning and an end.
  private static func key(in name: String, _ prefix: String, _ suffix: String) -> String? {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
      return nil
    }
    let middle = name.dropFirst(prefix.count).dropLast(suffix.count)
    guard middle.first?.isUppercase == true, !middle.contains(":") else { return nil }
    return decapitalised(String(middle))
  }

  private static func decapitalised(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }
}

extension String {
  /// The first place of a text.
  func range(of part: String) -> Range<String.Index>? { ranges(of: part).first }
}
