import Foundation
import TestSupport
import Testing

@testable import HeartwoodFiles

@Suite struct PosixFileSystemTests {
  @Test func `links and pipes are refused as files`() throws {
    try TemporaryFolder.with { root in
      let manager = FileManager.default
      let directory = try PosixFileSystem().openDirectory(root)
      try directory.open("target", .createNew).close()
      try manager.createSymbolicLink(atPath: root + "/link", withDestinationPath: root + "/target")
      try manager.createSymbolicLink(atPath: root + "/dangling", withDestinationPath: root + "/nothing")
      try manager.createSymbolicLink(atPath: root + "/folder", withDestinationPath: root)
      for mode in [OpenMode.readOnly, .readWrite] {
        #expect(failure { _ = try directory.open("link", mode) } == "open: not a regular file")
        #expect(failure { _ = try directory.open("dangling", mode) } == "open: not a regular file")
      }
      #expect(failure { _ = try directory.open("dangling", .createNew) } == "open: already exists")
      #expect(
        failure { _ = try PosixFileSystem().openDirectory(root + "/folder") }
          == "openDirectory: not a directory")
      #expect(!manager.fileExists(atPath: root + "/nothing"))
    }
  }

  @Test func `only the files of the operating system are those that other calls of the process see`() {
    let memory = MemoryFileSystem()
    #expect(PosixFileSystem().isOnThisMachine && !memory.isOnThisMachine)
    #expect(memory.forCopies is PosixFileSystem)
  }

  @Test func `a pipe under the name of a file blocks no caller`() throws {
    try TemporaryFolder.with { root in
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/mkfifo")
      process.arguments = [root + "/pipe"]
      try process.run()
      process.waitUntilExit()
      let directory = try PosixFileSystem().openDirectory(root)
      #expect(failure { _ = try directory.open("pipe", .readOnly) } == "open: not a regular file")
      #expect(failure { _ = try directory.open("pipe", .readWrite) } == "open: not a regular file")
    }
  }

  @Test func `a call that a signal interrupts is made again, and no other call`() throws {
    var calls = 0
    let result = try SystemCall.retried { () -> Int in
      calls += 1
      errno = EINTR
      return calls < 4 ? -1 : 7
    }
    #expect(result == 7)
    #expect(calls == 4)
    let error = #expect(throws: SystemError.self) {
      try SystemCall.retried { () -> Int in
        calls += 1
        errno = EIO
        return -1
      }
    }
    #expect(error == SystemError(number: EIO))
    #expect(calls == 5)
  }

  @Test func `every error of the system has a meaning of its own, or is reported by its number`() {
    let known: [(Int32, FileSystemError.Code)] = [
      (ENOENT, .notFound), (EEXIST, .alreadyExists), (ENOTDIR, .notADirectory), (EISDIR, .notARegularFile),
      (EACCES, .permissionDenied), (EROFS, .readOnlyFileSystem), (ENOSPC, .noSpace), (EDQUOT, .noSpace),
      (EIO, .inputOutput), (ESTALE, .staleHandle), (EMFILE, .tooManyOpenFiles), (ENOMEM, .outOfMemory),
      (EFBIG, .fileTooLarge), (ENOLCK, .unsupported), (ERANGE, .other),
    ]
    for (number, code) in known {
      let error = FileSystemError(SystemError(number: number), .read, path: "/a")
      #expect(error.code == code)
      #expect(error.systemNumber == number)
    }
  }

  @Test func `a lock ends with its file, though a forked child still has the file open`() throws {
    try TemporaryFolder.with { root in
      let directory = try PosixFileSystem().openDirectory(root)
      let descriptor = try SystemCall.openFile("lock", .createNew, in: SystemCall.openDirectory(root))
      let holder = PosixFile(name: "lock", path: root + "/lock", mode: .readWrite, descriptor: descriptor)
      // A duplicate descriptor of the open file, as a child process has between fork and exec.
      let child = dup(descriptor)
      defer { close(child) }
      #expect(try holder.tryLock(.exclusive))
      #expect(try !directory.open("lock", .readWrite).tryLock(.exclusive))
      try holder.close()
      #expect(try directory.open("lock", .readWrite).tryLock(.exclusive))
    }
  }

  @Test func `files and directories have the permissions that the mask of the process leaves`() throws {
    try TemporaryFolder.with { root in
      func permissions(_ names: String...) throws -> [Int?] {
        try names.map {
          try FileManager.default.attributesOfItem(atPath: root + $0)[.posixPermissions] as? Int
        }
      }
      // Made by a process of its own, as the mask is that of the whole process.
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", "umask"]
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      let mask = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines), radix: 8))
      try PosixFileSystem().createDirectory(root + "/store")
      let directory = try PosixFileSystem().openDirectory(root + "/store")
      _ = try directory.open("file", .createNew)
      #expect(try permissions("/store", "/store/file") == [0o777 & ~mask, 0o666 & ~mask])
      // A file that is to be like another one has its permissions.
      for wanted in [0o600, 0o640, 0o666] {
        try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: root + "/store/file")
        _ = try directory.create("other", like: "file")
        #expect(try permissions("/store/other") == [wanted])
        try directory.unlink("other")
      }
      _ = try directory.create("other", like: "missing")
      #expect(try permissions("/store/other") == [0o666 & ~mask])
    }
  }

  @Test func `an error names the path, the call and the system's number`() throws {
    try TemporaryFolder.with { root in
      let directory = try PosixFileSystem().openDirectory(root)
      do {
        _ = try directory.open("absent", .readOnly)
        Issue.record("a file that is absent was opened")
      } catch let error as FileSystemError {
        #expect(error.path == root + "/absent")
        #expect(error.systemNumber != nil)
        #expect(error.description.hasPrefix("\(root)/absent: open failed: no such file or directory"))
        #expect(!error.isInjected)
      }
    }
  }

  @Test func `a full device is a lack of space`() throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    let devices = try PosixFileSystem().openDirectory("/dev")
    #expect(failure { _ = try devices.open("full", .readWrite) } == "open: not a regular file")
  }

  @Test func `a closed file is released to the system`() throws {
    let descriptors = "/proc/self/fd"
    guard FileManager.default.fileExists(atPath: descriptors) else { return }
    try TemporaryFolder.with { root in
      let directory = try PosixFileSystem().openDirectory(root)
      try directory.open("file", .createNew).close()
      // More than the limit of open files per process, so that a leak causes an error here.
      for round in 0..<3000 {
        let file = try directory.open("file", round % 2 == 0 ? .readOnly : .readWrite)
        if round % 3 == 0 { try file.close() }
        _ = try directory.entries()
        _ = failure { _ = try PosixFileSystem().openDirectory(root + "/file") }
      }
    }
  }
}
