import HeartwoodFaults
import HeartwoodFiles

/// Random calls of every kind from a seed. They use few names, so that they interact. Each call adds a line to the trace.
struct RandomScript {
  private let fileSystem: any FileSystem
  private let root: String
  private var random: SplitMix64
  private var files: [any File] = []
  private var modes: [OpenMode] = []
  private var trace: [String] = []

  private static let names = ["a", "b", "c", "d"]
  private static let paths = ["", "/a", "/b", "/a/c", "/a/c/d"]

  init(fileSystem: any FileSystem, root: String, seed: UInt64) {
    self.fileSystem = fileSystem
    self.root = root
    random = SplitMix64(seed: seed)
  }

  mutating func run(steps: Int) throws -> [String] {
    for _ in 0..<steps {
      do {
        trace.append(try step())
      } catch let error as FileSystemError {
        trace.append("\(trace.count) \(error.operation): \(error.code)")
      }
    }
    return trace
  }

  private mutating func step() throws -> String {
    switch pick(20) {
    case 0: return try makeDirectory()
    case 1...3: return try open()
    case 4: return try rename()
    case 5: return try unlink()
    case 6: return try list()
    default: return files.isEmpty ? try open() : try useFile(pick(files.count))
    }
  }

  private mutating func makeDirectory() throws -> String {
    // Excludes the root, which exists. An existing file makes the call fail as often as a missing parent does.
    try fileSystem.createDirectory(root + Self.paths[1 + pick(4)])
    return "made"
  }

  private mutating func open() throws -> String {
    let directory = try fileSystem.openDirectory(root + Self.paths[pick(5)])
    let mode: OpenMode = [.readOnly, .readWrite, .createNew, .createNew][pick(4)]
    let file = try directory.open(Self.names[pick(4)], mode)
    files.append(file)
    modes.append(mode)
    return "opened \(file.name) \(mode)"
  }

  private mutating func rename() throws -> String {
    let directory = try fileSystem.openDirectory(root + Self.paths[pick(5)])
    let (old, new) = (Self.names[pick(4)], Self.names[pick(4)])
    try directory.rename(old, to: new)
    return "renamed \(old) to \(new)"
  }

  private mutating func unlink() throws -> String {
    let directory = try fileSystem.openDirectory(root + Self.paths[pick(5)])
    try directory.unlink(Self.names[pick(4)])
    try directory.sync()
    return "unlinked"
  }

  private mutating func list() throws -> String {
    let path = Self.paths[pick(5)]
    return "\(path): \(try fileSystem.openDirectory(root + path).entries())"
  }

  private mutating func useFile(_ index: Int) throws -> String {
    let file = files[index]
    let isWritable = modes[index] != .readOnly
    switch pick(9) {
    case 0...2 where isWritable:
      let bytes = (0..<pick(200)).map { _ in UInt8(pick(256)) }
      try file.write(bytes, at: Int64(pick(5000)))
      return "wrote \(bytes.count)"
    case 3 where isWritable:
      try file.truncate(to: Int64(pick(6000)))
      return "cut to \(try file.size())"
    case 4:
      try file.sync(pick(2) == 0 ? .data : .full)
      return "synced \(try file.size())"
    case 5:
      if pick(3) == 0 {
        try file.unlock()
        return "unlocked"
      }
      let kind = isWritable && pick(3) > 0 ? LockKind.exclusive : .shared
      return "lock \(kind) \(try file.tryLock(kind))"
    case 6:
      try file.close()
      files.remove(at: index)
      modes.remove(at: index)
      return "closed"
    default: return "read \(try file.bytes(pick(7000), at: Int64(pick(3000))))"
    }
  }

  private mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
}
