import Foundation
import Testing

@testable import HeartwoodCommand

@Test func `a store is shipped, followed and restored`() throws {
  let world = try SmallWorld()
  let (place, copy) = (world.directory.path("place"), world.directory.path("copy"))
  let former = world.run("fetch", "City").output
  let first = world.run("ship", place, "--once")
  #expect(first.status == .success)
  #expect(first.output.contains("all of the store, in piece 1"))
  let followed = CommandRun("follow", place, copy, "--once")
  #expect(followed.status == .success)
  #expect(followed.output.contains(#/: [1-9][0-9.]* (bytes|KiB|MiB), piece 1\n$/#), "\(followed.output)")
  #expect(CommandRun("fetch", copy, "City").output == former)
  let generation = try #require(first.output.split(separator: " ").dropFirst().first?.dropLast())

  #expect(world.run("delete", "City/p1").status == .success)
  #expect(world.run("ship", place, "--once").output.contains("what is new, in piece 2"))
  #expect(CommandRun("follow", place, copy, "--once").output.contains("piece 2"))
  #expect(CommandRun("follow", place, copy, "--once").output.contains(": 0 bytes, piece 2"))
  #expect(CommandRun("fetch", copy, "City").output == world.run("fetch", "City").output)
  #expect(CommandRun("history", copy).output == world.run("history").output)

  let (newest, older) = (world.directory.path("newest"), world.directory.path("older"))
  #expect(CommandRun("restore", place, newest).status == .success)
  #expect(CommandRun("fetch", newest, "City").output == world.run("fetch", "City").output)
  #expect(CommandRun("restore", place, older, "--as-of", String(generation)).status == .success)
  #expect(CommandRun("fetch", older, "City").output == former)
  #expect(CommandRun("verify", older).status == .success)
}

@Test func `a restore that is refused leaves nothing behind`() throws {
  let world = try SmallWorld()
  let (place, empty, new) = (
    world.directory.path("place"), world.directory.path("empty"), world.directory.path("new")
  )
  #expect(world.run("ship", place, "--once").status == .success)
  try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
  for target in [empty, new] {
    #expect(CommandRun("restore", place, target, "--as-of", "9999").status != .success)
  }
  #expect(try FileManager.default.contentsOfDirectory(atPath: empty).isEmpty)
  #expect(!FileManager.default.fileExists(atPath: new))
}

@Test func `a follower prints times as the history does`() throws {
  let world = try SmallWorld()
  let (place, copy) = (world.directory.path("place"), world.directory.path("copy"))
  #expect(world.run("ship", place, "--once").status == .success)
  let followed = CommandRun("follow", place, copy, "--once").output
  #expect(
    followed.contains(#/^generation \d+ of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z: /#), "\(followed)")
}

@Test func `a place of shipping may be a symbolic link to a folder`() throws {
  let world = try SmallWorld()
  let (first, second) = (world.directory.path("first"), world.directory.path("second"))
  let (current, copy) = (world.directory.path("current"), world.directory.path("copy"))
  for folder in [first, second] {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
  }
  try FileManager.default.createSymbolicLink(atPath: current, withDestinationPath: "first")
  #expect(world.run("ship", current, "--once").status == .success)
  #expect(
    try FileManager.default.contentsOfDirectory(atPath: first).contains { $0.hasPrefix("0000000000000001.") })
  #expect(CommandRun("follow", current, copy, "--once").status == .success)
  #expect(CommandRun("restore", current, world.directory.path("again")).status == .success)
  #expect(CommandRun("fetch", copy, "City").output == world.run("fetch", "City").output)
  // A link into the store leads to no place outside of it.
  let inside = world.directory.path("inside")
  try FileManager.default.createSymbolicLink(atPath: inside, withDestinationPath: world.path)
  #expect(world.run("ship", inside, "--once").status == .usage)
}

@Test func `what a copy is written to may be a symbolic link to a folder, and one that leads nowhere stays`()
  throws
{
  let world = try SmallWorld()
  let place = world.directory.path("place")
  #expect(world.run("ship", place, "--once").status == .success)
  let files = FileManager.default
  for words in [
    ["backup", world.path], ["kv", "backup", world.path], ["follow", place], ["restore", place],
    ["salvage", world.path],
  ] {
    let (folder, link) = (world.directory.path("to \(words[0])"), world.directory.path("link"))
    try files.createSymbolicLink(atPath: link, withDestinationPath: folder)
    let once = words[0] == "follow" ? ["--once"] : []
    let refused = CommandRun(words + [link] + once)
    #expect(refused.status == .noInput, "\(refused)")
    #expect(refused.notes.contains("a symbolic link that leads nowhere"), "\(refused)")
    #expect(try files.destinationOfSymbolicLink(atPath: link) == folder)
    try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let run = CommandRun(words + [link] + once)
    #expect(run.status == .success, "\(words): \(run)")
    #expect(CommandRun("fetch", folder, "City").output == world.run("fetch", "City").output)
    #expect(CommandRun("kv", "count", link).status == .success)
    try files.removeItem(atPath: link)
    try files.removeItem(atPath: folder)
  }
  let store = world.directory.path("linked store")
  try files.createSymbolicLink(atPath: store, withDestinationPath: world.path)
  #expect(CommandRun("ship", store, place, "--once").status == .success)
}

@Test func `a place of shipping that is a link to nothing, or to a file, is refused by a line that says so`()
  throws
{
  let world = try SmallWorld()
  let (dangling, file) = (world.directory.path("dangling"), world.directory.path("file"))
  try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: "nowhere")
  try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "small.json")
  for words in [["ship", world.path, dangling], ["follow", dangling, world.directory.path("copy")]] {
    let run = CommandRun(words + ["--once"])
    #expect(run.status == .noInput)
    #expect(run.notes.contains("a symbolic link that leads nowhere"), "\(run.notes)")
    #expect(run.notes.contains("dangling"))
  }
  #expect(!FileManager.default.fileExists(atPath: world.directory.path("nowhere")))
  let run = world.run("ship", file, "--once")
  #expect(run.status == .dataError)
  #expect(run.notes.contains("this is a file; name a folder"), "\(run.notes)")
}

@Test func `what is wrong with shipped pieces is one line that names the piece`() throws {
  let world = try SmallWorld()
  let (place, copy) = (world.directory.path("place"), world.directory.path("copy"))
  for key in ["City/p1", "City/p2"] {
    #expect(world.run("ship", place, "--once").status == .success)
    #expect(world.run("delete", key).status == .success)
  }
  #expect(world.run("ship", place, "--once").status == .success)
  let second = place + "/0000000000000002.piece"
  let bytes = try Data(contentsOf: URL(fileURLWithPath: second))
  try FileManager.default.removeItem(atPath: second)
  for words in [["restore", place, copy], ["follow", place, copy, "--once"]] {
    let run = CommandRun(words)
    #expect(run.status == .dataError)
    #expect(run.notes.contains("piece 2 is missing"))
    #expect(run.notes.split(separator: "\n").count == 1)
  }
  try (bytes.dropLast() + [bytes.last.map { $0 ^ 1 } ?? 0]).write(to: URL(fileURLWithPath: second))
  let altered = CommandRun("restore", place, copy)
  #expect(altered.status == .dataError)
  #expect(altered.notes.contains("0000000000000002.piece"))
  try bytes.write(to: URL(fileURLWithPath: second))
  #expect(CommandRun("restore", place, copy).status == .success)
  #expect(CommandRun("restore", place, copy).status == .cannotCreate)
}

@Test func `a restored store is not shipped to the former place`() throws {
  let world = try SmallWorld()
  let (place, again) = (world.directory.path("place"), world.directory.path("again"))
  #expect(world.run("ship", place, "--once").status == .success)
  #expect(CommandRun("restore", place, again).status == .success)
  let refused = CommandRun("ship", again, place, "--once")
  #expect(refused.status == .dataError)
  #expect(refused.notes.contains("another copy of this store"))
  #expect(CommandRun("ship", again, world.directory.path("new"), "--once").status == .success)
}

@Test func `a restored store that exchanges change sets begins a lineage`() throws {
  let world = try SmallWorld()
  let (place, again) = (world.directory.path("place"), world.directory.path("again"))
  #expect(CommandRun("changes", "lineage", world.path).status == .success)
  #expect(world.run("ship", place, "--once").status == .success)
  let restored = CommandRun("restore", place, again).output
  let lineage = try #require(restored.firstMatch(of: #/\nlineage ([0-9A-F-]{36})\n$/#)?.1)
  #expect(CommandRun("changes", "positions", again).output.contains(lineage))
  #expect(!CommandRun("changes", "positions", world.path).output.contains(lineage))
}

@Test func `ship, follow and restore refuse what they can't do`() throws {
  let world = try SmallWorld()
  let place = world.directory.path("place")
  #expect(CommandRun("ship", world.directory.path("none"), place, "--once").status == .noInput)
  #expect(world.run("ship", world.path + "/inside", "--once").status == .usage)
  #expect(CommandRun("follow", place, world.directory.path("copy"), "--once").status == .noInput)
  #expect(world.run("ship", place, "--once").status == .success)
  let new = world.directory.path("new")
  #expect(CommandRun("restore", place, new, "--as-of", "yesterday").status == .usage)
  #expect(CommandRun("restore", place, new, "--as-of", "2001-01-01T00:00:00Z").status == .noInput)
  #expect(CommandRun("restore", place, new, "--as-of", "999999").status == .noInput)
}
