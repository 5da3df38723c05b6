// swift-tools-version: 6.2

import PackageDescription

// An application's core as one has it for Apple's systems, with its tests. Only this manifest knows of other systems: its targets get the
// module CoreData and a plugin, and the compiler the overlay that the plugin writes.
func overlay(_ target: String) -> [SwiftSetting] {
  let folder = Context.packageDirectory + "/.build/plugins/outputs/portedapp/\(target)/destination/CoreDataSources"
  return [.unsafeFlags(["-vfsoverlay", folder + "/overlay.yaml"], .when(platforms: [.linux]))]
}

let package = Package(
  name: "PortedApp",
  platforms: [.macOS(.v15)],
  products: [.library(name: "TripKit", targets: ["TripKit"])],
  dependencies: [.package(name: "heartwood", path: "../..")],
  targets: [
    .target(
      name: "TripKit", dependencies: [.product(name: "CoreData", package: "heartwood")],
      swiftSettings: overlay("TripKit"), plugins: [.plugin(name: "CoreDataSources", package: "heartwood")]),
    .testTarget(
      name: "TripKitTests", dependencies: ["TripKit"], swiftSettings: overlay("TripKitTests"),
      plugins: [.plugin(name: "CoreDataSources", package: "heartwood")]),
  ],
  swiftLanguageModes: [.v5]
)
