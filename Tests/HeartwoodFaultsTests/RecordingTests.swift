import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct RecordingTests {
  @Test func `a replacement is recorded as a fixed sequence of operations`() throws {
    let recording = RecordingFileSystem(base: MemoryFileSystem())
    let directory = try recording.openDirectory("/")
    let entropy = SeededEntropy(seed: 1)
    try ([1, 2, 3] as [UInt8]).withUnsafeBytes {
      try AtomicReplacement.replace("notes", in: directory, with: $0, entropy: entropy)
    }
    _ = try directory.open("notes", .readOnly)
    #expect(
      recording.text == """
        open /notes.910a2dec89025cc1.temporary createNew
        write /notes.910a2dec89025cc1.temporary 0..<3
        sync /notes.910a2dec89025cc1.temporary full
        rename /notes.910a2dec89025cc1.temporary to notes
        syncDirectory /
        """)
    recording.clear()
    #expect(recording.lines.isEmpty)
  }

  @Test func `errors are recorded after failed operations, and reads are recorded on request`() throws {
    let plan: FaultPlan = [.fail(.sync), .sync(.failsKeepingData, .nth(2)), .syncDirectory(.lies)]
    let recording = RecordingFileSystem(
      base: SimulatedFileSystem(), operations: RecordingFileSystem.everything)
    let inner = FaultInjectingFileSystem(base: recording, plan: plan)
    let outer = RecordingFileSystem(base: inner, operations: [.sync, .unlink])
    try outer.createDirectory("/folder")
    let directory = try outer.openDirectory("/folder")
    let file = try directory.open("a", .createNew)
    try file.write([1, 2], at: 3)
    #expect(try file.bytes(10) == [0, 0, 0, 1, 2])
    for _ in 0..<2 { #expect(failure { try file.sync(.data) } != nil) }
    #expect(try file.size() == 5)
    try file.truncate(to: 4)
    #expect(try file.tryLock(.exclusive))
    _ = try file.map(length: 4)
    try file.close()
    _ = try directory.open("a", .readOnly)
    try directory.sync()
    try directory.rename("a", to: "b")
    #expect(failure { try directory.unlink("a") }?.code == .notFound)
    #expect(try directory.entries() == ["b"])
    #expect(
      recording.text == """
        createDirectory /folder
        openDirectory /folder
        open /folder/a createNew
        write /folder/a 3..<5
        read /folder/a 0..<10
        read /folder/a 5..<10
        sync /folder/a data: input/output error
        size /folder/a
        truncate /folder/a to 4
        lock /folder/a exclusive
        map /folder/a 4
        close /folder/a
        open /folder/a readOnly
        syncDirectory /folder
        rename /folder/a to b
        unlink /folder/a: no such file or directory
        entries /folder
        """)
    #expect(
      outer.text == """
        sync /folder/a data: input/output error
        sync /folder/a data: input/output error
        unlink /folder/a: no such file or directory
        """)
    #expect(inner.firingCounts == [1, 1, 1])
  }
}
