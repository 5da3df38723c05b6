import Foundation
import HeartwoodEngine
import TestSupport
import Testing

@testable import HeartwoodCommand

@Test func `a dump holds all entries, and a load of it restores them`() throws {
  let store = try TownStore()
  let dump = store.kv("dump")
  #expect(
    dump.output == """
      # heartwood dump 1 text
      \\x00\\xff\tå\\\\
      city/lyon\t522250
      city/nice\t348085
      sea\t
      tab\ta\\x09b
      # end 5

      """)
  let copy = store.directory.path("copy.store")
  let run = CommandRun("kv", "load", copy, try store.directory.file("dump", dump.output), "--batch", "2")
  #expect(run.status == .success)
  #expect(run.output == "loaded 5 keys in 3 transactions; generation 3\n")
  #expect(try store.contents(of: copy) == store.contents())
  #expect(store.kv("dump", "--prefix", "city/", "--at", "1").output.hasSuffix("348085\n# end 2\n"))
}

@Test(arguments: [[], ["--hex"]])
func `any bytes go through a dump unchanged`(options: [String]) throws {
  let directory = try TemporaryFolder()
  let (first, second) = (directory.path("first.store"), directory.path("second.store"))
  var random = SystemRandomNumberGenerator()
  let engine = try Engine(at: first)
  try engine.write { transaction in
    for byte in UInt8.min...UInt8.max { try transaction.put([byte], [byte, 0xC3, byte]) }
    for text in ["#a", "## b", "\u{202E}x", "\u{301}", "e\u{301}", "👩‍👩‍👧", "\u{FFFD}", "日本", " ", "\\x41"] {
      try transaction.put(text, Array(text.utf8) + [0xF0, 0x9F])
    }
    for count in 0..<300 {
      let bytes = (0...count % 40).map { _ in UInt8.random(in: 0...255, using: &random) }
      try transaction.put(bytes, bytes.reversed())
    }
  }
  try engine.close()
  let dump = CommandRun(["kv", "dump", first] + options).output
  #expect(dump.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0A || $0 == 0x09 })
  let file = try directory.file("dump", dump)
  #expect(CommandRun("kv", "load", second, file).status == .success)
  #expect(CommandRun(["kv", "dump", second] + options).output == dump)
  let store = try TownStore()
  #expect(try store.contents(of: second) == store.contents(of: first))
}

@Test func `a dump is written and loaded through pipes`() throws {
  let store = try TownStore()
  let copy = store.directory.path("copy.store")
  let run = try Program.shell(
    "\"$heartwood\" kv dump '\(store.path)' | \"$heartwood\" kv load '\(copy)'")
  #expect(run.status == 0)
  #expect(run.output == "loaded 5 keys in 1 transaction; generation 1\n")
  #expect(try store.contents(of: copy) == store.contents())
}

@Test func `lines without the header of a dump are loaded`() throws {
  let store = try TownStore()
  let file = try store.directory.file("lines", "# mine\nsea\tsalt\n\\x23a\tb\nlast\tline")
  #expect(store.kv("load", file).output == "loaded 3 keys in 1 transaction; generation 3\n")
  #expect(store.kv("get", "sea").output == "salt\n")
  #expect(store.kv("get", "#a").output == "b\n")
  #expect(store.kv("get", "last").output == "line\n")
  let digits = try store.directory.file("digits", "6162\t00\n")
  #expect(store.kv("load", digits, "--hex").status == .success)
  #expect(store.kv("get", "ab").output == "\\x00\n")
}

@Test func `an empty dump makes an empty store`() throws {
  let store = try TownStore()
  let path = store.directory.path("empty.store")
  let file = try store.directory.file("dump", store.kv("dump", "--prefix", "none").output)
  #expect(CommandRun("kv", "load", path, file).output == "loaded 0 keys in 0 transactions; generation 0\n")
  #expect(CommandRun("kv", "count", path).output == "0\n")
}

@Test func `an error names the wrong line, and what was loaded before it`() throws {
  let store = try TownStore()
  let head = "# heartwood dump 1 text\n"
  let cases: [(String, String)] = [
    ("a\tb\nc\n", "line 2: a line is a key, a tab and a value; this one has 0 tabs"),
    ("a\tb\tc\n", "line 1: a line is a key, a tab and a value; this one has 2 tabs"),
    ("\tb\n", "line 1: the key is empty"), ("a\t\\x4\n", "line 1: \\x4 is no escape"),
    ("a\tb\r\nc\td\r\n", "line 1: a control character stands where text should; write it as \\x0d"),
    (head + "a\tb\n", "the dump was cut off: its last line, \"# end ...\", is missing"),
    (head + "a\tb\n# end 2\n", "line 3: 2 entries should stand before this, and 1 do"),
    (head + "a\tb\n# end 1\nc\td\n", "line 4: something stands behind the end of the dump"),
    ("a\tb\n" + head, "line 2: the head of a dump stands in the middle of one"),
    ("# heartwood dump 2 text\n", "line 1: this version does not know dumps of this kind"),
    ("# heartwood dump 1 hex\n6162\t0\n# end 1\n", "line 2: 1 hexadecimal digits"),
  ]
  for (text, message) in cases {
    let file = try store.directory.file("wrong", text)
    let path = store.directory.path("wrong.store")
    let run = CommandRun("kv", "load", path, file)
    #expect(run.status == .dataError, "\(text)")
    #expect(run.notes.hasPrefix("heartwood: \(file): \(message)"), "\(run.notes)")
    #expect(!FileManager.default.fileExists(atPath: path))
  }
  let file = try store.directory.file("wrong", "a\tb\nb\tb\nc\tb\nd\n")
  let run = store.kv("load", file, "--batch", "2")
  #expect(run.notes.hasSuffix("this one has 0 tabs; 2 keys from before it are loaded\n"))
  #expect(store.kv("count").output == "7\n")
  #expect(store.kv("load", store.directory.path("none")).status == .noInput)
}

@Test func `lines longer than the read buffer are read whole`() throws {
  let directory = try TemporaryFolder()
  let (path, value) = (directory.path("a.store"), String(repeating: "0123456789", count: 20_000))
  let file = try directory.file("dump", "a\t\(value)\nb\t\(value)x\nc\t")
  #expect(CommandRun("kv", "load", path, file).output == "loaded 3 keys in 1 transaction; generation 1\n")
  #expect(CommandRun("kv", "get", path, "a").output == value + "\n")
  #expect(CommandRun("kv", "get", path, "b").output == value + "x\n")
  #expect(CommandRun("kv", "get", path, "c").output == "\n")
}
