// swift-tools-version: 6.2

import PackageDescription

// A server with a REST interface over a store.
let package = Package(
  name: "Tickets",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "heartwood", path: "../../.."),
    .package(name: "HeartwoodObservability", path: "../../../Sources/HeartwoodObservability"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "TicketServer",
      dependencies: [
        .product(name: "Heartwood", package: "heartwood"),
        .product(name: "HeartwoodObservability", package: "HeartwoodObservability"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ]),
    .testTarget(
      name: "TicketServerTests",
      dependencies: ["TicketServer", .product(name: "HummingbirdTesting", package: "hummingbird")]),
  ],
  swiftLanguageModes: [.v6]
)
