import Foundation
import HeartwoodEngine
import Testing

@testable import HeartwoodCommand

@Test func `a value is written as text, as digits or as it is`() throws {
  let store = try TownStore()
  #expect(store.kv("get", "city/lyon").output == "522250\n")
  #expect(store.kv("get", "city/lyon", "--at", "1").output == "520774\n")
  #expect(store.kv("get", "city/lyon", "--generation", "1").output == "520774\n")
  #expect(store.kv("get", "tab").output == "a\\x09b\n")
  #expect(store.kv("get", "tab", "--raw").output == "a\tb")
  #expect(store.kv("get", "tab", "--hex").status == .usage)
  #expect(store.kv("get", "746162", "--hex").output == "610962\n")
  #expect(store.kv("get", "\\x00\\xff").output == "å\\\\\n")
  #expect(store.kv("get", "sea").output == "\n")
}

@Test func `a missing key is reported, with exit status 66`() throws {
  let store = try TownStore()
  let missing = store.kv("get", "city/rome")
  #expect(missing.status == .noInput)
  #expect(missing.notes == "heartwood: \(store.path): there is no key city/rome\n")
  #expect(store.kv("get", "sea", "--at", "9").status == .noInput)
  #expect(store.kv("get", "sea", "--at", "9").notes.contains("generation 9 is newer than the newest"))
  let behind = store.kv("entry", "5")
  #expect(behind.status == .noInput)
  #expect(behind.notes == "heartwood: \(store.path): there is no entry 5: there are 5 keys\n")
}

@Test func `keys are listed in order, forwards and backwards, in parts`() throws {
  let store = try TownStore()
  let all = "\\x00\\xff\tå\\\\\ncity/lyon\t522250\ncity/nice\t348085\nsea\t\ntab\ta\\x09b\n"
  #expect(store.kv("list").output == all)
  #expect(
    store.kv("list", "--reverse", "--keys-only").output == "tab\nsea\ncity/nice\ncity/lyon\n\\x00\\xff\n")
  #expect(store.kv("list", "--prefix", "city/", "--keys-only").output == "city/lyon\ncity/nice\n")
  #expect(store.kv("list", "--from", "city/nice", "--to", "tab", "--keys-only").output == "city/nice\nsea\n")
  #expect(store.kv("list", "--limit", "1", "--reverse", "--keys-only").output == "tab\n")
  #expect(store.kv("list", "--limit", "0").output == "")
  #expect(store.kv("list", "--at", "1", "--keys-only").output == "city/lyon\ncity/nice\nsea\ntab\n")
  #expect(store.kv("list", "--from", "t", "--hex").status == .usage)
  #expect(store.kv("list", "--from", "74", "--hex").output == "746162\t610962\n")
}

@Test func `long values are cut only in output for a person`() throws {
  let store = try TownStore()
  #expect(store.kv("put", "long", String(repeating: "ab", count: 1000)).status == .success)
  #expect(store.kv("list", "--prefix", "long").output.count == 2006)
  let console = RecordingConsole()
  console.terminalWidth = 120
  #expect(Command.run(["kv", "list", store.path, "--prefix", "long"], console: console) == .success)
  #expect(console.output == "long\t\(String(repeating: "ab", count: 29))a…\n")
}

@Test func `counts, ranks and entries at ranks are printed`() throws {
  let store = try TownStore()
  #expect(store.kv("count").output == "5\n")
  #expect(store.kv("count", "--at", "1").output == "4\n")
  #expect(store.kv("count", "--at", "0").output == "0\n")
  #expect(store.kv("count", "--prefix", "city/").output == "2\n")
  #expect(store.kv("count", "--from", "city/nice", "--to", "sea").output == "1\n")
  #expect(store.kv("rank", "city/nice").output == "2\n")
  #expect(store.kv("rank", "zzz").output == "5\n")
  #expect(store.kv("entry", "1").output == "city/lyon\t522250\n")
  #expect(store.kv("entry", "0", "--hex").output == "00ff\tc3a55c\n")
}

@Test func `generations and statistics are printed without a graph`() throws {
  let store = try TownStore()
  let rows = store.kv("generations", "--format", "csv").output.split(separator: "\n")
  #expect(rows.first == "generation,date,puts,deletes,bytes,internal")
  #expect(rows.count == 3)
  #expect(rows.last?.hasPrefix("2,20") == true)
  #expect(rows.last?.hasSuffix(",false") == true)
  #expect(store.kv("generations").output.hasSuffix("(2 generations)\n"))
  let text = store.kv("statistics").output.split(separator: "\n")
  #expect(text.contains { $0.hasPrefix("keys ") && $0.contains(" 5, 0 branch levels") })
  #expect(store.kv("statistics", "--format", "json").output.contains("\"keys\": 5"))
}

private let readers = [
  ["get", "sea"], ["list"], ["count"], ["rank", "sea"], ["entry", "0"], ["generations"], ["statistics"],
  ["verify"],
  ["dump"],
]

@Test(arguments: readers)
func `a kv command that reads neither changes nor creates files`(words: [String]) throws {
  let store = try TownStore()
  let before = try files(store.path)
  #expect(CommandRun(["kv", words[0], store.path] + words.dropFirst()).status == .success)
  #expect(try files(store.path) == before)
  let nowhere = store.directory.path("none.store")
  let run = CommandRun(["kv", words[0], nowhere] + words.dropFirst())
  #expect(run.status == .noInput)
  #expect(run.notes == "heartwood: \(nowhere): there is no store here; heartwood kv put makes one\n")
  #expect(!FileManager.default.fileExists(atPath: nowhere))
}

private func files(_ path: String) throws -> [String: Data] {
  let folder = URL(fileURLWithPath: path)
  let names = try FileManager.default.contentsOfDirectory(atPath: path)
  return try Dictionary(
    uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
}

@Test func `an unclosed store is shown as far as it is proven, and is left unchanged`() throws {
  let store = try TownStore()
  let copy = store.directory.path("copy.store")
  let engine = try Engine(at: store.path)
  try engine.write { try $0.put("new", [1]) }
  try engine.write { try $0.put("newer", [2]) }
  try FileManager.default.copyItem(atPath: store.path, toPath: copy)
  try engine.close()
  let before = try files(copy)
  let run = CommandRun("kv", "count", copy)
  #expect(run.status == .success)
  // The second commit proves the first one. Of the last the copy has all bytes, which are checked.
  #expect(run.output == "7\n" && run.notes.isEmpty)
  #expect(try files(copy) == before)
  #expect(CommandRun("kv", "put", copy, "newest", "3").status == .success)
  #expect(CommandRun("kv", "count", copy).output == "8\n")
}

@Test func `a sound store verifies, and a damaged one does not`() throws {
  let store = try TownStore()
  let value = String(repeating: "to be damaged ", count: 4)
  #expect(store.kv("put", "long", value).status == .success)
  #expect(store.kv("verify").output == "\(store.path) is sound: 6 keys, generation 3\n")
  for name in try FileManager.default.contentsOfDirectory(atPath: store.path) where name.hasSuffix(".log") {
    let file = URL(fileURLWithPath: store.path).appending(path: name)
    var data = try Data(contentsOf: file)
    guard let place = data.range(of: Data("to be damaged".utf8)) else { continue }
    data[place.lowerBound] ^= 1
    try data.write(to: file)
  }
  let run = store.kv("verify")
  #expect(run.status == .verificationFailed)
  #expect(!run.output.isEmpty)
  #expect(store.kv("get", "long").status == .dataError)
  #expect(store.kv("get", "long").notes.contains("is damaged"))
  #expect(store.kv("get", "sea").status == .success)
}
