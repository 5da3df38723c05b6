import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults

/// A node of the graph in which random tests provoke conflicts: every kind of relationship, and two constraints.
final class Knot: ManagedObject {
  @Attribute(.unique) var code: String?
  @Attribute(.unique) var number: Int64?
  @Attribute var name = ""
  @Attribute var note: String?
  @Attribute var size: Int64 = 0
  @Attribute var stamp = UUID()
  /// The transient text at the last save of the root context.
  @Attribute var echo: String?
  @Attribute(.transient) var scratch: String?
  @Relationship(inverse: { $0.children }) var parent: Knot?
  @Relationship(inverse: { $0.parent }) var children: Set<Knot>
  @Relationship(inverse: { $0.twin }) var twin: Knot?
  @Relationship(inverse: { $0.friends }) var friends: Set<Knot>
  @Relationship(inverse: { $0.list }) var owner: Knot?
  @Relationship(inverse: { $0.owner }) var list: [Knot]
  @Relationship(inverse: { $0.knots }) var tags: Set<KnotTag>
  @Relationship var link: Knot?
  @Relationship var seen: Set<KnotTag>

  override func willSave() {
    guard managedObjectContext?.parent == nil, let scratch, echo != scratch else { return }
    echo = scratch
  }
}

final class KnotTag: ManagedObject {
  @Attribute(.unique) var label: String?
  @Attribute var weight: Int64?
  @Relationship(inverse: { $0.tags }) var knots: [Knot]
}

let knotTypes: [ManagedObject.Type] = [Knot.self, KnotTag.self]

/// Everything that a context shows of knots, by names, as lines.
func knotLines(_ context: ManagedObjectContext, stamps: Bool = false) throws -> [String] {
  var lines: [String] = []
  func names(_ knots: some Sequence<Knot>) -> String { knots.map(\.name).joined(separator: " ") }
  func sorted(_ knots: Set<Knot>) -> String { knots.map(\.name).sorted().joined(separator: " ") }
  for knot in try context.fetch(Knot.self) {
    var line = "\(knot.name): \(knot.code ?? "-") \(knot.number ?? -1) \(knot.note ?? "-") \(knot.size)"
    line += " \(knot.echo ?? "-") parent \(knot.parent?.name ?? "-") children [\(sorted(knot.children))]"
    line +=
      " twin \(knot.twin?.name ?? "-") friends [\(sorted(knot.friends))] owner \(knot.owner?.name ?? "-")"
    line +=
      " list [\(names(knot.list))] tags [\(knot.tags.compactMap(\.label).sorted().joined(separator: " "))]"
    line +=
      " link \(knot.link?.name ?? "-") seen [\(knot.seen.compactMap(\.label).sorted().joined(separator: " "))]"
    if stamps { line += knot.stamp == .known ? " known" : " other" }
    lines.append(line)
  }
  for tag in try context.fetch(KnotTag.self) {
    lines.append("tag \(tag.label ?? "-") \(tag.weight ?? -1) [\(names(tag.knots))]")
  }
  return lines.sorted()
}

extension UUID {
  /// A stamp that a test has set.
  static let known = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
}

/// Random changes of knots in one context. The same seed makes the same changes in any context that shows the same.
struct KnotEditor {
  var random: SplitMix64
  var made = 0
  /// The steps so far, to print when a comparison fails.
  var log: [String] = []

  /// The knots and tags that a context shows, in an order that depends on their values only.
  static func objects(_ context: ManagedObjectContext) throws -> (knots: [Knot], tags: [KnotTag]) {
    (
      try context.fetch(Knot.self).sorted { $0.name < $1.name },
      try context.fetch(KnotTag.self).sorted { ($0.label ?? "") < ($1.label ?? "") }
    )
  }

  /// Fills an empty store.
  mutating func fill(_ context: ManagedObjectContext) throws {
    var knots: [Knot] = []
    for number in 0..<6 {
      let knot = Knot(context: context)
      (knot.name, knot.code, knot.number) = ("k\(number)", "c\(number)", Int64(number))
      (knot.note, knot.size, knot.stamp) = ("note \(number)", Int64(number) * 10, .known)
      knots.append(knot)
    }
    for label in ["a", "b", "c"] {
      let tag = KnotTag(context: context)
      (tag.label, tag.weight) = (label, 1)
      tag.knots = Array(knots.prefix(3))
    }
    for knot in knots.dropFirst(2) {
      knot.parent = knots[0]
      knot.owner = knots[1]
    }
    knots[0].twin = knots[1]
    knots[2].friends = [knots[3], knots[4]]
    knots[5].link = knots[2]
    try context.save()
  }

  mutating func change(_ context: ManagedObjectContext, deleting: Bool) throws {
    let (knots, tags) = try Self.objects(context)
    guard let knot = knots.randomElement(using: &random), let other = knots.randomElement(using: &random),
      let tag = tags.randomElement(using: &random)
    else { return insertKnot(context, tags) }
    let (value, isNil) = (random.below(8), random.below(4) == 0)
    switch random.below(18) {
    case 0, 1: insertKnot(context, tags)
    case 2: insertTag(context, knots)
    case 3:
      knot.code = isNil ? nil : "c\(value)"
      log.append("\(knot.name).code = c\(value)")
    case 4:
      knot.number = isNil ? nil : Int64(value)
      log.append("\(knot.name).number = \(value)")
    case 5:
      (knot.note, knot.size) = (isNil ? nil : "note \(value)", Int64(value))
      log.append("\(knot.name).note = \(value), size")
    case 6:
      knot.scratch = "scratch \(value)"
      log.append("\(knot.name).scratch = \(value)")
    case 7:
      knot.parent = isNil ? nil : other
      log.append("\(knot.name).parent = \(isNil ? "nil" : other.name)")
    case 8:
      if isNil { other.children.remove(knot) } else { other.children.insert(knot) }
      log.append("\(other.name).children \(isNil ? "-" : "+") \(knot.name)")
    case 9:
      knot.twin = isNil ? nil : other
      log.append("\(knot.name).twin = \(isNil ? "nil" : other.name)")
    case 10:
      if isNil { knot.friends = [] } else { knot.friends.insert(other) }
      log.append("\(knot.name).friends \(isNil ? "= []" : "+ \(other.name)")")
    case 11:
      knot.owner = isNil ? nil : other
      log.append("\(knot.name).owner = \(isNil ? "nil" : other.name)")
    case 12:
      other.$list.insert(knot, at: 0)
      log.append("\(other.name).list insert \(knot.name)")
    case 13:
      if isNil { knot.tags.remove(tag) } else { tag.$knots.insert(knot, at: 0) }
      log.append("\(knot.name).tags \(isNil ? "-" : "+") \(tag.label ?? "-")")
    case 14:
      knot.link = isNil ? nil : other
      log.append("\(knot.name).link = \(isNil ? "nil" : other.name)")
    case 15:
      if isNil { knot.seen = [] } else { knot.seen.insert(tag) }
      log.append("\(knot.name).seen \(isNil ? "= []" : "+ \(tag.label ?? "-")")")
    case 16:
      let former = knot.owner
      knot.owner = nil
      knot.owner = former
      log.append("\(knot.name) leaves its list and returns")
    default:
      guard deleting, knot.hasNoLinks(from: knots) else { return }
      context.delete(knot)
      context.processPendingChanges()
      log.append("delete \(knot.name)")
    }
  }

  private mutating func insertKnot(_ context: ManagedObjectContext, _ tags: [KnotTag]) {
    made += 1
    let knot = Knot(context: context)
    knot.name = "n\(made)"
    if random.below(3) > 0 { knot.code = "c\(random.below(8))" }
    if random.below(3) == 0 { knot.number = Int64(random.below(8)) }
    if random.below(3) == 0 { knot.note = random.below(2) == 0 ? nil : "new" }
    if let tag = tags.randomElement(using: &random), random.below(2) == 0 { knot.tags = [tag] }
    log.append("insert \(knot.name) \(knot.code ?? "-") \(knot.number ?? -1)")
  }

  private mutating func insertTag(_ context: ManagedObjectContext, _ knots: [Knot]) {
    let tag = KnotTag(context: context)
    made += 1
    tag.label = random.below(2) == 0 ? ["a", "b", "c"][random.below(3)] : "t\(made)"
    tag.knots = knots.filter { _ in random.below(3) == 0 }
    log.append("insert tag \(tag.label ?? "-") [\(tag.knots.map(\.name))]")
  }
}

extension Knot {
  /// Whether no knot would keep a reference that has no inverse to follow.
  fileprivate func hasNoLinks(from knots: [Knot]) -> Bool { !knots.contains { $0.link === self } }
}
