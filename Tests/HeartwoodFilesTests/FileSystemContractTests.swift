import HeartwoodFiles
import Testing

/// The contract of every file system.
@Suite struct FileSystemContractTests {
  @Test(arguments: FileSystemKind.allCases)
  func `directories are made once, inside directories`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      try fileSystem.createDirectory(root + "/a")
      try fileSystem.createDirectory(root + "/a/b/")
      #expect(try fileSystem.openDirectory(root + "/a").entries() == ["b"])
      #expect(try fileSystem.openDirectory(root + "/a/b/").entries() == [])
      let file = try fileSystem.openDirectory(root).open("file", .createNew)
      #expect(
        failure { try fileSystem.createDirectory(root + "/a") } == "createDirectory: already exists")
      #expect(
        failure { try fileSystem.createDirectory(root + "/file") } == "createDirectory: already exists")
      #expect(
        failure { try fileSystem.createDirectory(root + "/x/y") }
          == "createDirectory: no such file or directory")
      #expect(
        failure { try fileSystem.createDirectory(root + "/file/y") } == "createDirectory: not a directory")
      #expect(
        failure { _ = try fileSystem.openDirectory(root + "/x") }
          == "openDirectory: no such file or directory")
      #expect(
        failure { _ = try fileSystem.openDirectory(root + "/file") } == "openDirectory: not a directory")
      #expect(failure { _ = try fileSystem.openDirectory("") } == "openDirectory: no such file or directory")
      try file.close()
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `a name leads to an open file until it is removed, or another file has it`(kind: FileSystemKind) throws
  {
    try kind.withDirectory { fileSystem, root in
      let directory = try fileSystem.openDirectory(root)
      let file = try directory.open("a", .createNew)
      try file.write([1, 2, 3], at: 0)
      let status = try #require(try file.status())
      #expect(status.size == 3 && status.links == 1)
      #expect(try directory.status(of: "a")?.identity == status.identity)
      #expect(try directory.leads("a", to: file))
      let other = try directory.open("b", .createNew)
      #expect(try !directory.leads("b", to: file))
      #expect(try other.status()?.identity != status.identity)
      try directory.rename("b", to: "a")
      #expect(try !directory.leads("a", to: file) && directory.leads("a", to: other))
      try directory.unlink("a")
      #expect(try !directory.leads("a", to: other))
      #expect(failure { _ = try directory.status(of: "a") } == "size: no such file or directory")
      try file.close()
      try other.close()
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `files are opened as asked`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      try fileSystem.createDirectory(root + "/folder")
      let directory = try fileSystem.openDirectory(root)
      #expect(failure { _ = try directory.open("a", .readOnly) } == "open: no such file or directory")
      #expect(failure { _ = try directory.open("a", .readWrite) } == "open: no such file or directory")
      let file = try directory.open("a", .createNew)
      #expect(file.name == "a")
      #expect(failure { _ = try directory.open("a", .createNew) } == "open: already exists")
      #expect(failure { _ = try directory.open("folder", .createNew) } == "open: already exists")
      #expect(failure { _ = try directory.open("folder", .readOnly) } == "open: not a regular file")
      #expect(failure { _ = try directory.open("folder", .readWrite) } == "open: not a regular file")
      try file.write([1, 2, 3], at: 0)
      #expect(try directory.open("a", .readOnly).bytes(10) == [1, 2, 3])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `bytes are read where they were written, gaps are zeros, the end is the end`(
    kind: FileSystemKind
  ) throws {
    try kind.withDirectory { fileSystem, root in
      let file = try fileSystem.openDirectory(root).open("a", .createNew)
      #expect(try file.bytes(5) == [])
      try file.write([1, 2], at: 4)
      #expect(try file.size() == 6)
      #expect(try file.bytes(10) == [0, 0, 0, 0, 1, 2])
      #expect(try file.bytes(10, at: 5) == [2])
      #expect(try file.bytes(10, at: 6) == [])
      #expect(try file.bytes(10, at: 1 << 40) == [])
      try file.write([], at: 100)
      #expect(try file.size() == 6)
      try file.truncate(to: 5)
      try file.truncate(to: 8)
      #expect(try file.bytes(10) == [0, 0, 0, 0, 1, 0, 0, 0])
      try file.sync(.data)
      try file.sync(.full)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `names are moved and removed while files stay open`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      try fileSystem.createDirectory(root + "/folder")
      let directory = try fileSystem.openDirectory(root)
      let first = try directory.open("first", .createNew)
      try first.write([1], at: 0)
      let second = try directory.open("second", .createNew)
      try second.write([2], at: 0)
      try directory.rename("first", to: "second")
      try directory.sync()
      #expect(try directory.entries() == ["folder", "second"])
      #expect(try directory.open("second", .readOnly).bytes(1) == [1])
      #expect(try second.bytes(1) == [2])
      try directory.rename("second", to: "second")
      #expect(failure { try directory.rename("first", to: "x") } == "rename: no such file or directory")
      #expect(failure { try directory.rename("second", to: "folder") } == "rename: not a regular file")
      #expect(failure { try directory.rename("folder", to: "x") } == "rename: not a regular file")
      #expect(failure { try directory.unlink("folder") } == "unlink: not a regular file")
      #expect(failure { try directory.unlink("first") } == "unlink: no such file or directory")
      try directory.unlink("second")
      #expect(try directory.entries() == ["folder"])
      #expect(try first.bytes(1) == [1])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `a lock excludes every other open file until it ends`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      let directory = try fileSystem.openDirectory(root)
      let holder = try directory.open("lock", .createNew)
      #expect(try holder.tryLock(.exclusive))
      #expect(try holder.tryLock(.exclusive))
      let other = try directory.open("lock", .readWrite)
      #expect(try !other.tryLock(.exclusive))
      // A lock that belongs to the process, not to the open file, would be released here.
      try directory.open("lock", .readWrite).close()
      #expect(try !other.tryLock(.exclusive))
      let reader = try directory.open("lock", .readOnly)
      #expect(try !reader.tryLock(.shared))
      try holder.close()
      #expect(try reader.tryLock(.shared))
      #expect(try directory.open("lock", .readOnly).tryLock(.shared))
      #expect(try !other.tryLock(.exclusive))
      try reader.close()
      #expect(try other.tryLock(.exclusive))
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `a lock is released, and changes its kind`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      let directory = try fileSystem.openDirectory(root)
      let first = try directory.open("lock", .createNew)
      let second = try directory.open("lock", .readWrite)
      let reader = try directory.open("lock", .readOnly)
      try second.unlock()
      #expect(try !first.isLocked() && !reader.isLocked())
      #expect(try first.tryLock(.exclusive))
      #expect(try !first.isLocked() && second.isLocked() && reader.isLocked())
      #expect(try !second.tryLock(.shared))
      #expect(try first.tryLock(.shared))
      #expect(try !first.isLocked() && reader.isLocked())
      #expect(try second.tryLock(.shared))
      #expect(try !first.tryLock(.exclusive))
      try second.unlock()
      #expect(try first.tryLock(.exclusive))
      #expect(try !second.tryLock(.shared))
      try first.unlock()
      #expect(try second.tryLock(.exclusive))
      #expect(try second.tryLock(.exclusive))
      try second.close()
      try first.unlock()
      #expect(try first.tryLock(.shared))
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `shared memory is visible to every file that shares, maps or reads it`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      let directory = try fileSystem.openDirectory(root)
      let file = try directory.open("page", .createNew)
      try file.write([UInt8](repeating: 0, count: 4096), at: 0)
      guard let mine = try file.share(length: 4096) else { return }
      let others = try #require(try directory.open("page", .readWrite).share(length: 4096))
      let map = try #require(try directory.open("page", .readOnly).map(length: 4096))
      mine.base.storeBytes(of: 7, toByteOffset: 8, as: UInt64.self)
      #expect(others.base.load(fromByteOffset: 8, as: UInt64.self) == 7)
      #expect(map.base.load(fromByteOffset: 8, as: UInt64.self) == 7)
      try file.write([9], at: 8)
      #expect(mine.base.load(fromByteOffset: 8, as: UInt64.self) == 9)
      try file.close()
      others.base.storeBytes(of: 3, toByteOffset: 4088, as: UInt64.self)
      #expect(mine.base.load(fromByteOffset: 4088, as: UInt64.self) == 3)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `bytes put in a window are read and mapped, also after the file was closed`(
    kind: FileSystemKind
  ) throws {
    try kind.withDirectory { fileSystem, root in
      let directory = try fileSystem.openDirectory(root)
      let file = try directory.open("a", .createNew)
      var expected = [UInt8](repeating: 1, count: 10_000)
      try file.write(expected, at: 0)
      guard let window = try file.window(at: 5000, length: 4000) else {
        // Only some of the operating system's file systems guarantee it.
        return #expect(kind == .memory || kind == .faultless || kind == .posix)
      }
      #expect(window.range == 5000..<9000)
      func put(_ bytes: [UInt8], at offset: Int, _ write: ([UInt8], Int64) throws -> Void) throws {
        try write(bytes, Int64(offset))
        expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        #expect(try file.bytes(10_001) == expected)
      }
      let inWindow = { (bytes: [UInt8], offset: Int64) in
        bytes.withUnsafeBytes { window.write($0, at: offset) }
      }
      try put([2, 3, 4], at: 5000, inWindow)
      try put([5], at: 8999, inWindow)
      try put([UInt8](repeating: 6, count: 6000), at: 3000) { try file.write($0, at: $1) }
      try put([], at: 7000, inWindow)
      try put([UInt8](repeating: 7, count: 1200), at: 7500, inWindow)
      let again = try directory.open("a", .readOnly)
      let map = try again.map(length: 10_000)
      try file.close()
      inWindow([8], 6000)
      expected[6000] = 8
      #expect(try again.bytes(10_001) == expected)
      if let map { #expect(Array(UnsafeRawBufferPointer(start: map.base, count: 10_000)) == expected) }
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `a map shows later writes and outlives its file`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      let directory = try fileSystem.openDirectory(root)
      let file = try directory.open("a", .createNew)
      try file.write([1, 2, 3], at: 0)
      guard let small = try file.map(length: 100_000) else { return }
      #expect(small.length >= 100_000)
      try file.write([4], at: 3)
      guard let large = try file.map(length: 10_000_000) else { return }
      try file.write([5], at: 4)
      try file.write([9], at: 9_999_999)
      try file.write([6], at: 99_999)
      #expect(Array(UnsafeRawBufferPointer(start: small.base, count: 5)) == [1, 2, 3, 4, 5])
      #expect(small.base.load(fromByteOffset: 99_999, as: UInt8.self) == 6)
      #expect(large.base.load(fromByteOffset: 99_999, as: UInt8.self) == 6)
      #expect(large.base.load(fromByteOffset: 9_999_999, as: UInt8.self) == 9)
      try file.close()
      try directory.unlink("a")
      #expect(Array(UnsafeRawBufferPointer(start: large.base, count: 5)) == [1, 2, 3, 4, 5])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `a replacement leaves only whole contents and one name`(kind: FileSystemKind) throws {
    try kind.withDirectory { fileSystem, root in
      let directory = try fileSystem.openDirectory(root)
      for contents in [[1, 2, 3], [4], []] as [[UInt8]] {
        try contents.withUnsafeBytes { try AtomicReplacement.replace("a", in: directory, with: $0) }
        #expect(try directory.open("a", .readOnly).bytes(10) == contents)
        #expect(try directory.entries() == ["a"])
      }
      try fileSystem.createDirectory(root + "/folder")
      let refused = failure {
        try AtomicReplacement.replace(
          "folder", in: directory, with: UnsafeRawBufferPointer(start: nil, count: 0))
      }
      #expect(refused == "rename: not a regular file")
      #expect(try directory.entries() == ["a", "folder"])
    }
  }

  @Test(arguments: [5, 6, 7, 8] as [UInt64])
  func `random calls have the same results on every file system`(seed: UInt64) throws {
    var expected: [String]?
    for kind in FileSystemKind.allCases {
      let trace = try kind.withDirectory { fileSystem, root in
        var script = RandomScript(fileSystem: fileSystem, root: root, seed: seed)
        return try script.run(steps: 1250)
      }
      guard let reference = expected else {
        expected = trace
        continue
      }
      for (step, (ours, theirs)) in zip(trace, reference).enumerated() where ours != theirs {
        Issue.record("seed \(seed), step \(step), \(kind): \(ours), and not \(theirs)")
        break
      }
      #expect(trace.count == reference.count)
    }
  }
}
