import Foundation
import TestSupport
import Testing

/// Unsafe code is contained: a file that uses it is listed here, with its reason. Bytes are lent to a call as an
/// `UnsafeRawBufferPointer`, which has a length that debug builds check: that is not listed.
struct UnsafeCodeTests {
  static let bytes = UnsafeCodeRules(
    root: "Sources/HeartwoodBytes",
    rawMemory: [
      "checks a range once, then reads or writes it": [
        "ByteReader.swift", "ByteWriter.swift", "Compression/LZ4.swift", "Compression/LZ4Compressor.swift",
        "LittleEndian.swift", "Varint.swift",
      ],
      "hashes without copying": [
        "Checksums/XXH3+Long.swift", "Checksums/XXH3+Stream.swift", "Checksums/XXH3.swift",
        "Checksums/XXH64.swift",
      ],
    ],
    uncheckedSendable: ["owns its memory": ["ByteWriter.swift"]])

  static let files = UnsafeCodeRules(
    root: "Sources/HeartwoodFiles",
    rawMemory: [
      "reads into the caller's memory": [
        "File+Fully.swift", "FileSystem.swift", "Memory/MemoryContent.swift", "Memory/MemoryFile.swift",
        "Overlay/OverlayContent.swift", "Overlay/OverlayFileSystem.swift",
      ],
      "system calls": [
        "Posix/PosixFile.swift", "Posix/SystemCalls+Exchanging.swift", "Posix/SystemCalls+Places.swift",
        "Posix/SystemCalls+Watching.swift", "Posix/SystemCalls.swift",
      ],
      "memory of the system": ["Posix/PosixFileWindow.swift", "System/AnonymousMemory.swift"],
      "structures of the C library that must not move": [
        "Threads/ConditionVariable.swift", "Threads/Lock.swift",
      ],
      "passes an object through the C library": [
        "Threads/SystemThread.swift", "Threads/ThreadValue.swift",
      ],
      "names a lock by its address": ["Threads/Scheduling.swift", "Threads/ThreadScheduler.swift"],
    ],
    uncheckedSendable: [
      "a lock guards it": [
        "Memory/MemoryContent.swift", "Memory/MemoryDirectory.swift", "Memory/MemoryFileSystem.swift",
        "Overlay/OverlayContent.swift", "Overlay/OverlayFileSystem.swift", "Threads/Guarded.swift",
        "Threads/DelayedWork.swift",
      ],
      "is a lock": ["Threads/ConditionVariable.swift", "Threads/Lock.swift"],
      "the system synchronizes its calls": [
        "Posix/PosixFile.swift", "Posix/PosixFileWindow.swift", "Posix/VnodeDirectoryWatch.swift",
      ],
      "owns its memory": ["System/AnonymousMemory.swift"],
      "has a value for each thread": ["Threads/ThreadValue.swift"],
    ])

  static let engine = UnsafeCodeRules(
    root: "Sources/HeartwoodEngine",
    rawMemory: [
      "types that the other files use instead": [
        "Memory/ByteArrays.swift", "Memory/Bytes.swift", "Memory/FixedArray.swift", "Memory/PageBytes.swift",
        "Memory/PlainList.swift", "Memory/StableReference.swift", "Memory/UnownedReference.swift",
        "Memory/WritableBytes.swift",
      ],
      "tables that readers share without a lock": ["Tables/NumberTable.swift", "Tables/ReaderSlots.swift"],
      "memory that processes share": [
        "Lease/SharedHeader.swift", "Lease/SharedPage.swift", "Lease/WriterRecord.swift",
      ],
      "reads into the caller's memory": ["Salvage/TolerantFile.swift"],
      "a reference that is not counted, and a buffer for the caller to fill": [
        "Transactions/WriteTransaction.swift"
      ],
    ],
    uncheckedSendable: [
      "a lock guards it": [
        "Folder/AnchorFile.swift", "Lease/ProcessAttachment.swift", "Lease/SharedHeader.swift",
        "Lease/WriterFileLock.swift", "Lease/WriterLease.swift", "Log/LogPreallocator.swift",
        "Log/SegmentNumbers.swift", "Observation/CommitObservation.swift", "Observation/CommitWatch.swift",
        "Tables/ChunkFiller.swift", "Transactions/CommitQueue.swift",
      ],
      "is a lock": ["Lease/WriterLock.swift", "Store/StateLock.swift"],
      "readers use atomics, one thread writes": [
        "Generations/Generations.swift", "Log/LogSegment.swift", "Pages/PageSpace.swift",
        "Tables/NumberTable.swift", "Tables/ReaderSlots.swift", "Tables/SegmentSlot.swift",
        "Tables/SlotTable.swift",
      ],
      "never changes": [
        "Generations/PinnedGeneration.swift", "Memory/KeptBytes.swift",
        "PageSegments/PageSegment.swift", "Reading/ReadView.swift",
      ],
      "processes read and write its words atomically": ["Lease/SharedPage.swift"],
      "one thread uses it": ["Salvage/TolerantFile.swift"],
    ])

  static let faults = UnsafeCodeRules(
    root: "Sources/HeartwoodFaults",
    rawMemory: [
      "reads into the caller's memory": [
        "Injection/FaultInjectingFile.swift", "Recording/RecordingFile.swift",
        "Schedules/ScheduledFileSystem.swift", "Simulated/SimulatedFile.swift",
        "Simulated/SimulatedState+Bytes.swift",
      ],
      "writes the contents of a file in place": ["Simulated/DiskState.swift"],
      "has no memory that could be mapped": ["ReportingWindow.swift"],
      "names a lock by its address": [
        "Schedules/ScheduledThread.swift", "Schedules/Scheduler+Synchronizing.swift",
        "Schedules/Scheduler.swift",
      ],
    ],
    uncheckedSendable: [
      "a lock guards it": [
        "Exploration/Exploration.swift", "Injection/FaultController.swift",
        "Recording/RecordingFileSystem.swift", "Simulated/SimulatedClock.swift",
        "Simulated/SimulatedDisk.swift",
      ],
      "one thread of a run is running": [
        "Schedules/ScheduledThread.swift", "Schedules/ScheduledWorker.swift", "Schedules/Scheduler.swift",
      ],
    ])

  /// The command has none: it uses the graph and the engine as a program does.
  static let command = UnsafeCodeRules(
    root: "Sources/HeartwoodCommand", rawMemory: [:], uncheckedSendable: [:])

  static let browser = UnsafeCodeRules(
    root: "Sources/HeartwoodBrowser",
    rawMemory: ["system calls": ["Sockets/ClientSocket.swift", "Sockets/SocketCalls.swift"]],
    uncheckedSendable: [
      "a lock guards it": [
        "Serving/ClientWatch.swift", "Serving/EventSignal.swift", "Serving/PageServer.swift",
      ]
    ])

  @Test(arguments: [bytes, files, engine, faults, command, browser])
  func `only the listed files use unsafe code`(_ rules: UnsafeCodeRules) throws {
    #expect(try rules.violations(in: Self.package) == [])
  }

  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  @Test func `unsafe code outside the list, and a listed file without it, are reported`() throws {
    let found = try Self.violations([
      "A.swift": "func a(_ bytes: UnsafeRawBufferPointer) { bytes.withUnsafeBytes { _ in } } // Unmanaged",
      "B.swift": "let b = bytes.baseAddress",
      "C.swift": "nonisolated(unsafe) var c = 1",
      "D.swift": "final class D: @unchecked Sendable { @exclusivity(unchecked) var d = 1 }",
      "E.swift": "let e = x._withUnsafeGuaranteedRef { $0 }",
      "F.swift": "@exclusivity(unchecked) var f: Sendable = 1",
    ])
    #expect(
      found == [
        "A.swift is listed and does not use raw memory",
        "B.swift uses raw memory and is not listed", "C.swift uses raw memory and is not listed",
        "D.swift uses an unchecked Sendable type and is not listed",
        "E.swift uses raw memory and is not listed",
      ])
  }

  private static func violations(_ files: [String: String]) throws -> [String] {
    let folder = try TemporaryFolder()
    for (path, text) in files {
      try Data(text.utf8).write(to: folder.url.appending(path: path))
    }
    let rules = UnsafeCodeRules(root: "", rawMemory: ["a test": ["A.swift"]], uncheckedSendable: [:])
    return try withExtendedLifetime(folder) { try rules.violations(in: folder.url.path) }
  }
}
