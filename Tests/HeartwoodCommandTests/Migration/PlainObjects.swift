import Foundation

/// The objects of a store as texts, and what changes of a model do to them.
struct PlainObjects {
  struct Object {
    var entity: String
    /// By property; of an element of a composite attribute by its path. No value is no entry.
    var values: [String: String] = [:]
    /// The identifiers of the destinations.
    var links: [String: [String]] = [:]
    /// The names of the relationships whose destinations have an order.
    var ordered: Set<String> = []
  }

  /// By their attribute `uid`.
  var objects: [String: Object] = [:]
  /// The parent of each entity that has one.
  var parents: [String: String] = [:]

  func isKind(_ entity: String, of ancestor: String) -> Bool {
    entity == ancestor || parents[entity].map { isKind($0, of: ancestor) } ?? false
  }

  private func all(_ entity: String) -> [String] {
    objects.filter { isKind($0.value.entity, of: entity) }.keys.sorted()
  }

  private mutating func edit(_ entity: String, _ body: (inout Object) -> Void) {
    for uid in all(entity) {
      guard var object = objects[uid] else { continue }
      body(&object)
      objects[uid] = object
    }
  }

  mutating func apply(_ step: Application.Step, withCode: Bool = true) {
    let code = withCode ? step.code ?? [] : []
    for change in code where change.when == "before" { apply(code: change) }
    for change in step.changes { apply(change) }
    for change in code where change.when == "after" { apply(code: change) }
  }

  private mutating func apply(_ change: Application.Change) {
    let (entity, name) = (change.entity, change.name ?? "")
    switch change.do {
    case "add entity", "set parent": parents[entity] = change.parent
    case "rename entity": rename(entity, change.to ?? "")
    case "remove entity": remove(all(entity))
    case "leave parent": leaveParent(change)
    case "add attribute", "make mandatory":
      edit(entity) { $0.values[name] = $0.values[name] ?? change.value }
    case "remove property":
      edit(entity) { ($0.values[name], $0.links[name]) = (nil, nil) }
    case "rename property": rename(entity, name, change.to ?? "")
    case "change type":
      edit(entity) { $0.values[name] = $0.values[name].map { Self.text($0, as: change.type) } }
    case "move attribute":
      // Down: the objects of the other entities lose it. Up: they get nothing.
      for uid in all(entity) where !isKind(objects[uid]?.entity ?? "", of: change.to ?? "") {
        objects[uid]?.values[name] = nil
      }
    case "add inverse":
      for (uid, object) in objects where isKind(object.entity, of: entity) {
        for target in object.links[name] ?? [] {
          objects[target]?.links[change.inverse ?? "", default: []].append(uid)
        }
      }
    // Until it is set, the order is any.
    case "order": break
    default: fatalError("there is no rule for \(change.do)")
    }
  }

  private mutating func rename(_ entity: String, _ to: String) {
    parents = parents.mapValues { $0 == entity ? to : $0 }
    parents[to] = parents.removeValue(forKey: entity)
    for uid in objects.keys where objects[uid]?.entity == entity { objects[uid]?.entity = to }
  }

  private mutating func rename(_ entity: String, _ name: String, _ to: String) {
    edit(entity) { object in
      object.values[to] = object.values.removeValue(forKey: name)
      object.links[to] = object.links.removeValue(forKey: name)
      if object.ordered.remove(name) != nil { object.ordered.insert(to) }
    }
  }

  private mutating func remove(_ uids: [String]) {
    for uid in uids { objects[uid] = nil }
    let gone = Set(uids)
    for (uid, object) in objects {
      objects[uid]?.links = object.links.mapValues { $0.filter { !gone.contains($0) } }
    }
  }

  private mutating func leaveParent(_ change: Application.Change) {
    let leaving = Set(all(change.entity))
    let kept = Set(change.keeps ?? [])
    edit(change.entity) { object in
      object.values = object.values.filter { kept.contains($0.key) }
      object.links = object.links.filter { kept.contains($0.key) }
    }
    parents[change.entity] = nil
    for link in change.links ?? [] {
      let words = link.split(separator: ".").map(String.init)
      edit(words[0]) { $0.links[words[1]]?.removeAll { leaving.contains($0) } }
    }
  }

  /// A value after a change of its attribute's type.
  private static func text(_ text: String, as type: String?) -> String {
    switch type {
    case "double" where !text.contains("."): text + ".0"
    case "integer16" where text == "true": "1"
    case "integer16" where text == "false": "0"
    default: text
    }
  }

  // MARK: Code of stages

  private mutating func apply(code change: Application.Change) {
    let (entity, name, parts) = (change.entity, change.name ?? "", change.parts ?? [])
    switch change.do {
    case "split text":
      edit(entity) { object in
        let words = object.values[name]?.split(separator: " ").map(String.init) ?? []
        (object.values[parts[0]], object.values[parts[1]]) = (words.first, words.last)
      }
    case "multiply by 100":
      edit(entity) { object in
        let number = object.values[name].flatMap(Double.init)
        object.values[parts[0]] = number.map { "\(Int(($0 * 100).rounded()))" }
      }
    case "keep first of equal":
      let groups = Dictionary(grouping: all(entity).filter { objects[$0]?.values[name] != nil }) {
        objects[$0]?.values[name] ?? ""
      }
      remove(groups.values.flatMap { $0.sorted().dropFirst() })
    case "move out":
      for uid in all(entity) {
        var made = Object(entity: change.to ?? "")
        made.values = objects[uid]?.values.filter { parts.contains($0.key) } ?? [:]
        made.values["uid"] = "\(name) of \(uid)"
        made.links[change.inverse ?? ""] = [uid]
        objects["\(name) of \(uid)"] = made
        objects[uid]?.links[name] = ["\(name) of \(uid)"]
      }
    default: fatalError("there is no rule for \(change.do)")
    }
  }
}
