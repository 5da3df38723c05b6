/// The order in which the objects of a file are written, divided into batches that can be saved separately.
///
/// An object follows the objects that it requires. Objects that require each other are in one batch.
struct ImportBatches {
  /// The indices of the objects to create, one list for each save.
  private(set) var batches: [[Int]] = []

  /// Divides `prepared` into batches of about `size` objects.
  init(_ prepared: PreparedImport, model: DocumentModel, size: Int) {
    guard prepared.objects.count > size else {
      batches = [Array(prepared.objects.indices)]
      return
    }
    var batch: [Int] = []
    for group in Self.groups(Self.needs(prepared, model)) {
      if !batch.isEmpty, batch.count + group.count > size {
        batches.append(batch)
        batch = []
      }
      batch += group
    }
    if !batch.isEmpty { batches.append(batch) }
  }

  /// For each object, the objects that must exist when it is saved.
  private static func needs(_ prepared: PreparedImport, _ model: DocumentModel) -> [[Int]] {
    var needs = [[Int]](repeating: [], count: prepared.objects.count)
    var required = RequiredSides(model: model)
    for (index, object) in prepared.objects.enumerated() {
      for link in object.links {
        let sides = required.sides(of: link.name, from: object.entity)
        if sides.source { needs[index] += link.destinations }
        if sides.inverse { for destination in link.destinations { needs[destination].append(index) } }
      }
    }
    return needs
  }

  /// The groups of objects that require each other, each after the groups that it requires: the strongly
  /// connected components by Tarjan's algorithm. Not recursive, because chains can be as long as the file.
  private static func groups(_ needs: [[Int]]) -> [[Int]] {
    var search = GroupSearch(needs)
    for start in needs.indices { search.visit(from: start) }
    return search.groups
  }
}

/// Which ends of a relationship are required.
private struct RequiredSides {
  let model: DocumentModel
  private var known: [String: [String: (source: Bool, inverse: Bool)]] = [:]

  init(model: DocumentModel) { self.model = model }

  mutating func sides(of name: String, from entity: String) -> (source: Bool, inverse: Bool) {
    if let sides = known[entity]?[name] { return sides }
    let relationship = find(name, from: entity)
    let inverse = relationship.flatMap { found in
      found.inverse.flatMap { find($0, from: found.destination) }
    }
    let sides = (relationship?.isRequired == true, inverse?.isRequired == true)
    known[entity, default: [:]][name] = sides
    return sides
  }

  private func find(_ name: String, from entity: String) -> DocumentRelationship? {
    model.lineage(of: entity).lazy.flatMap(\.relationships).first { $0.name == name }
  }
}

extension DocumentRelationship {
  fileprivate var isRequired: Bool { !isOptional || minimumCount > 0 }
}

/// The state of the search for strongly connected components.
private struct GroupSearch {
  private let needs: [[Int]]
  private var number: [Int]
  private var lowest: [Int]
  private var isOpen: [Bool]
  private var open: [Int] = []
  private var path: [(object: Int, next: Int)] = []
  private var count = 0
  private(set) var groups: [[Int]] = []

  init(_ needs: [[Int]]) {
    self.needs = needs
    number = [Int](repeating: -1, count: needs.count)
    lowest = number
    isOpen = [Bool](repeating: false, count: needs.count)
  }

  mutating func visit(from start: Int) {
    guard number[start] < 0 else { return }
    enter(start)
    while let (object, next) = path.last {
      if next < needs[object].count {
        path[path.count - 1].next += 1
        follow(from: object, to: needs[object][next])
      } else {
        leave(object)
      }
    }
  }

  private mutating func enter(_ object: Int) {
    number[object] = count
    lowest[object] = count
    count += 1
    isOpen[object] = true
    open.append(object)
    path.append((object, 0))
  }

  private mutating func follow(from object: Int, to needed: Int) {
    if number[needed] < 0 {
      enter(needed)
    } else if isOpen[needed] {
      lowest[object] = min(lowest[object], number[needed])
    }
  }

  private mutating func leave(_ object: Int) {
    path.removeLast()
    if let parent = path.last?.object { lowest[parent] = min(lowest[parent], lowest[object]) }
    guard lowest[object] == number[object] else { return }
    var group: [Int] = []
    while let last = open.popLast() {
      isOpen[last] = false
      group.append(last)
      if last == object { break }
    }
    groups.append(group.sorted())
  }
}
