// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "HeartwoodPostgres",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "HeartwoodPostgres", targets: ["HeartwoodPostgres"]),
    .executable(name: "heartwood-postgres", targets: ["heartwood-postgres"]),
  ],
  dependencies: [.package(name: "Heartwood", path: "../..")],
  targets: [
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
      name: "HeartwoodPostgres",
      dependencies: ["CLibPQ", .product(name: "Heartwood", package: "Heartwood")]),
    // Copies stores to PostgreSQL and back.
    .executableTarget(
      name: "heartwood-postgres",
      dependencies: ["HeartwoodPostgres", .product(name: "Heartwood", package: "Heartwood")],
      path: "Sources/Command"),
    // The store beside hand-written libpq for the same work.
    .executableTarget(
      name: "postgres-benchmark",
      dependencies: ["CLibPQ", "HeartwoodPostgres", .product(name: "Heartwood", package: "Heartwood")],
      path: "Sources/Benchmark"),
    // A process of `cluster-test`.
    .executableTarget(
      name: "postgres-cluster-worker",
      dependencies: ["HeartwoodPostgres", .product(name: "Heartwood", package: "Heartwood")],
      path: "Sources/ClusterWorker"),
    .testTarget(
      name: "HeartwoodPostgresTests",
      dependencies: [
        "CLibPQ", "HeartwoodPostgres", .product(name: "Heartwood", package: "Heartwood"),
        .product(name: "HeartwoodFaults", package: "Heartwood"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
