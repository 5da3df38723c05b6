import Testing

@testable import HeartwoodCommand

@Suite struct `Moments and holds on the command line` {
  private let world: SmallWorld

  init() throws { world = try SmallWorld() }

  private func change(_ population: Int) {
    let run = world.run(
      "update", "Country", "--where", #"code == "FR""#, "--set", "population = \(population)")
    #expect(run.status == .success, "\(run.notes)")
  }

  private func population(_ moment: String) -> String {
    world.run(
      "fetch", "Country", "--where", #"code == "FR""#, "--columns", "population", "--format", "csv",
      "--as-of", moment
    ).output.split(separator: "\n").last.map(String.init) ?? ""
  }

  @Test func `a held generation is read by its name after reclaiming, until it is released`() throws {
    change(7)
    let held = world.run("hold", "before")
    #expect(
      held.output.hasPrefix("holds generation ") && held.output.contains(" as before until "), "\(held.notes)"
    )
    change(8)
    #expect(world.run("reclaim").status == .success)
    #expect(population("before") == "7")
    #expect(world.run("count", "Country", "--at", "before").output == "4\n")
    #expect(world.run("export", "--as-of", "before").output.contains("\"population\": 7"))
    #expect(world.run("diff", "before").output.contains("population  7 → 8"))
    let listed = world.run("generations", "--format", "csv").output
    #expect(listed.contains("before ("), "\(listed)")
    #expect(world.run("hold", "before").status != .success)
    #expect(world.run("release", "before").output == "released before\n")
    #expect(world.run("release", "before").status == .usage)
    #expect(world.run("count", "Country", "--as-of", "before").notes.contains("is held as \"before\""))
    #expect(world.run("verify").status == .success)
  }

  @Test func `a hold has no name that is a number or a date, and may be without an end`() {
    #expect(world.run("hold", "12").status == .usage)
    #expect(world.run("hold", "2024-01-31").status == .usage)
    let run = world.run("hold", "for ever", "--days", "0")
    #expect(run.output.hasSuffix(" as for ever\n"), "\(run.notes)")
    #expect(world.run("hold", "past", "--as-of", "1").status == .success)
    #expect(world.run("hold", "later", "--as-of", "1000").notes.contains("the newest is"))
  }

  @Test func `a date names the state at that time`() throws {
    change(7)
    let history = world.run("history", "--format", "json", "--limit", "1").output
    let date = try #require(history.firstMatch(of: /"date": "([^"]+)"/)).1
    change(8)
    #expect(population(String(date)) == "7")
    #expect(population("9999-01-01") == "8")
    #expect(world.run("count", "Country", "--as-of", "1999-01-01").status == .noInput)
  }

  @Test func `history follows what other processes save`() throws {
    let newest = try #require(world.newestGeneration)
    let run = try Program.shell(
      """
      "$heartwood" history \(world.path) --follow --since \(newest) --format json > \(world.path).out &
      follower=$!
      for n in 1 2 3; do "$heartwood" update \(world.path) Country --where 'code == "FR"' --set "population = $n" > /dev/null; done
      timeout 100 sh -c 'until test $(wc -l < \(world.path).out) -ge 3; do :; done'
      status=$?
      # A process that Foundation starts may have all signals blocked, but for this one.
      kill -KILL $follower
      cat \(world.path).out
      exit $status
      """)
    #expect(run.status == 0, "\(run.notes)")
    let lines = run.output.split(separator: "\n")
    #expect(
      lines.count == 3 && lines.allSatisfy { $0.contains(#""properties": ["population"]"#) }, "\(run.output)")
  }

  @Test func `the newest transactions of a long history are listed`() throws {
    for number in 1...5 { change(number) }
    let all = world.run("history").output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    let two = world.run("history", "--limit", "2").output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    #expect(all.count == 6 && two == all.suffix(2))
    #expect(world.run("history", "--limit", "0", "--format", "json").output == "[]\n")
  }
}
