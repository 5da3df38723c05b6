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
  #expect(CommandRun("follow", place, copy, "--once").status == .success)
  #expect(CommandRun("fetch", copy, "City").output == former)
  let generation = try #require(first.output.split(separator: " ").dropFirst().first?.dropLast())

  #expect(world.run("delete", "City/p1").status == .success)
  #expect(world.run("ship", place, "--once").output.contains("what is new, in piece 2"))
  #expect(CommandRun("follow", place, copy, "--once").output.contains("piece 2"))
  #expect(CommandRun("fetch", copy, "City").output == world.run("fetch", "City").output)
  #expect(CommandRun("history", copy).output == world.run("history").output)

  let (newest, older) = (world.directory.path("newest"), world.directory.path("older"))
  #expect(CommandRun("restore", place, newest).status == .success)
  #expect(CommandRun("fetch", newest, "City").output == world.run("fetch", "City").output)
  #expect(CommandRun("restore", place, older, "--as-of", String(generation)).status == .success)
  #expect(CommandRun("fetch", older, "City").output == former)
  #expect(CommandRun("verify", older).status == .success)
}

@Test func `a follower prints times as the history does`() throws {
  let world = try SmallWorld()
  let (place, copy) = (world.directory.path("place"), world.directory.path("copy"))
  #expect(world.run("ship", place, "--once").status == .success)
  let followed = CommandRun("follow", place, copy, "--once").output
  #expect(
    followed.contains(#/^generation \d+ of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z: /#), "\(followed)")
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
