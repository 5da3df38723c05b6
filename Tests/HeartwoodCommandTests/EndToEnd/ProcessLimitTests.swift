import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

/// A shell sets the limit for the command alone. Without handling, SIGXFSZ or libdispatch would end the process.
@Suite struct `The command under a process limit` {
  let store: String
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    #expect(try Program.run("kv", "put", store, "old", "value").status == 0)
  }

  private func checkIsUsable() throws {
    #expect(try Program.run("kv", "get", store, "old").output == "value\n")
    #expect(try Program.run("kv", "put", store, "later", "2").status == 0)
    #expect(try Program.run("kv", "get", store, "later").output == "2\n")
    #expect(try Program.run("kv", "verify", store).status == 0)
  }

  @Test(arguments: [1, 20, 40, 100, 1000])
  func `a write beyond the limit of file sizes is an error, and loses no data`(blocks: Int) throws {
    let line = "head -c 4000000 /dev/zero | (ulimit -f \(blocks); exec $heartwood kv put '\(store)' large -)"
    let run = try Program.shell("PATH=/usr/bin:/bin; \(line)")
    #expect(run.status == 74 || run.status == 75)
    #expect(run.notes.contains("raise the process's limit of file sizes (ulimit -f)"))
    #expect(try Program.run("kv", "get", store, "large").status != 0)
    try checkIsUsable()
  }

  @Test(arguments: 5...16)
  func `at the limit of descriptors nothing traps, and the error says what to do`(descriptors: Int) throws {
    let new = folder.path("new")
    for words in ["put '\(store)' few 1", "get '\(store)' old", "list '\(store)'", "put '\(new)' few 1"] {
      let run = try Program.shell("ulimit -n \(descriptors); exec $heartwood kv \(words)")
      let says = run.notes.contains("raise the process's limit (ulimit -n)")
      #expect(run.status == 0 || says, "\(words): \(run)")
      #expect([0, 74, 75].contains(run.status), "\(words): \(run)")
    }
    try checkIsUsable()
    #expect(try Program.run("kv", "put", new, "few", "2").status == 0)
  }

  @Test(arguments: [700_000, 1_048_576, 1_500_000])
  func `a small store is written and read under a limit of address space`(kibibytes: Int) throws {
    let new = folder.path("new")
    for words in ["put '\(store)' old value", "get '\(store)' old", "list '\(store)'", "put '\(new)' few 1"] {
      let run = try Program.shell("ulimit -v \(kibibytes); exec $heartwood kv \(words)")
      #expect(run.status == 0, "\(words): \(run)")
    }
    try checkIsUsable()
  }

  @Test(arguments: [200_000, 250_000, 300_000])
  func `under too low a limit of address space the error says what to do`(kibibytes: Int) throws {
    let run = try Program.shell("ulimit -v \(kibibytes); exec $heartwood kv put '\(store)' few 1")
    #expect(run.status == 0 || run.notes.contains("raise its limit (ulimit -v)"), "\(run)")
    try checkIsUsable()
  }
}
