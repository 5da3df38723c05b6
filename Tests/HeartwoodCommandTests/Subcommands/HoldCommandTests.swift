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

  @Test func `a date that JSON shows names one of several states of a millisecond, and restores it`() throws {
    let (store, file) = (world.directory.path("many"), world.directory.path("many.json"))
    let place = world.directory.path("place")
    for numbers in [0..<1, 1..<62] {
      let objects = numbers.map { #"{"@entity": "Item", "number": \#($0)}"# }
      try "[\(objects.joined(separator: ", "))]".write(toFile: file, atomically: true, encoding: .utf8)
      let imported = CommandRun("import", store, file, "--batch", "1")
      #expect(imported.status == .success, "\(imported)")
      #expect(CommandRun("ship", store, place, "--once").status == .success)
    }
    let listed = CommandRun("generations", store, "--format", "json").output
    let generations = listed.matches(of: /"generation": (\d+)[^}]*?"date": "([^"]+)"/).map(\.output)
    #expect(generations.count > 60, "\(listed)")
    var counts: Set<String> = []
    for (_, number, date) in generations {
      let count = CommandRun("count", store, "Item", "--as-of", String(number)).output
      #expect(
        CommandRun("count", store, "Item", "--as-of", String(date)).output == count, "\(number) of \(date)")
      counts.insert(count)
    }
    #expect(counts.count > 60)
    let history = CommandRun("history", store, "--format", "json", "--limit", "1000", "--changes", "1").output
    let dates = history.matches(of: /"date": "([^"]+)"/).map { String($0.output.1) }
    #expect(dates.count >= 60, "\(history)")
    for (index, date) in dates.enumerated() where index % 10 == 5 {
      let restored = world.directory.path("restored \(index)")
      #expect(CommandRun("restore", place, restored, "--as-of", date).status == .success)
      let count = CommandRun("count", store, "Item", "--as-of", date).output
      #expect(CommandRun("count", restored, "Item").output == count, "\(date)")
    }
  }

  @Test func `statistics, the schema and a verification are of a past generation, too`() throws {
    #expect(world.run("hold", "before").status == .success)
    let date = try #require(
      world.run("history", "--format", "json", "--limit", "1").output.firstMatch(of: /"date": "([^"]+)"/)
    ).1
    let number = try #require(world.newestGeneration)
    let schema = world.run("schema").output
    #expect(world.run("delete", "Country", "--where", #"code == "PT""#).status == .success)
    #expect(world.run("reclaim").status == .success)
    for moment in ["before", number, String(date)] {
      let statistics = world.run("statistics", "--as-of", moment)
      #expect(statistics.output.firstMatch(of: #/generation +(\d+)\n/#)?.1 == number[...], "\(statistics)")
      #expect(statistics.output.contains("  Country  "), "\(statistics)")
      #expect(statistics.output.firstMatch(of: #/  Country +(\d+)/#)?.1 == "4")
      #expect(!statistics.output.contains("on disk"))
      let figures = world.run("statistics", "--as-of", moment, "--format", "json").output
      #expect(
        figures.contains("\"Country\": 4") && figures.contains("\"generation\": \(number)"), "\(figures)")
      #expect(world.run("schema", "--as-of", moment).output == schema)
      let verified = world.run("verify", "--as-of", moment)
      #expect(
        verified.output == "\(world.path) is sound as of generation \(number): 9 objects\n", "\(verified)")
    }
    #expect(world.run("statistics").output.firstMatch(of: #/  Country +(\d+)/#)?.1 == "3")
    for subcommand in ["statistics", "schema", "verify"] {
      #expect(world.run(subcommand, "--as-of", "1000").notes.contains("the newest is"))
      #expect(world.run(subcommand, "--as-of", "1999-01-01").status == .noInput)
      #expect(world.run(subcommand, "--as-of", "none").notes.contains("is held as \"none\""))
    }
    #expect(world.run("statistics", "--watch", "--as-of", "1").status == .usage)
  }

  @Test func `a generation from before a migration has its model, and its objects cannot be read`() throws {
    #expect(world.run("hold", "before").status == .success)
    let file = try world.directory.file(
      "model.json",
      SmallWorld.model.replacing(
        #""code": {"#, with: #""area": {"type": "double", "optional": true}, "code": {"#))
    let migrated = world.run("migrate", file)
    #expect(migrated.status == .success, "\(migrated)")
    #expect(world.run("schema", "Country").output.contains("area"))
    let former = world.run("schema", "Country", "--as-of", "before")
    #expect(former.output.hasPrefix("Country\n") && !former.output.contains("area"), "\(former)")
    for subcommand in ["statistics", "verify"] {
      let run = world.run(subcommand, "--as-of", "before")
      #expect(run.status == .dataError)
      #expect(run.notes.contains("was written before the store was migrated"), "\(run)")
    }
  }

  @Test func `damage of a past generation is a finding of its verification`() throws {
    #expect(world.run("hold", "before").status == .success)
    try world.flipByteOfLargestFile()
    let run = world.run("verify", "--as-of", "before")
    #expect(run.status == .verificationFailed, "\(run)")
    #expect(run.notes.contains("1 finding"), "\(run)")
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

  @Test(arguments: ["rm -rf STORE", "mv STORE STORE.old", "mv STORE STORE.old && cp -R STORE.old STORE"])
  func `history that is followed ends with a reason when the store is gone`(command: String) throws {
    let run = try Program.shell(
      """
      "$heartwood" history \(world.path) --follow --format json > \(world.path).out 2> \(world.path).err &
      follower=$!
      timeout 100 sh -c 'until test $(wc -l < \(world.path).out) -ge 1; do :; done'
      \(command.replacing("STORE", with: world.path))
      wait $follower
      echo $?
      cat \(world.path).err
      """)
    #expect(run.output.hasPrefix("69\n") && run.output.contains("was moved, replaced or deleted"), "\(run)")
  }

  @Test func `history that is followed ends with a reason when some was deleted before it was read`() throws {
    let run = try Program.shell(
      """
      "$heartwood" history \(world.path) --follow --format json > \(world.path).out 2> \(world.path).err &
      follower=$!
      timeout 100 sh -c 'until test $(wc -l < \(world.path).out) -ge 1; do :; done'
      kill -STOP $follower
      for n in 1 2 3; do "$heartwood" update \(world.path) Country --where 'code == "FR"' --set "population = $n" > /dev/null; done
      newest=$("$heartwood" history \(world.path) --limit 1 --format json | grep '"number"' | tr -dc 0-9)
      "$heartwood" history \(world.path) --purge $newest > /dev/null
      kill -CONT $follower
      wait $follower
      echo $?
      cat \(world.path).err
      """)
    #expect(!run.output.hasPrefix("0\n") && run.output.contains("history"), "\(run)")
  }

  @Test func `the newest transactions of a long history are listed`() throws {
    for number in 1...5 { change(number) }
    let all = world.run("history").output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    let two = world.run("history", "--limit", "2").output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
    #expect(all.count == 6 && two == all.suffix(2))
    #expect(world.run("history", "--limit", "0", "--format", "json").output == "[]\n")
  }
}
