// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "HeartwoodEncryption",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "HeartwoodEncryption", targets: ["HeartwoodEncryption"]),
    .executable(name: "heartwood-encrypted", targets: ["heartwood-encrypted"]),
  ],
  dependencies: [
    .package(name: "Heartwood", path: "../.."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  ],
  targets: [
    .target(
      name: "HeartwoodEncryption",
      dependencies: [
        .product(name: "HeartwoodFiles", package: "Heartwood"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ]),
    // Encrypts, decrypts and verifies stores, and changes their keys.
    .executableTarget(
      name: "heartwood-encrypted",
      dependencies: ["HeartwoodEncryption", .product(name: "HeartwoodEngine", package: "Heartwood")],
      path: "Sources/Command"),
    // The encrypted store beside the plain one, mapped and buffered.
    .executableTarget(
      name: "encryption-benchmark",
      dependencies: [
        "HeartwoodEncryption", .product(name: "HeartwoodEngine", package: "Heartwood"),
        .product(name: "HeartwoodFaults", package: "Heartwood"),
      ],
      path: "Sources/Benchmark"),
    .testTarget(
      name: "HeartwoodEncryptionTests",
      dependencies: [
        "HeartwoodEncryption", .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "HeartwoodEngine", package: "Heartwood"),
        .product(name: "HeartwoodFaults", package: "Heartwood"),
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
