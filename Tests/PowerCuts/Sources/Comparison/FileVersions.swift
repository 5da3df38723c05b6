/// The contents of a file from its durable state to its last write, and the sectors that distinguish them.
struct FileVersions: Sendable {
  static let sectorSize = 512

  /// The contents, oldest first. Consecutive equal contents are stored once.
  private(set) var contents: [[UInt8]] = []
  /// For each of the contents, the steps at which the file had it.
  private(set) var steps: [Set<Int>] = []

  /// Creates the versions of a file.
  ///
  /// - Parameter isNew: Whether the name of the file is not durable. The file may then be empty, whatever
  ///   contents it had under another name.
  init(isNew: Bool) {
    if isNew { (contents, steps) = ([[]], [[]]) }
  }

  /// Whether the file had bytes from the moment it had its name.
  var beginsWithBytes: Bool {
    contents.indices.first { !steps[$0].isEmpty }.map { !contents[$0].isEmpty } ?? false
  }

  /// Adds the contents at one step. Steps must be added in order.
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

  /// The effects on a file whose bytes are none of the contents.
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

  /// The contents that a sector may belong to, given the length of the file that was found.
  private func versions(of sector: Int, in found: [UInt8]) -> [Int] {
    contents.indices.filter { isEqual(contents[$0], found, sector) }
  }

  /// Compares a sector. Bytes past the end of older contents count as zeros; bytes past the end of the found
  /// file are ignored.
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

  /// - Parameter matches: For each sector, the contents that it may belong to; all of them if no write
  ///   touched it.
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
    // The oldest sector lacks the change after `oldest`, while another one has the change before `newest`.
    if newest >= oldest + 2 { effects.insert(.reorderedInFile) }
    for change in oldest..<newest { effects.formUnion(tears(of: change, matches)) }
    return effects
  }

  /// The way in which the call after `version` was torn: only some of the sectors that it changed contain its
  /// result.
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
