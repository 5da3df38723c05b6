import GraphTestSupport
import Heartwood
import HeartwoodFaults

/// The edits of one context, in the graph and in the model.
extension ContextTreeWork {
  /// One to three edits make an event, which is undone as one.
  mutating func edit(_ index: Int) throws {
    let (node, before) = begin(index)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: insertCompany(node)
      case 1, 2: insertPerson(node)
      case 3: insertClub(node)
      case 4, 5: try setValues(index)
      case 6, 7: try move(index)
      case 8: try relatePartners(index)
      case 9: try relateMembers(index)
      default: try rank(index)
      }
    }
    endGroup(index, before)
  }

  mutating func changeDeleting(_ index: Int) throws {
    let (node, before) = begin(index)
    defer { endGroup(index, before) }
    let shown = tree.shown(index)
    let candidates = present(index, shown.companies + shown.people + shown.clubs)
    guard let number = candidates.randomElement(using: &random) else { return }
    var leaving: Set = [number]
    if shown.isTrue(.company(number)) {
      leaving.formUnion(shown.people.filter { shown.object(.employer($0)) == number })
    }
    guard !tree.strangers(of: index).contains(where: { $0.layer.mention(leaving) }) else { return }
    log.append("delete \(number)")
    if shown.isTrue(.company(number)) {
      node.context.delete(try company(number, index))
    } else if shown.isTrue(.person(number)) {
      node.context.delete(try person(number, index))
    } else {
      node.context.delete(try club(number, index))
    }
    var after = shown
    for number in leaving { after.remove(number) }
    node.layer = after.differences(from: tree.base(of: index))
  }

  private func begin(_ index: Int) -> (ContextTree.Node, undoCount: Int) {
    let node = tree.nodes[index]
    node.context.processPendingChanges()
    let before = node.stack.undoCount
    node.stack.beginUndoGrouping()
    return (node, before)
  }

  // MARK: Steps

  private mutating func insertCompany(_ node: ContextTree.Node) {
    nextNumber += 1
    log.append("insert company \(nextNumber)")
    let company = Company(context: node.context)
    (company.code, company.name) = ("C\(nextNumber)", "C\(nextNumber)")
    node.layer[.company(nextNumber)] = .flag(true)
  }

  private mutating func insertPerson(_ node: ContextTree.Node) {
    nextNumber += 1
    log.append("insert person \(nextNumber)")
    Person(context: node.context).name = "P\(nextNumber)"
    node.layer[.person(nextNumber)] = .flag(true)
  }

  private mutating func insertClub(_ node: ContextTree.Node) {
    nextNumber += 1
    log.append("insert club \(nextNumber)")
    Club(context: node.context).title = "K\(nextNumber)"
    node.layer[.club(nextNumber)] = .flag(true)
  }

  private mutating func setValues(_ index: Int) throws {
    let shown = tree.shown(index)
    if let number = pick(index, shown.people) {
      let age = Int64.random(in: 0..<60, using: &random)
      log.append("age of \(number) is \(age)")
      try person(number, index).age = age
      set(.age(number), .number(age), index)
      if age % 4 == 0 {
        try person(number, index).nick = age % 8 == 0 ? nil : "nick \(age)"
        set(.nick(number), .text(age % 8 == 0 ? nil : "nick \(age)"), index)
      }
    }
    if let number = pick(index, shown.companies) {
      let size = Bool.random(using: &random) ? Int64.random(in: 0..<100, using: &random) : nil
      log.append("size of \(number) is \(size ?? -1)")
      try company(number, index).size = size
      set(.size(number), .number(size), index)
    }
  }

  private mutating func move(_ index: Int) throws {
    let shown = tree.shown(index)
    guard let number = pick(index, shown.people) else { return }
    let target = Int.random(in: 0..<4, using: &random) == 0 ? nil : pick(index, shown.companies)
    log.append("employ \(number) at \(target ?? 0)")
    if let target, Bool.random(using: &random) {
      try company(target, index).people.insert(person(number, index))
    } else {
      try person(number, index).company = target.map { try company($0, index) }
    }
    set(.employer(number), .object(target), index)
  }

  private mutating func relatePartners(_ index: Int) throws {
    let shown = tree.shown(index)
    guard let one = pick(index, shown.companies), let other = pick(index, shown.companies) else { return }
    let related = Int.random(in: 0..<3, using: &random) > 0
    log.append("partners \(one) \(other) \(related)")
    if related {
      try company(one, index).partners.insert(company(other, index))
    } else {
      try company(one, index).partners.remove(company(other, index))
    }
    set(.partners(min(one, other), max(one, other)), .flag(related), index)
  }

  private mutating func relateMembers(_ index: Int) throws {
    let shown = tree.shown(index)
    guard let number = pick(index, shown.people), let club = pick(index, shown.clubs) else { return }
    let isMember = Int.random(in: 0..<3, using: &random) > 0
    log.append("member \(number) \(club) \(isMember)")
    let (person, object) = (try person(number, index), try self.club(club, index))
    switch (isMember, Bool.random(using: &random)) {
    case (true, true): person.$clubs.insert(object)
    case (true, false): object.members.insert(person)
    case (false, true): person.$clubs.remove(object)
    case (false, false): object.members.remove(person)
    }
    set(.member(person: number, club: club), .flag(isMember), index)
  }

  /// Only one line of contexts changes rankings at a time: orders that several have changed are conflicts.
  private mutating func rank(_ index: Int) throws {
    let shown = tree.shown(index)
    guard !tree.strangers(of: index).contains(where: \.layer.mentionsRanking),
      let number = pick(index, shown.people), let target = pick(index, shown.companies)
    else { return }
    var ranking = shown.ranking(target).filter { $0 != number }
    let place = Int.random(in: 0...ranking.count, using: &random)
    log.append("rank \(number) in \(target) at \(place)")
    try company(target, index).$ranking.insert(person(number, index), at: place)
    ranking.insert(number, at: place)
    set(.ranked(number), .object(target), index)
    set(.ranking(target), .list(ranking), index)
  }

  // MARK: The model

  private func set(_ fact: GraphFacts.Fact, _ value: GraphFacts.Value, _ index: Int) {
    let isAsBefore = tree.base(of: index).value(fact) == value
    tree.nodes[index].layer[fact] = isAsBefore ? nil : value
  }

  /// One of the objects that no context has deleted.
  private mutating func pick(_ index: Int, _ numbers: [Int]) -> Int? {
    present(index, numbers).randomElement(using: &random)
  }

  private func present(_ index: Int, _ numbers: [Int]) -> [Int] {
    let deleted = tree.nodes.reduce(into: Set<Int>()) { $0.formUnion($1.layer.deleted) }
    return numbers.filter { !deleted.contains($0) }
  }

  private func company(_ number: Int, _ index: Int) throws -> Company {
    try only(tree.nodes[index].context.fetch(Company.self, where: { $0.code == "C\(number)" }), number)
  }

  private func person(_ number: Int, _ index: Int) throws -> Person {
    try only(tree.nodes[index].context.fetch(Person.self, where: { $0.name == "P\(number)" }), number)
  }

  private func club(_ number: Int, _ index: Int) throws -> Club {
    try only(tree.nodes[index].context.fetch(Club.self, where: { $0.title == "K\(number)" }), number)
  }

  private func only<Object>(_ objects: [Object], _ number: Int) throws -> Object {
    guard objects.count == 1 else { throw Disagreement(what: "\(objects.count) objects for \(number)") }
    return objects[0]
  }
}

extension GraphFacts {
  /// Deletes an object, and what refers to it.
  mutating func remove(_ number: Int) {
    for (fact, value) in values {
      if fact.isExistence, fact.numbers == [number] { values[fact] = .flag(false) }
      if value == .object(number) { values[fact] = .object(nil) }
      if case .partners = fact, fact.numbers.contains(number) { values[fact] = .flag(false) }
      if case .member = fact, fact.numbers.contains(number) { values[fact] = .flag(false) }
    }
  }
}
