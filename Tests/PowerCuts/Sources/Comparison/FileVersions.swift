/// The contents that a file has had between what is durable and what was written last, and the sectors that tell them
/// apart.
struct FileVersions: Sendable {
  static let sectorSize = 512

  /// The contents, oldest first; equal ones that follow each other are one.
  private(set) var contents: [[UInt8]] = []
  /// At which steps the file had which of the contents.
  private(set) var steps: [Set<Int>] = []

  /// The versions of a file.
  ///
  /// - Parameter isNew: Whether its name is not durable. It may then be empty, whatever it has had under another name.
  init(isNew: Bool) {
    if isNew { (contents, steps) = ([[]], [[]]) }
  }

  /// Whether the file had bytes as soon as it had its name.
  var beginsWithBytes: Bool {
    contents.indices.first { !steps[$0].isEmpty }.map { !contents[$0].isEmpty } ?? false
  }

  /// Takes in what the file had at one step; steps come in order.
  mutating func append(_ bytes: [UInt8], step: Int) {
    if let last = contents.indices.last, areSame(contents[last], bytes) {
      steps[last].insert(step)
    } else {
      contents.append(bytes)
      steps.append([step])
    }
  }

  /// The steps at which the file had exactly these bytes.
  func steps(with bytes: [UInt8]) -> Set<Int> {
    contents.indices.reduce(into: []) { result, index in
      if areSame(contents[index], bytes) { result.formUnion(steps[index]) }
    }
  }

  /// What happened to a file whose bytes are none of the contents.
  func effects(in found: [UInt8]) -> Set<Effect> {
    var effects: Set<Effect> = []
    if !contents.contains(where: { $0.count == found.count }) { effects.insert(.lengthInsideWrite) }
    var matches: [Int: [Int]] = [:]
    let longest = contents.reduce(found.count) { max($0, $1.count) }
    for sector in 0..<(longest + Self.sectorSize - 1) / Self.sectorSize
    where sector * Self.sectorSize < found.count {
      let versions = versions(of: sector, in: found)
      if versions.isEmpty {
        effects.insert(unexplained(sector, in: found))
      } else {
        matches[sector] = versions
      }
    }
    return effects.union(self.effects(of: matches, found))
  }

  /// Which of the contents a sector may be of, where the file had its found length.
  private func versions(of sector: Int, in found: [UInt8]) -> [Int] {
    contents.indices.filter { isEqual(contents[$0], found, sector) }
  }

  /// Bytes behind the end of an older content count as zeros, and those behind the end of the file not at all.
  private func isEqual(_ content: [UInt8], _ found: [UInt8], _ sector: Int) -> Bool {
    let range = sector * Self.sectorSize..<min((sector + 1) * Self.sectorSize, found.count)
    let common = range.clamped(to: 0..<max(content.count, 0))
    return found[common].elementsEqual(content[common])
      && found[range].dropFirst(common.isEmpty ? 0 : common.count).allSatisfy { $0 == 0 }
  }

  private func unexplained(_ sector: Int, in found: [UInt8]) -> Effect {
    let range = sector * Self.sectorSize..<min((sector + 1) * Self.sectorSize, found.count)
    let isTouched = contents.contains { version in
      contents.contains { !Self.sector(range, of: $0).elementsEqual(Self.sector(range, of: version)) }
    }
    guard isTouched else { return .durableBytesChanged }
    if range.allSatisfy({ isOfSomeContent($0, found[$0]) }) { return .reorderedInSector }
    let isZeroed = range.allSatisfy { found[$0] == 0 || isOfSomeContent($0, found[$0]) }
    return isZeroed ? .zeroedSector : .foreignSector
  }

  private func isOfSomeContent(_ offset: Int, _ byte: UInt8) -> Bool {
    contents.contains { (offset < $0.count ? $0[offset] : 0) == byte }
  }

  private static func sector(_ range: Range<Int>, of bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes[range.clamped(to: 0..<bytes.count)]
  }

  /// - Parameter matches: The contents that each sector may be of; all of them where no write touched it.
  private func effects(of matches: [Int: [Int]], _ found: [UInt8]) -> Set<Effect> {
    var effects: Set<Effect> = []
    var (oldest, newest) = (Int.max, Int.min)
    for (sector, versions) in matches {
      guard let first = versions.first, let last = versions.last else { continue }
      oldest = min(oldest, last)
      newest = max(newest, first)
      let end = min((sector + 1) * Self.sectorSize, found.count)
      if contents[last].count < end { effects.insert(.lengthWithoutBytes) }
    }
    guard oldest < newest else { return effects }
    // The sector that is oldest lacks the change after `oldest`; another one has the change before `newest`.
    if newest >= oldest + 2 { effects.insert(.reorderedInFile) }
    for change in oldest..<newest { effects.formUnion(tears(of: change, matches)) }
    return effects
  }

  /// How the call after `version` was torn: some sectors that it changed have what came of it, and others do not.
  private func tears(of version: Int, _ matches: [Int: [Int]]) -> Set<Effect> {
    var (has, lacks): ([Int], [Int]) = ([], [])
    for (sector, versions) in matches {
      guard let first = versions.first, let last = versions.last, first > version || last <= version else {
        continue
      }
      let range = sector * Self.sectorSize..<(sector + 1) * Self.sectorSize
      let (before, after) = (contents[version], contents[version + 1])
      guard !Self.sector(range, of: before).elementsEqual(Self.sector(range, of: after)) else { continue }
      if first > version { has.append(sector) } else { lacks.append(sector) }
    }
    guard let lastKept = has.max(), let firstLost = lacks.min() else { return [] }
    return lastKept < firstLost ? [.tornAtEnd] : [.tornElsewhere]
  }
}
