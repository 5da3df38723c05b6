import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

final class Course: ManagedObject {
  @Attribute(.unique) var title: String?
  @Attribute var rank: Int64 = 0
  @Relationship var wine: Course?
}

final class Menu: ManagedObject {
  @Attribute var name = ""
  @Relationship var main: Course?
  @Relationship var courses: [Course]
  @Relationship var extras: Set<Course>
}

final class Place: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.previous }) var next: Place?
  @Relationship(inverse: { $0.next }) var previous: Place?
}

/// A copy of a store of menus, whose relationships have no inverses.
private struct Restaurant {
  let container: PersistentContainer
  let context: ManagedObjectContext
  var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }

  init(at url: URL) throws {
    container = try PersistentContainer(name: "Menus", types: [Course.self, Menu.self], at: url)
    context = container.newBackgroundContext()
  }

  func copy(to url: URL) throws -> Restaurant {
    try coordinator.backup(to: url)
    let copy = try Restaurant(at: url)
    try copy.coordinator.beginLineage()
    return copy
  }

  @discardableResult
  func course(_ title: String?, rank: Int64 = 0) -> Course {
    let course = Course(context: context)
    (course.title, course.rank) = (title, rank)
    return course
  }

  func menu(_ name: String, _ courses: [Course]) -> Menu {
    let menu = Menu(context: context)
    (menu.name, menu.main, menu.courses, menu.extras) = (name, courses.last, courses, Set(courses))
    return menu
  }

  func apply(from other: Restaurant) throws {
    let set = try other.coordinator.changeSet(after: coordinator.changeSetPositions())
    try coordinator.apply(set, policy: .newest)
    context.reset()
  }

  /// All objects, by the titles of courses, which have the rank of the copy that inserted them.
  func contents() throws -> [String] {
    context.reset()
    func text(_ course: Course?) -> String { course.map { "\($0.title ?? "nil")\($0.rank)" } ?? "nil" }
    let courses = try context.fetch(Course.self).map { "\(text($0)) with \(text($0.wine))" }
    let menus = try context.fetch(Menu.self).map { menu in
      "\(menu.name): \(text(menu.main)) \(menu.courses.map(text)) \(menu.extras.map(text).sorted())"
    }
    return (courses + menus).sorted()
  }
}

@Suite struct `Equal objects in change sets` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.path(name)) }

  /// Two copies with a course of the same title each; the first one's is kept, as it was inserted before.
  private func pair() throws -> (Restaurant, Restaurant) {
    let first = try Restaurant(at: url("a"))
    first.course("bread")
    try first.context.save()
    let second = try first.copy(to: url("b"))
    first.course("soup", rank: 1)
    try first.context.save()
    let soup = second.course("soup", rank: 2)
    let bread = try #require(try second.context.fetch(Course.self, where: { $0.title == "bread" }).first)
    _ = second.menu("lunch", [bread, soup, second.course("tea")])
    _ = second.menu("dinner", [soup])
    (soup.wine, bread.wine) = (soup, soup)
    try second.context.save()
    return (first, second)
  }

  private let united = [
    "bread0 with soup1", "dinner: soup1 [\"soup1\"] [\"soup1\"]",
    "lunch: tea0 [\"bread0\", \"soup1\", \"tea0\"] [\"bread0\", \"soup1\", \"tea0\"]", "soup1 with nil",
    "tea0 with nil",
  ]

  @Test func `objects of a set refer to the kept one of two equal objects, also without an inverse`() throws {
    let (first, second) = try pair()
    try first.apply(from: second)
    #expect(try first.contents() == united)
    try second.apply(from: first)
    #expect(try second.contents() == first.contents())
    #expect(try second.coordinator.verify().findings.isEmpty && first.coordinator.verify().findings.isEmpty)
  }

  @Test func `objects of the store refer to the kept one of two equal objects, also without an inverse`()
    throws
  {
    let (first, second) = try pair()
    try second.apply(from: first)
    #expect(try second.contents() == united)
    try first.apply(from: second)
    #expect(try second.contents() == first.contents())
    #expect(try second.coordinator.verify().findings.isEmpty && first.coordinator.verify().findings.isEmpty)
  }

  @Test func `an object of a set may refer to one that the set deletes, without an inverse`() throws {
    let first = try Restaurant(at: url("a"))
    first.course("bread")
    let menu = first.menu("lunch", [])
    try first.context.save()
    let second = try first.copy(to: url("b"))
    let bread = try #require(try first.context.fetch(Course.self).first)
    (menu.main, menu.courses, menu.extras) = (bread, [bread], [bread])
    try first.context.save()
    first.context.delete(bread)
    try first.context.save()
    try second.apply(from: first)
    #expect(try second.context.fetch(Course.self).isEmpty)
    #expect(try second.context.fetch(Menu.self).map(\.name) == ["lunch"])
  }

  @Test(arguments: [ChangeSetPolicy.mine, .theirs], [false, true])
  func `the policy decides which of two equal objects is kept`(policy: ChangeSetPolicy, isSwapped: Bool)
    throws
  {
    let (first, second) = try pair()
    let (from, to) = isSwapped ? (first, second) : (second, first)
    let set = try from.coordinator.changeSet(after: to.coordinator.changeSetPositions())
    let report = try to.coordinator.apply(set, policy: policy)
    #expect(report.unitedObjectIDs.count == 1)
    to.context.reset()
    let soups = try to.context.fetch(Course.self, where: { $0.title == "soup" })
    #expect(soups.map(\.rank) == [(policy == .mine) == isSwapped ? 2 : 1])
  }

  @Test func `copies agree that a reference leads to an object that one has deleted`() throws {
    let first = try Restaurant(at: url("a"))
    first.course("bread")
    _ = first.menu("lunch", [])
    try first.context.save()
    let second = try first.copy(to: url("b"))
    let (menu, bread) = (
      try #require(try first.context.fetch(Menu.self).first),
      try #require(try first.context.fetch(Course.self).first)
    )
    menu.main = bread
    try first.context.save()
    second.context.delete(try #require(try second.context.fetch(Course.self).first))
    try second.context.save()
    for _ in 0..<2 {
      try first.apply(from: second)
      try second.apply(from: first)
    }
    #expect(try first.contents() == second.contents() && first.contents() == ["lunch: nil [] []"])
  }

  @Test func `an order that is changed, sent and changed back is sent again`() throws {
    let first = try Restaurant(at: url("a"))
    _ = first.menu("lunch", [first.course("bread"), first.course("soup")])
    try first.context.save()
    let second = try first.copy(to: url("b"))
    for copies in [(first, second), (second, first), (first, second)] {
      let menu = try #require(try copies.0.context.fetch(Menu.self).first)
      menu.courses.reverse()
      try copies.0.context.save()
      try copies.1.apply(from: copies.0)
      #expect(try copies.1.contents() == copies.0.contents())
    }
  }

  @Test(arguments: 1...20, [ChangeSetPolicy.error, .mine])
  func `an inverted set leads one-to-one relationships back`(
    seed: UInt64, policy: ChangeSetPolicy
  ) throws {
    print("random seed \(seed)")
    var random = SplitMix64(seed: seed)
    let open = { (name: String) in
      try PersistentContainer(name: name, types: [Place.self], at: url(name))
    }
    let first = try open("a")
    let context = first.newBackgroundContext()
    let places = (0..<4).map { number in
      let place = Place(context: context)
      place.name = "\(number)"
      return place
    }
    func shuffle() throws {
      for _ in 0..<3 {
        places.randomElement(using: &random)?.next =
          [nil, places.randomElement(using: &random)][random.below(2)]
      }
      try context.save()
    }
    func state(_ container: PersistentContainer) throws -> [String] {
      try container.newBackgroundContext().fetch(Place.self)
        .map { "\($0.name) > \($0.next?.name ?? "-"), < \($0.previous?.name ?? "-")" }.sorted()
    }
    try shuffle()
    try first.persistentStoreCoordinator.backup(to: url("b"))
    let second = try open("b")
    try second.persistentStoreCoordinator.beginLineage()
    let (before, start) = (try state(first), try #require(first.currentHistoryToken?.transactionNumber))
    try shuffle()
    let set = try first.persistentStoreCoordinator.changeSet(from: start)
    try second.persistentStoreCoordinator.apply(set, policy: policy)
    #expect(try state(second) == state(first))
    let report = try second.persistentStoreCoordinator.apply(set.inverted, policy: policy)
    #expect(try state(second) == before && report.conflicts.isEmpty)
  }

  /// The links of three places in both copies, by their numbers.
  @Test(
    arguments: [
      ((1, 2), (1, 0)), ((1, 0), (1, 2)), ((0, 2), (1, 2)), ((2, 0), (1, 0)), ((1, 0), (2, 0)),
    ] as [((Int, Int), (Int, Int))], [ChangeSetPolicy.error, .mine])
  func `a one-to-one relationship that both copies have changed is a conflict`(
    links: ((Int, Int), (Int, Int)), policy: ChangeSetPolicy
  ) throws {
    let open = { (name: String) in try PersistentContainer(name: name, types: [Place.self], at: url(name)) }
    func link(_ container: PersistentContainer, _ pair: (Int, Int)) throws {
      let context = container.newBackgroundContext()
      let places = try context.fetch(Place.self, where: { $0.name != "" }, sort: [.ascending(\.name)])
      places[pair.0].next = places[pair.1]
      try context.save()
    }
    func state(_ container: PersistentContainer) throws -> [String] {
      try container.newBackgroundContext().fetch(Place.self).map { "\($0.name) > \($0.next?.name ?? "-")" }
        .sorted()
    }
    let first = try open("a")
    let context = first.newBackgroundContext()
    for number in 0..<3 { Place(context: context).name = "\(number)" }
    try context.save()
    try first.persistentStoreCoordinator.backup(to: url("b"))
    let second = try open("b")
    try second.persistentStoreCoordinator.beginLineage()
    try link(first, links.0)
    try link(second, links.1)
    let before = try state(first)
    let coordinator = first.persistentStoreCoordinator
    let set = try second.persistentStoreCoordinator.changeSet(after: coordinator.changeSetPositions())
    if policy == .error {
      #expect(heartwoodError { try coordinator.apply(set) }?.code == .persistentStoreSaveConflicts)
    } else {
      #expect(try !coordinator.apply(set, policy: policy).conflicts.isEmpty)
    }
    #expect(try state(first) == before)
  }
}
