import Foundation
import HeartwoodSQLite
import TestSupport
import Testing

/// Write-ahead logs and rollback journals in every state, read beside SQLite.
struct LogTests {
  // 168: a byte of the page size in a later header of a rollback journal, which SQLite does not look at, is changed.
  @Test(.comparesWithSQLite, arguments: [1, 168, 20_001])
  func `what writers left that were killed, and damaged logs, are read as SQLite reads them`(_ seed: Int)
    throws
  {
    let count = Rounds.count(10, long: 200)
    let folder = try TemporaryFolder()
    try Python.run(PythonScripts.interruptedWriters, "\(seed)", "\(count)", "8", in: folder.url)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    var journals: Set<SQLiteJournal> = []
    for name in names.sorted() where name.hasSuffix(".dump") {
      let url = folder.url.appending(path: name.dropLast(5) + ".db")
      var dump = try Dump(folder.url.appending(path: name))
      do {
        let database = try SQLiteDatabase(contentsOf: url)
        journals.insert(database.journal)
        let differences = try dump.differences(to: database)
        // A log that was cut behind what is in the file already leaves a database that is not sound.
        #expect(!dump.isSound || differences == [], "seed \(name)")
      } catch let error as SQLiteError {
        #expect(!dump.isSound && error.page != nil, "seed \(name): \(error)")
      }
    }
    #expect(journals == [.none, .writeAheadLog, .rollbackJournal])
  }

  @Test(.comparesWithSQLite, arguments: [false, true])
  func `a rollback journal counts where there is a log, too`(_ hasLog: Bool) throws {
    let folder = try TemporaryFolder()
    let script = """
      import shutil, sqlite3
      db = sqlite3.connect('a.db', isolation_level=None)
      db.execute('create table a (n integer, t text)')
      db.executemany('insert into a values (0, ?)', [('x' * 200,)] * 500)
      db.execute('pragma cache_size = 5')
      db.execute('begin')
      db.execute('update a set n = 1')
      for end in ('', '-journal'):
          shutil.copy('a.db' + end, 'b.db' + end)
      db.execute('rollback')
      """
    try Python.run(script, in: folder.url)
    let url = folder.url.appending(path: "b.db")
    if hasLog { try Data().write(to: folder.url.appending(path: "b.db-wal")) }
    let database = try SQLiteDatabase(contentsOf: url)
    #expect(database.journal == .rollbackJournal)
    var sum: Int64 = 0
    try database.forEachRow(of: #require(database.table(named: "a"))) { sum += $0.integer(0) ?? 0 }
    #expect(sum == 0)
  }

  @Test(.comparesWithSQLite)
  func `a log that a process has open is read as of its last transaction`() throws {
    let folder = try TemporaryFolder()
    let process = try Python.process(PythonScripts.openLog, [], in: folder.url)
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    defer { process.terminate() }
    let lines = LineReader(output.fileHandleForReading)
    while true {
      try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
      let line = try #require(lines.next())
      let database = try SQLiteDatabase(contentsOf: folder.url.appending(path: "a.db"))
      var dump = try Dump(folder.url.appending(path: "state.dump"))
      #expect(try dump.differences(to: database) == [], "state \(line)")
      if line.hasSuffix("True") { break }
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test(
    .comparesWithSQLite, arguments: [("wal", 1_000_000), ("wal", 20), ("delete", 1_000_000), ("persist", 30)])
  func `beside a process that writes, every snapshot is of one transaction`(_ mode: String, _ lasting: Int)
    throws
  {
    let folder = try TemporaryFolder()
    let process = try Python.process(PythonScripts.busyWriter, [mode, "\(lasting)"], in: folder.url)
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    defer { process.terminate() }
    let lines = LineReader(output.fileHandleForReading)
    #expect(lines.next() == "ready")
    var (reads, changed) = (0, 0)
    var numbers: Set<Int64> = []
    while reads < 25 {
      // The process gets on, and writes while this one reads.
      try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
      try #require(lines.next() != nil)
      do throws(SQLiteError) {
        let database = try SQLiteDatabase(
          contentsOf: folder.url.appending(path: "a.db"), timeout: .seconds(60))
        guard let table = database.table(named: "a") else { continue }
        var seen: Set<Int64> = []
        var count = 0
        let cursor = try database.rows(of: table)
        while let row = try cursor.next() {
          if let number = row.integer(1) { seen.insert(number) }
          if row.withBytes(of: 2, { $0.count }) == 900 { count += 1 }
        }
        #expect(seen.count == 1)
        #expect(count == 59)
        numbers.formUnion(seen)
        reads += 1
      } catch {
        // Between two connections of the writer, no lock keeps the next one from copying its log into the file.
        #expect(error.code == .changed && mode == "wal", "\(error)")
        changed += 1
      }
    }
    if lasting == 1_000_000 { #expect(changed == 0) }
    #expect(numbers.count >= 20)
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// Another process opens the database after the snapshot has seen no log, writes, and stops in the middle of copying
  /// its log into the file, so long that the file looks settled.
  @Test(.comparesWithSQLite)
  func `a log that is begun and copied while a snapshot is made is read with it`() throws {
    let folder = try TemporaryFolder()
    let setUp = """
      import sqlite3
      db = sqlite3.connect('a.db', isolation_level=None)
      db.execute('pragma journal_mode = wal')
      db.execute('create table a (n integer, t text)')
      db.executemany('insert into a values (0, ?)', [('x' * 900,)] * 59)
      db.close()
      """
    try Python.run(setUp, in: folder.url)
    let writer = """
      import os, sqlite3, struct, sys
      db = sqlite3.connect('a.db', isolation_level=None)
      db.execute('pragma wal_autocheckpoint = 0')
      db.execute('update a set n = 1')
      with open('a.db-wal', 'rb') as log, open('a.db', 'r+b') as file:
          log.seek(32)
          for _ in range(7):
              page = struct.unpack('>I', log.read(24)[:4])[0]
              content = log.read(4096)
              file.seek((page - 1) * 4096)
              file.write(content)
      os.utime('a.db', (1, 1))
      print('ready', flush=True)
      sys.stdin.readline()
      """
    let process = try Python.process(writer, [], in: folder.url)
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    defer { process.terminate() }
    let lines = LineReader(output.fileHandleForReading)
    let database = try SQLiteDatabase(
      contentsOf: folder.url.appending(path: "a.db"), timeout: .seconds(5),
      beforeUnguarded: {
        #expect(throws: Never.self) { try process.run() }
        #expect(lines.next() == "ready")
      })
    var numbers: [Int64: Int] = [:]
    try database.forEachRow(of: #require(database.table(named: "a"))) {
      numbers[$0.integer(0) ?? -1, default: 0] += 1
    }
    #expect(numbers == [1: 59])
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test(.comparesWithSQLite)
  func `a log of a machine of the other byte order is read`() throws {
    let folder = try TemporaryFolder()
    try Python.run(PythonScripts.otherByteOrder, in: folder.url)
    let database = try SQLiteDatabase(contentsOf: folder.url.appending(path: "copy.db"))
    var dump = try Dump(folder.url.appending(path: "copy.dump"))
    #expect(try dump.differences(to: database) == [])
    #expect(database.journal == .writeAheadLog)
    #expect(try database.count(of: #require(database.table(named: "a"))) == 30)
  }

  @Test(.comparesWithSQLite, arguments: ["delete", "wal"])
  func `what a reader needs is not overwritten before its last database of the file is gone`(_ mode: String)
    throws
  {
    let folder = try TemporaryFolder()
    let process = try Python.process(PythonScripts.writeAttempts, [mode], in: folder.url)
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    defer { process.terminate() }
    let lines = LineReader(output.fileHandleForReading)
    #expect(lines.next() == "ready")
    let url = folder.url.appending(path: "a.db")
    func canWrite() throws -> String? {
      try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
      return lines.next()
    }
    var databases = try [SQLiteDatabase(contentsOf: url), SQLiteDatabase(contentsOf: url)]
    #expect(try canWrite() == "False")
    // Closing one file of the process does not end the locks of another.
    databases.removeFirst()
    #expect(try canWrite() == "False")
    var cursor: SQLiteCursor? = try databases[0].rows(of: #require(databases[0].table(named: "a")))
    #expect(try cursor?.next()?.values == [1])
    databases = []
    #expect(try canWrite() == "False")
    cursor = nil
    #expect(try canWrite() == "True")
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test(.comparesWithSQLite)
  func `reading leaves the file, its log, its shared memory and the folder as they are`() throws {
    let folder = try TemporaryFolder()
    try Python.run(PythonScripts.interruptedWriters, "1", "8", "0", in: folder.url)
    func state() throws -> [String: [AnyHashable]] {
      var state: [String: [AnyHashable]] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
        let path = folder.path(name)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        let date = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970
        state[name] = [
          try Data(contentsOf: URL(filePath: path)), date, attributes[.systemFileNumber] as? Int,
        ]
      }
      return state
    }
    let before = try state()
    #expect(before.keys.contains { $0.hasSuffix("-shm") })
    #expect(before.keys.contains { $0.hasSuffix("-journal") })
    for seed in 1...8 {
      let database = try SQLiteDatabase(contentsOf: folder.url.appending(path: "\(seed).db"))
      for table in database.tables { try database.forEachRow(of: table) { _ in } }
    }
    #expect(try state() == before)
  }
}

/// The lines that a process writes.
final class LineReader {
  private let file: FileHandle
  private var buffer = Data()

  init(_ file: FileHandle) { self.file = file }

  func next() -> String? {
    while true {
      if let end = buffer.firstIndex(of: 10) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer = Data(buffer[(end + 1)...])
        return line
      }
      let more = file.availableData
      if more.isEmpty { return nil }
      buffer.append(more)
    }
  }
}
