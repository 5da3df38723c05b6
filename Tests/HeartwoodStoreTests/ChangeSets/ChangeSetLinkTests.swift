import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

final class Meal: ManagedObject {
  @Attribute var name: String? = "unnamed"
  @Attribute var rank: Int64? = 7
  @Relationship(inverse: { $0.meals }) var dishes: [Dish]
  @Relationship(inverse: { $0.fans }) var rivals: Set<Meal>
  @Relationship(inverse: { $0.rivals }) var fans: Set<Meal>
  @Relationship var guests: Set<Dish>

  override func awakeFromInsert() {
    super.awakeFromInsert()
    rank = 8
  }
}

final class Dish: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: { $0.dishes }) var meals: Set<Meal>
}

/// A copy of a store of meals.
private struct Kitchen {
  let container: PersistentContainer
  let context: ManagedObjectContext
  var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }
  var number: UInt64 { container.currentHistoryToken?.transactionNumber ?? 0 }

  init(at url: URL) throws {
    container = try PersistentContainer(name: "Meals", types: [Meal.self, Dish.self], at: url)
    context = container.newBackgroundContext()
  }

  func copy(to url: URL) throws -> Kitchen {
    try coordinator.backup(to: url)
    let copy = try Kitchen(at: url)
    try copy.coordinator.beginLineage()
    return copy
  }

  @discardableResult
  func make(_ name: String?, rank: Int64? = nil) -> Meal {
    let meal = Meal(context: context)
    (meal.name, meal.rank) = (name, rank)
    return meal
  }

  func meals() throws -> [Meal] { try context.fetch(Meal.self).sorted { $0.objectID.key < $1.objectID.key } }
  func dishes() throws -> [Dish] { try context.fetch(Dish.self).sorted { $0.objectID.key < $1.objectID.key } }

  /// The changes that another copy does not have.
  func set(for other: Kitchen) throws -> ChangeSet {
    try coordinator.changeSet(after: other.coordinator.changeSetPositions())
  }

  /// Reverts the newest transaction in another one.
  func undo() throws {
    let context = container.newBackgroundContext()
    _ = try context.revert(transaction: number)
    try context.save()
  }

  /// All objects by their origins, without orders.
  func contents() throws -> [String] {
    context.reset()
    let view = try coordinator.historyStore(nil).newestView()
    let replica = try view.replica()
    func name(_ object: ManagedObject) throws -> String {
      let origin = try view.origin(of: RowAddress(object.entity, object.objectID.key), replica)
      return "\(object.entity.name ?? "")/\(origin.lineage.uuidString.prefix(4))/\(origin.key)"
    }
    let meals = try meals().map { meal in
      let dishes = try meal.dishes.map(name).sorted()
      let guests = try meal.guests.map(name).sorted()
      return try "\(name(meal)) \(meal.name ?? "nil") \(meal.rank ?? -1) \(dishes) \(guests) "
        + "\(meal.rivals.map(name).sorted())"
    }
    return try (meals + dishes().map { try "\(name($0)) \($0.name)" }).sorted()
  }
}

/// Adds and removes links at random, with a save after each.
private func toggle(_ context: ManagedObjectContext, _ count: Int, _ random: inout SplitMix64) throws {
  for _ in 0..<count {
    context.reset()
    let meals = try context.fetch(Meal.self).sorted { $0.objectID.key < $1.objectID.key }
    let dishes = try context.fetch(Dish.self).sorted { $0.objectID.key < $1.objectID.key }
    let (meal, dish) = (meals[random.below(meals.count)], dishes[random.below(dishes.count)])
    if let place = meal.dishes.firstIndex(of: dish) {
      meal.dishes.remove(at: place)
    } else {
      meal.dishes.append(dish)
    }
    if meal.guests.remove(dish) == nil { meal.guests.insert(dish) }
    do { try context.save() } catch let error as HeartwoodError where error.code == .managedObjectMerge {}
  }
}

@Suite struct `Links in change sets` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func url(_ name: String) -> URL { URL(fileURLWithPath: folder.path(name)) }

  @Test func `a link has its own time, whatever becomes of others of its relationship`() throws {
    let first = try Kitchen(at: url("a"))
    let meal = first.make("soup")
    meal.dishes = [Dish(context: first.context), Dish(context: first.context)]
    try first.context.save()
    let (second, third) = (try first.copy(to: url("b")), try first.copy(to: url("c")))
    // The first copy adds a dish again later than the second removes the other one.
    let removed = try #require(try second.meals().first)
    removed.dishes.remove(at: 0)
    try second.context.save()
    meal.dishes.append(Dish(context: first.context))
    try first.context.save()
    try third.coordinator.apply(first.set(for: third), policy: .newest)
    try third.coordinator.apply(second.set(for: third), policy: .newest)
    try first.coordinator.apply(third.set(for: first), policy: .newest)
    try second.coordinator.apply(third.set(for: second), policy: .newest)
    #expect(try third.meals().first?.dishes.count == 2)
    #expect(try first.contents() == third.contents() && second.contents() == third.contents())
  }

  @Test func `a later change of an object that is deleted here arrives when the object comes back`() throws {
    let first = try Kitchen(at: url("a"))
    first.make("soup").guests = [Dish(context: first.context)]
    try first.context.save()
    let (second, third) = (try first.copy(to: url("b")), try first.copy(to: url("c")))
    try first.context.delete(#require(first.meals().first))
    try first.context.save()
    try second.coordinator.apply(first.set(for: second), policy: .newest)
    try first.undo()
    let changed = try #require(try third.meals().first)
    (changed.name, changed.dishes, changed.guests) = ("stew", try third.dishes(), [])
    try third.context.save()
    // Here the object is deleted still.
    try second.coordinator.apply(third.set(for: second), policy: .newest)
    try second.coordinator.apply(first.set(for: second), policy: .newest)
    try first.coordinator.apply(third.set(for: first), policy: .newest)
    try second.coordinator.apply(first.set(for: second), policy: .newest)
    #expect(try second.meals().map(\.name) == ["stew"])
    #expect(try second.meals().first?.dishes.count == 1 && second.meals().first?.guests.isEmpty == true)
    #expect(try first.contents() == second.contents())
  }

  @Test func `an object that comes back has the links of then, not those that another copy made before`()
    throws
  {
    let first = try Kitchen(at: url("a"))
    first.make("soup").dishes = [Dish(context: first.context)]
    _ = Dish(context: first.context)
    try first.context.save()
    let (second, third) = (try first.copy(to: url("b")), try first.copy(to: url("c")))
    try first.context.delete(#require(first.meals().first))
    try first.context.save()
    let meal = try #require(try third.meals().first)
    meal.dishes = try third.dishes()
    try third.context.save()
    try second.coordinator.apply(third.set(for: second), policy: .newest)
    try first.undo()
    for (from, to) in [(first, third), (first, second), (third, first), (second, first), (third, second)] {
      try to.coordinator.apply(from.set(for: to), policy: .newest)
    }
    third.context.reset()
    #expect(try third.meals().first?.dishes.count == 1)
    #expect(try first.contents() == second.contents() && first.contents() == third.contents())
  }

  @Test(arguments: ChangeSetPolicy.allCases)
  func `a link that one copy removes is gone, though another copy adds one to the same object`(
    policy: ChangeSetPolicy
  ) throws {
    let first = try Kitchen(at: url("a"))
    let (meal, dish) = (first.make("soup"), Dish(context: first.context))
    dish.name = "old"
    (meal.dishes, meal.guests) = ([dish], [dish])
    try first.context.save()
    let second = try first.copy(to: url("b"))
    (meal.dishes, meal.guests) = ([], [])
    try first.context.save()
    let (other, added) = (try #require(try second.meals().first), Dish(context: second.context))
    added.name = "new"
    other.dishes.append(added)
    other.guests.insert(added)
    try second.context.save()
    try first.coordinator.apply(second.set(for: first), policy: policy)
    try second.coordinator.apply(first.set(for: second), policy: policy)
    for kitchen in [first, second] {
      kitchen.context.reset()
      let meal = try #require(try kitchen.meals().first)
      #expect(meal.dishes.map(\.name) == ["new"] && meal.guests.map(\.name) == ["new"])
    }
  }

  @Test func `a link that was made after an object came back elsewhere comes back with it`() throws {
    let first = try Kitchen(at: url("a"))
    first.make("soup")
    _ = Dish(context: first.context)
    try first.context.save()
    let (second, third) = (try first.copy(to: url("b")), try first.copy(to: url("c")))
    try third.context.delete(#require(third.meals().first))
    try third.context.save()
    try second.coordinator.apply(third.set(for: second), policy: .newest)
    try second.undo()
    // This copy knows neither that the object was deleted nor that it came back.
    let meal = try #require(try first.meals().first)
    (meal.dishes, meal.rivals) = (try first.dishes(), [meal])
    try first.context.save()
    try second.coordinator.apply(first.set(for: second), policy: .newest)
    try first.coordinator.apply(third.set(for: first), policy: .newest)
    for (from, to) in [(first, second), (second, first), (second, third), (first, third)] {
      try to.coordinator.apply(from.set(for: to), policy: .newest)
    }
    #expect(try second.meals().first?.dishes.count == 1)
    #expect(try first.contents() == second.contents() && third.contents() == second.contents())
  }

  @Test func `links that are saved while a set is applied come before it or after it`() throws {
    let first = try Kitchen(at: url("a"))
    for _ in 0..<4 { first.make("meal") }
    for _ in 0..<4 { _ = Dish(context: first.context) }
    try first.context.save()
    let second = try first.copy(to: url("b"))
    var random = SplitMix64(seed: 11)
    for round in 0..<(LongRun.isWanted ? 200 : 20) {
      try toggle(first.context, 4, &random)
      let (set, container) = (try first.set(for: second), second.container)
      let saved = DispatchSemaphore(value: 0)
      let failure = Guarded<(any Error)?>(nil)
      Thread.detachNewThread {
        var random = SplitMix64(seed: UInt64(round))
        do { try toggle(container.newBackgroundContext(), 3, &random) } catch {
          failure.withLock { $0 = error }
        }
        saved.signal()
      }
      try second.coordinator.apply(set, policy: .newest)
      saved.wait()
      if let error = failure.withLock({ $0 }) { throw error }
    }
    for _ in 0..<2 {
      try first.coordinator.apply(second.set(for: first), policy: .newest)
      try second.coordinator.apply(first.set(for: second), policy: .newest)
    }
    #expect(try first.contents() == second.contents())
  }

  private func change(_ kitchen: Kitchen, _ random: inout SplitMix64) throws {
    let context = kitchen.context
    context.reset()
    let (meals, dishes) = (try kitchen.meals(), try kitchen.dishes())
    for _ in 0...random.below(3) {
      let meal = meals.randomElement(using: &random)
      let dish = dishes.randomElement(using: &random)
      switch random.below(8) {
      case 0: kitchen.make(random.below(3) == 0 ? nil : "meal", rank: Int64(random.below(9)))
      case 1: Dish(context: context).name = "dish \(random.below(9))"
      case 2: if let meal, random.below(2) == 0 { context.delete(meal) }
      case 3: if let dish, random.below(3) == 0 { context.delete(dish) }
      default:
        guard let meal, let dish, let other = meals.randomElement(using: &random), !meal.isDeleted,
          !dish.isDeleted, !other.isDeleted
        else { continue }
        switch random.below(4) {
        case 0: if let place = meal.dishes.firstIndex(of: dish) { meal.dishes.remove(at: place) }
        case 1: if !meal.dishes.contains(dish) { meal.dishes.insert(dish, at: 0) }
        case 2: if meal.rivals.remove(other) == nil { meal.rivals.insert(other) }
        default: if meal.guests.remove(dish) == nil { meal.guests.insert(dish) }
        }
      }
    }
    try context.save()
  }

  /// Three copies change links at random, take changes back, and exchange change sets in any order.
  @Test(arguments: 1...20) func `links of copies that have exchanged everything are equal`(
    seed: UInt64
  ) throws {
    print("random seed \(seed)")
    var random = SplitMix64(seed: seed)
    let first = try Kitchen(at: url("0"))
    for _ in 0..<4 { try change(first, &random) }
    let copies = [first, try first.copy(to: url("1")), try first.copy(to: url("2"))]
    var sent: [(to: Int, set: ChangeSet)] = []
    func apply(_ set: ChangeSet, to place: Int) throws {
      do {
        try copies[place].coordinator.apply(set, policy: .newest)
      } catch let error as HeartwoodError where error.code == .persistentHistoryTokenExpired {
        // The changes between were lost.
      }
    }
    for _ in 0..<(LongRun.isWanted ? 300 : 60) {
      let (from, to) = (random.below(3), random.below(3))
      switch random.below(5) {
      case 0, 1: try change(copies[from], &random)
      case 2: try copies[from].undo()
      case 3 where from != to: sent.append((to, try copies[from].set(for: copies[to])))
      default:
        guard !sent.isEmpty else { continue }
        let message = sent.remove(at: random.below(sent.count))
        if random.below(5) > 0 { try apply(message.set, to: message.to) }
      }
    }
    for _ in 0..<3 {
      for from in 0..<3 {
        for to in 0..<3 where from != to { try apply(copies[from].set(for: copies[to]), to: to) }
      }
    }
    let states = try copies.map { try $0.contents() }
    let differing = Set(states.joined()).filter { line in !states.allSatisfy { $0.contains(line) } }
    #expect(differing.isEmpty, "seed \(seed): \(differing.sorted())")
  }
}
