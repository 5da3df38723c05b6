// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "HeartwoodObservability",
  platforms: [.macOS(.v15)],
  products: [.library(name: "HeartwoodObservability", targets: ["HeartwoodObservability"])],
  dependencies: [
    .package(name: "Heartwood", path: "../.."),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
  ],
  targets: [
    .target(
      name: "HeartwoodObservability",
      dependencies: [
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "HeartwoodEngine", package: "Heartwood"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "HeartwoodObservabilityTests",
      dependencies: [
        "HeartwoodObservability",
        .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
