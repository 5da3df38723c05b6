import Foundation
import TestSupport
import Testing

/// The files with unsafe code of the packages apart, which the root does not build.
struct PackageUnsafeCodeTests {
  static let postgres = UnsafeCodeRules(
    root: "Sources/HeartwoodPostgres/Sources/HeartwoodPostgres",
    rawMemory: [
      "arguments and results of libpq": [
        "Connections/PostgresConnection.swift", "Connections/PostgresConnection+Copying.swift",
      ],
      "a table of the process, which a lock guards": ["Schema/PostgresStore+Migrating.swift"],
    ],
    uncheckedSendable: [
      "a subclass of a store, which is": ["PostgresStore.swift"],
      "one thread at a time uses it": [
        "Connections/PostgresConnection.swift", "History/HistoryRecording.swift",
      ],
      "never changes": ["Schema/PostgresTable.swift"],
      "a lock guards it": [
        "Connections/PostgresPool.swift", "Connections/PostgresReplicas.swift",
        "History/PostgresListener.swift", "Requests/ManagedObjectContext+Replicas.swift",
      ],
    ])

  static let encryption = UnsafeCodeRules(
    root: "Sources/HeartwoodEncryption/Sources/HeartwoodEncryption",
    rawMemory: [
      "reads into the caller's memory": [
        "Files/BlockReader.swift", "Files/EncryptedFile.swift", "Files/File+Bytes.swift",
        "Files/PlainCountersFile.swift",
      ],
      "seals and opens in place": [
        "Cipher/BlockCipher.swift", "Cipher/FileCipher.swift", "Files/EncryptedFile+Writing.swift",
      ],
      "numbers of a header": ["Layout/BlockHeader.swift", "Layout/Fields.swift"],
    ],
    uncheckedSendable: [
      "a lock guards it": [
        "Cipher/FileCipher.swift", "Files/EncryptedDirectory.swift", "Files/EncryptedFile.swift",
        "Keys/Keyring.swift",
      ]
    ])

  static let observability = UnsafeCodeRules(
    root: "Sources/HeartwoodObservability/Sources/HeartwoodObservability", rawMemory: [:],
    uncheckedSendable: [:])

  @Test(arguments: [postgres, encryption, observability])
  func `only the listed files of the packages apart use unsafe code`(rules: UnsafeCodeRules) throws {
    #expect(try rules.violations(in: PackageFolder.url.path) == [])
  }
}
