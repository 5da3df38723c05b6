/// The objects of a result in order, with their sections.
struct TrackedResult {
  struct Section: Equatable {
    let name: String
    var count: Int
  }

  /// An object at an index of a result.
  struct Placed {
    let tracked: TrackedObject
    let index: Int

    var object: ManagedObject { tracked.object }
  }

  private(set) var tracked: [TrackedObject] = []
  /// The same objects.
  private(set) var objects: [ManagedObject] = []
  /// Runs of objects with one name. Without sections there is one, which may be empty.
  private(set) var sections: [Section] = []
  private let hasSections: Bool
  private var byObject: [ObjectIdentifier: TrackedObject] = [:]

  /// The most objects that are removed and inserted one by one; for more all are moved once.
  private static let mostSingleMoves = 16

  /// - Parameter tracked: In order.
  /// - Throws: `.coreData` if the objects of a section are not together.
  init(_ tracked: [TrackedObject], hasSections: Bool) throws(HeartwoodError) {
    self.tracked = tracked
    self.hasSections = hasSections
    objects = tracked.map(\.object)
    byObject = Dictionary(
      tracked.lazy.map { (ObjectIdentifier($0.object), $0) }, uniquingKeysWith: { first, _ in first })
    sections = try Self.sections(of: tracked, hasSections)
  }

  subscript(_ object: ManagedObject) -> TrackedObject? { byObject[ObjectIdentifier(object)] }

  /// Replaces some objects, in place.
  ///
  /// - Parameters:
  ///   - leaving: Objects of the result.
  ///   - entering: Objects that are not in the rest of it.
  ///   - order: The order of the result.
  /// - Returns: Both in order, with their former and their new indexes.
  /// - Throws: `.coreData` if the objects of a section would not be together; nothing is changed then.
  /// - Complexity: O((l + e) log n) and a move of the references behind the first place.
  mutating func exchange(
    _ leaving: [TrackedObject], for entering: [TrackedObject], order: TrackedOrder
  ) throws(HeartwoodError) -> (leaving: [Placed], entering: [Placed]) {
    let leaving = leaving.map { Placed(tracked: $0, index: order.index(of: $0, in: tracked)) }
      .sorted { $0.index < $1.index }
    let sorted = entering.sorted { order.places($0, before: $1) }
    var entered: [Placed] = []
    var gone = 0
    for (rank, object) in sorted.enumerated() {
      while gone < leaving.count, order.places(leaving[gone].tracked, before: object) { gone += 1 }
      entered.append(Placed(tracked: object, index: order.index(of: object, in: tracked) - gone + rank))
    }
    move(leaving, entered)
    do {
      try countSections(leaving, entered)
    } catch {
      move(entered, leaving)
      throw error
    }
    for place in leaving { byObject[ObjectIdentifier(place.object)] = nil }
    for place in entered { byObject[ObjectIdentifier(place.object)] = place.tracked }
    return (leaving, entered)
  }

  /// An exchange as it is of a result that has the first objects of an order only: those that come behind it do not enter, and those
  /// that others displace leave, too.
  ///
  /// - Parameters:
  ///   - leaving: Objects of the result.
  ///   - entering: Objects that are not in the rest of it.
  ///   - limit: The number of objects that the result has at most.
  ///   - order: The order of the result.
  /// - Returns: Nil if objects are missing that are not known: those behind the result move up.
  func exchange(
    _ leaving: [TrackedObject], for entering: [TrackedObject], within limit: Int, order: TrackedOrder
  ) -> (leaving: [TrackedObject], entering: [TrackedObject])? {
    // All objects behind a full result come after its last one.
    let end = tracked.count >= limit ? tracked.last : nil
    var entering = entering.filter { object in !(end.map { order.places($0, before: object) } ?? false) }
    var surplus = tracked.count - leaving.count + entering.count - limit
    guard surplus >= 0 || end == nil else { return nil }
    guard surplus > 0 else { return (leaving, entering) }
    entering.sort { order.places($0, before: $1) }
    var leaving = leaving
    let left = Set(leaving.lazy.map { ObjectIdentifier($0) })
    var staying = tracked.reversed().lazy.filter { !left.contains(ObjectIdentifier($0)) }.makeIterator()
    var last = staying.next()
    while surplus > 0 {
      surplus -= 1
      if let object = last, entering.last.map({ order.places($0, before: object) }) ?? true {
        leaving.append(object)
        last = staying.next()
      } else {
        entering.removeLast()
      }
    }
    return (leaving, entering)
  }

  private mutating func move(_ leaving: [Placed], _ entering: [Placed]) {
    guard leaving.count + entering.count > Self.mostSingleMoves else {
      for place in leaving.reversed() {
        tracked.remove(at: place.index)
        objects.remove(at: place.index)
      }
      for place in entering {
        tracked.insert(place.tracked, at: place.index)
        objects.insert(place.object, at: place.index)
      }
      return
    }
    let left = Set(leaving.map(\.index))
    var rest = tracked.indices.lazy.filter { !left.contains($0) }.makeIterator()
    var merged: [TrackedObject] = []
    merged.reserveCapacity(tracked.count - leaving.count + entering.count)
    for place in entering {
      while merged.count < place.index, let next = rest.next() { merged.append(tracked[next]) }
      merged.append(place.tracked)
    }
    while let next = rest.next() { merged.append(tracked[next]) }
    tracked = merged
    objects = merged.map(\.object)
  }

  // MARK: Sections

  /// The indexes at which sections begin, and the number of objects.
  static func starts(of sections: [Section]) -> [Int] {
    var starts = [0]
    starts.reserveCapacity(sections.count + 1)
    for section in sections { starts.append(starts[starts.count - 1] + section.count) }
    return starts
  }

  /// Counts the objects of the sections again after they were moved.
  private mutating func countSections(_ leaving: [Placed], _ entering: [Placed]) throws(HeartwoodError) {
    guard hasSections else {
      sections[0].count = tracked.count
      return
    }
    guard leaving.count + entering.count <= Self.mostSingleMoves else {
      sections = try Self.sections(of: tracked, true)
      return
    }
    var counted = sections
    for place in leaving {
      guard let index = counted.firstIndex(where: { $0.name == place.tracked.section }) else { continue }
      counted[index].count -= 1
    }
    counted.removeAll { $0.count == 0 }
    for place in entering {
      let name = place.tracked.section
      let previous = place.index > 0 ? tracked[place.index - 1].section : nil
      if let index = counted.firstIndex(where: { $0.name == name }) {
        // Those that enter behind it are not counted yet, so only the neighbours show whether it belongs there.
        counted[index].count += 1
      } else if let previous, let index = counted.firstIndex(where: { $0.name == previous }) {
        counted.insert(Section(name: name, count: 1), at: index + 1)
      } else {
        counted.insert(Section(name: name, count: 1), at: 0)
      }
    }
    try checkNeighbours(entering, counted)
    sections = counted
  }

  /// Whether each object is at a place of its section.
  private func checkNeighbours(_ entering: [Placed], _ counted: [Section]) throws(HeartwoodError) {
    let places = SectionPlaces(counted)
    for place in entering {
      let section = places.place(place.index).section
      guard counted[section].name == place.tracked.section else {
        throw HeartwoodError.scattered(place.tracked.section)
      }
    }
  }

  private static func sections(
    of tracked: [TrackedObject], _ hasSections: Bool
  ) throws(HeartwoodError) -> [Section] {
    guard hasSections else { return [Section(name: "", count: tracked.count)] }
    var sections: [Section] = []
    var names: Set<String> = []
    for object in tracked {
      if let last = sections.last, last.name == object.section {
        sections[sections.count - 1].count += 1
        continue
      }
      guard names.insert(object.section).inserted else { throw HeartwoodError.scattered(object.section) }
      sections.append(Section(name: object.section, count: 1))
    }
    return sections
  }
}

/// Places in the sections of a result.
struct SectionPlaces {
  private let starts: [Int]

  init(_ sections: [TrackedResult.Section]) { starts = TrackedResult.starts(of: sections) }

  /// The indexes of a section's objects.
  func range(_ section: Int) -> Range<Int> { starts[section]..<starts[section + 1] }

  /// The section and the index in it of the object at an index of the result.
  ///
  /// - Complexity: O(log n) in the number of sections.
  func place(_ index: Int) -> (section: Int, item: Int) {
    let section = min(starts.partitioningIndex { $0 > index }, starts.count - 1) - 1
    return (section, index - starts[section])
  }
}

extension HeartwoodError {
  static func scattered(_ section: String) -> HeartwoodError {
    HeartwoodError(
      .coreData,
      "the objects of the section \"\(section)\" are not together: the first sort descriptor must sort by what names "
        + "the sections, or by what orders objects in the same way")
  }
}
