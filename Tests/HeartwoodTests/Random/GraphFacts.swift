import GraphTestSupport

/// The facts that a context of the random tests should show: one value for each.
struct GraphFacts: Equatable {
  enum Fact: Hashable {
    /// Whether there is such an object.
    case company(Int), person(Int), club(Int)
    case size(Int), age(Int), nick(Int)
    /// The company that employs a person, and the one that ranks it.
    case employer(Int), ranked(Int)
    /// Whether two objects are related; the smaller company first.
    case partners(Int, Int)
    case member(person: Int, club: Int)
    /// The persons of a ranking, best first; those that are not ranked by the company do not count.
    case ranking(Int)
  }

  enum Value: Equatable {
    case flag(Bool)
    case number(Int64?)
    case text(String?)
    case object(Int?)
    case list([Int])
  }

  var values: [Fact: Value] = [:]

  subscript(_ fact: Fact) -> Value? {
    get { values[fact] }
    set { values[fact] = newValue }
  }

  func isTrue(_ fact: Fact) -> Bool { values[fact] == .flag(true) }

  func object(_ fact: Fact) -> Int? {
    guard case .object(let number) = values[fact] else { return nil }
    return number
  }

  var companies: [Int] { numbers { if case .company(let number) = $0 { number } else { nil } } }
  var people: [Int] { numbers { if case .person(let number) = $0 { number } else { nil } } }
  var clubs: [Int] { numbers { if case .club(let number) = $0 { number } else { nil } } }

  private func numbers(_ number: (Fact) -> Int?) -> [Int] {
    values.compactMap { $0.value == .flag(true) ? number($0.key) : nil }.sorted()
  }

  /// The persons in the ranking of a company.
  func ranking(_ company: Int) -> [Int] {
    guard case .list(let numbers) = values[.ranking(company)] else { return [] }
    return numbers.filter { isTrue(.person($0)) && object(.ranked($0)) == company }
  }

  /// These facts with others over them.
  func with(_ layer: GraphFacts) -> GraphFacts {
    GraphFacts(values: values.merging(layer.values) { $1 })
  }

  /// The value of a fact, or that of an object that was just inserted.
  func value(_ fact: Fact) -> Value { values[fact] ?? fact.initial }

  /// The facts that differ from those of `base`.
  func differences(from base: GraphFacts) -> GraphFacts {
    let facts = Set(values.keys).union(base.values.keys).filter { value($0) != base.value($0) }
    return GraphFacts(values: Dictionary(uniqueKeysWithValues: facts.map { ($0, value($0)) }))
  }

  /// Whether a fact is about one of the objects.
  func mention(_ numbers: Set<Int>) -> Bool {
    values.contains { fact, value in
      switch value {
      case .object(let number?) where numbers.contains(number): return true
      case .list(let list) where !numbers.isDisjoint(with: list): return true
      default: return fact.numbers.contains { numbers.contains($0) }
      }
    }
  }

  var mentionsRanking: Bool {
    values.keys.contains { if case .ranking = $0 { true } else if case .ranked = $0 { true } else { false } }
  }

  /// The objects that are deleted.
  var deleted: Set<Int> {
    Set(values.flatMap { $0.value == .flag(false) && $0.key.isExistence ? $0.key.numbers : [] })
  }
}

extension GraphFacts.Fact {
  var initial: GraphFacts.Value {
    switch self {
    case .company, .person, .club, .partners, .member: .flag(false)
    case .size: .number(nil)
    case .age: .number(0)
    case .nick: .text(nil)
    case .employer, .ranked: .object(nil)
    case .ranking: .list([])
    }
  }

  var numbers: [Int] {
    switch self {
    case .company(let number), .person(let number), .club(let number), .size(let number), .age(let number),
      .nick(let number), .employer(let number), .ranked(let number), .ranking(let number):
      [number]
    case .partners(let one, let other), .member(let one, let other): [one, other]
    }
  }

  var isExistence: Bool {
    switch self {
    case .company, .person, .club: true
    default: false
    }
  }
}

extension PlainCompanies {
  init(_ facts: GraphFacts) {
    for number in facts.companies {
      companies[number] = Company(ranking: facts.ranking(number))
      if case .number(let size) = facts[.size(number)] { companies[number]?.size = size }
    }
    for number in facts.people {
      var person = Person()
      if case .number(let age?) = facts[.age(number)] { person.age = age }
      if case .text(let nick) = facts[.nick(number)] { person.nick = nick }
      person.company = facts.object(.employer(number)).flatMap { companies[$0] == nil ? nil : $0 }
      people[number] = person
    }
    clubs = Set(facts.clubs)
    for case (let fact, .flag(true)) in facts.values {
      switch fact {
      case .partners(let one, let other) where companies[one] != nil && companies[other] != nil:
        setPartner(one, other, true)
      case .member(let person, let club) where clubs.contains(club): setMember(person, of: club, true)
      default: break
      }
    }
  }
}

extension PlainCompanies {
  /// The objects that differ, as text.
  func differences(from expected: PlainCompanies) -> String {
    var lines: [String] = []
    for number in Set(companies.keys).union(expected.companies.keys).sorted()
    where companies[number] != expected.companies[number] {
      lines.append("company \(number): \(text(companies[number])), not \(text(expected.companies[number]))")
    }
    for number in Set(people.keys).union(expected.people.keys).sorted()
    where people[number] != expected.people[number] {
      lines.append("person \(number): \(text(people[number])), not \(text(expected.people[number]))")
    }
    if clubs != expected.clubs { lines.append("clubs \(clubs.sorted()), not \(expected.clubs.sorted())") }
    return lines.joined(separator: "\n")
  }

  private func text(_ company: Company?) -> String {
    company.map { "size \($0.size ?? -1), partners \($0.partners.sorted()), ranking \($0.ranking)" } ?? "none"
  }

  private func text(_ person: Person?) -> String {
    person.map {
      "age \($0.age), nick \($0.nick ?? "-"), company \($0.company ?? 0), clubs \($0.clubs.sorted())"
    } ?? "none"
  }
}
