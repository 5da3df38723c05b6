import Foundation
import HeartwoodEngine
import TestSupport
import Testing

@testable import HeartwoodCommand

@Test func `put creates a store and gives keys values of any bytes`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("new.store")
  #expect(CommandRun("kv", "put", path, "a key", "å value").output == "put 1 key; generation 1\n")
  #expect(CommandRun("kv", "get", path, "a key").output == "å value\n")
  #expect(CommandRun("kv", "put", path, "00ff", "0a0D", "--hex").output == "put 1 key; generation 2\n")
  #expect(CommandRun("kv", "get", path, "\\x00\\xff").output == "\\x0a\\x0d\n")
  #expect(CommandRun("kv", "put", path, "empty", "").status == .success)
  #expect(CommandRun("kv", "get", path, "empty").output == "\n")
  #expect(CommandRun("kv", "put", path, "--", "-x", "-y").status == .success)
  #expect(CommandRun("kv", "get", path, "--", "-x").output == "-y\n")
}

@Test func `put takes all bytes of standard input`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("new.store")
  #expect(try Program.run("kv", "put", path, "a", "-", input: "line\nand \\x41\n").status == 0)
  #expect(CommandRun("kv", "get", path, "a").output == "line\\x0aand \\\\x41\\x0a\n")
  #expect(try Program.run("kv", "put", path, "b", input: "").status == 0)
  #expect(CommandRun("kv", "get", path, "b").output == "\n")
  #expect(try Program.run("kv", "put", path, "63", "-", "--hex", input: "00 01\nfe\n").status == 0)
  #expect(CommandRun("kv", "get", path, "c").output == "\\x00\\x01\\xfe\n")
  let bytes = try Program.shell("printf '\\377\\000' | \"$heartwood\" kv put '\(path)' raw -")
  #expect(bytes.status == 0)
  #expect(CommandRun("kv", "get", path, "raw").output == "\\xff\\x00\n")
}

@Test func `a word of the shell that is not UTF-8 is refused, not changed`() throws {
  let directory = try TemporaryFolder()
  let run = try Program.shell("\"$heartwood\" kv put '\(directory.path("a.store"))' \"$(printf 'k\\377')\" v")
  #expect(run.status == 64)
  #expect(run.notes.contains("<key> has bytes that are no UTF-8"))
  #expect(run.notes.contains("\\xNN"))
}

@Test func `delete removes the keys that exist, in one transaction`() throws {
  let store = try TownStore()
  let run = store.kv("delete", "sea", "city/rome", "\\x00\\xff")
  #expect(run.status == .success)
  #expect(run.output == "deleted 2 of 3 keys; generation 3\n")
  #expect(store.kv("list", "--keys-only").output == "city/lyon\ncity/nice\ntab\n")
  #expect(store.kv("list", "--keys-only", "--at", "2").output.contains("sea\n"))
  #expect(store.kv("delete", "nothing").output == "deleted 0 of 1 key; generation 3\n")
  #expect(store.kv("delete").status == .usage)
  #expect(CommandRun("kv", "delete", store.directory.path("none"), "x").status == .noInput)
}

@Test func `an error names the invalid argument or option`() throws {
  let store = try TownStore()
  let cases: [([String], String)] = [
    (["put", "a\\q", "v"], "<key>: \\q is no escape; those are \\\\ and \\xNN"),
    (["put", "a", "\\x4"], "<value>: \\x4 is no escape"),
    (["put", "abc", "00", "--hex"], "<key>: 3 hexadecimal digits"),
    (["list", "--from", "\\"], "--from: \\ is no escape"),
    (["list", "--prefix", "0g", "--hex"], "--prefix: no two hexadecimal digits at character 1"),
    (["list", "--prefix", "a", "--to", "b"], "--prefix is a range of its own"),
    (["list", "--limit", "many"], "--limit needs a whole number"),
    (["entry", "first"], "<number> is a whole number, 0 or more, not \"first\""),
    (["get", ""], "<key> is empty"), (["load", "--batch", "0"], "--batch needs a whole number, 1 or more"),
    (["get", "a", "b"], "too much: \"b\""), (["get", "a", "--at", "1", "--generation", "1"], "given twice"),
    (["get", "61", "--hex", "--raw"], "one of them"),
    (["list", "--keysonly"], "did you mean --keys-only?"),
  ]
  for (words, message) in cases {
    let run = CommandRun(["kv", words[0], store.path] + words.dropFirst())
    #expect(run.status == .usage, "\(words)")
    #expect(run.notes.contains(message), "\(words): \(run.notes)")
    #expect(run.output == "")
  }
}

@Test func `a key that is too long is refused with the message of the engine`() throws {
  let store = try TownStore()
  let run = store.kv("put", String(repeating: "k", count: 1025), "v")
  #expect(run.status == .dataError)
  #expect(run.notes == "heartwood: \(store.path): a key of 1025 bytes; keys have 1 to 1024 bytes\n")
  #expect(store.kv("get", String(repeating: "k", count: 1025)).status == .noInput)
}

@Test func `a failed put leaves no new store`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("new.store")
  #expect(CommandRun("kv", "put", path, String(repeating: "k", count: 1025), "v").status == .dataError)
  #expect(!FileManager.default.fileExists(atPath: path))
  let file = try directory.file("file", "text")
  #expect(CommandRun("kv", "put", file, "k", "v").notes.contains("this is a file, and a store is a folder"))
  let other = CommandRun("kv", "put", directory.url.path, "k", "v")
  #expect(other.status == .dataError)
  #expect(other.notes.contains("this folder holds other things and no store"))
  #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["file"])
}

@Test func `a graph is shown, and is changed only by force`() throws {
  let world = try SmallWorld()
  #expect(CommandRun("kv", "count", world.path).output.hasSuffix("\n"))
  let dump = try world.directory.file("dump", "a\tb\n")
  let writers = [["put", world.path, "a", "b"], ["delete", world.path, "a"], ["load", world.path, dump]]
  for words in writers {
    let refused = CommandRun(["kv"] + words)
    #expect(refused.status == .dataError)
    #expect(refused.notes.contains("\(world.path): this store holds a graph"))
    #expect(refused.notes.contains("--force"))
  }
  #expect(CommandRun("kv", "get", world.path, "a").status == .noInput)
  for words in writers { #expect(CommandRun(["kv"] + words + ["--force"]).status == .success) }
  #expect(CommandRun("kv", "get", world.path, "a").output == "b\n")
}

@Test func `a key that a graph would have does not make a graph`() throws {
  let store = try TownStore()
  #expect(store.kv("put", "\\x01", "\\x01 and so on").status == .success)
  #expect(store.kv("put", "b", "b").status == .success)
}

@Test func `reclaim frees space that is no longer needed`() throws {
  let store = try TownStore()
  let run = store.kv("reclaim")
  #expect(run.status == .success)
  #expect(run.output.contains(" on disk before, "))
  #expect(store.kv("count").output == "5\n")
}

@Test func `backup copies a store that holds no graph, and later only new data`() throws {
  let store = try TownStore()
  let backup = store.directory.path("backup")
  #expect(store.kv("backup", backup).output.contains(" copied"))
  #expect(CommandRun("kv", "dump", backup).output == store.kv("dump").output)
  #expect(store.kv("put", "new", "1").status == .success)
  #expect(store.kv("backup", backup).output.contains("were there already"))
  #expect(CommandRun("kv", "dump", backup).output == store.kv("dump").output)
  #expect(store.kv("backup").status == .usage)
}

@Test func `backup copies what the writer of an unclosed store has acknowledged`() throws {
  let store = try TownStore()
  let (copy, backup) = (store.directory.path("copy.store"), store.directory.path("backup"))
  let engine = try Engine(at: store.path)
  for key in ["new", "newer"] { try engine.write { try $0.put(key, [1]) } }
  try FileManager.default.copyItem(atPath: store.path, toPath: copy)
  try engine.close()
  let run = CommandRun("kv", "backup", copy, backup)
  #expect(run.status == .success && run.notes.isEmpty)
  #expect(CommandRun("kv", "count", backup).output == "7\n")
}

@Test(arguments: ["verify", "reclaim", "statistics", "schema", "generations", "history"])
func `a command for graphs reports that a store holds none`(subcommand: String) throws {
  let store = try TownStore()
  let run = CommandRun(subcommand, store.path)
  #expect(run.status == .dataError)
  #expect(
    run.notes
      == "heartwood: \(store.path): this store holds keys and values, and no graph; see heartwood kv --help\n"
  )
}

@Test func `kv and each of its commands have a help text`() {
  let group = CommandRun("kv", "--help")
  #expect(group.status == .success)
  #expect(group == CommandRun("help", "kv"))
  #expect(CommandRun("--help").output.contains("  kv "))
  #expect(CommandRun("kv").status == .usage)
  for subcommand in KeyValueSubcommands.all {
    let words = subcommand.syntax.name.split(separator: " ").map(String.init)
    let run = CommandRun(words + ["--help"])
    #expect(run.status == .success)
    #expect(run == CommandRun(["help"] + words))
    #expect(run == CommandRun(["kv", "help"] + words.dropFirst()))
    #expect(group.output.contains("  \(subcommand.syntax.name) "))
    for option in subcommand.syntax.options { #expect(run.output.contains("--\(option.name)")) }
    for line in (group.output + run.output).split(separator: "\n") { #expect(line.count <= 120, "\(line)") }
  }
  #expect(CommandRun("kv", "gte").notes.contains("did you mean kv get?; see heartwood kv --help"))
}
